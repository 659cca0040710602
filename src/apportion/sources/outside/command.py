"""Commands of what is outside, run here or on another machine by ssh: bounded in time and size, and told in sentences where they fail.

A command is a list of words and never passes through a shell of ours; ssh hands the other side one line, so there each word is quoted. The user's own ssh
settings, keys and known hosts hold; nothing is asked on the terminal.
"""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from apportion.errors import InputError
from apportion.sources.settings import Stanza

COMMAND_SETTINGS = ("ssh", "ssh_config", "timeout_s")
LARGEST = 2**33
TIMEOUT_S = 600
CONNECT_S = 20
LOOK_S = 0.1
HOST = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9_\[][A-Za-z0-9_.:\]-]*")
NOT_FOUND, SSH_FAILED = 127, 255
REFUSED = ("permission denied", "too many authentication failures", "host key verification failed")


@dataclass(frozen=True, slots=True)
class Shell:
    """Where commands run. `ssh` is empty for here, else `user@host` or a host of the user's ssh settings."""

    where: str
    ssh: str = ""
    ssh_config: str = ""
    timeout_s: int = TIMEOUT_S
    largest: int = LARGEST

    @classmethod
    def of(cls, found: Stanza) -> "Shell":
        """By the settings `ssh`, `ssh_config` and `timeout_s`."""
        host = found.text("ssh", "")
        if host and not HOST.fullmatch(host):
            raise found.refuse("ssh", "user@host", host)
        timeout = found.number("timeout_s", TIMEOUT_S, 1, 86_400)
        return cls(found.where, host, found.text("ssh_config", ""), timeout)

    @property
    def place(self) -> str:
        return self.ssh or "this machine"

    def line(self, words: Sequence[str]) -> list[str]:
        if not self.ssh:
            return list(words)
        config = ["-F", self.ssh_config] if self.ssh_config else []
        options = ["-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}", "-o", "LogLevel=ERROR"]
        return ["ssh", *config, *options, "--", self.ssh, shlex.join(words)]

    def run(self, words: Sequence[str]) -> bytes:
        """What it printed. Codes of failures: `no-command`, `command-failed`, `too-slow`, `too-large`, `unreachable`, `login-refused`."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            status = self.ended(words, out, err)
            err.seek(0)
            said = " ".join(err.read(4096).decode("utf-8", "replace").split())[:300]
            if status:
                raise self.failure(words, status, said)
            out.seek(0)
            return out.read()

    def ended(self, words: Sequence[str], out: IO[bytes], err: IO[bytes]) -> int:
        """The exit status. What runs too long or prints too much is stopped, with all that it started."""
        try:
            process = subprocess.Popen(  # noqa: S603 - words of our own; the host's name was checked
                self.line(words),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return self.missing()
        try:
            return self.watched(process, words, out)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise

    def missing(self) -> int:
        if not self.ssh:
            return NOT_FOUND
        raise InputError(
            "no-command", "ssh is not installed here", where=self.where, hint="install the OpenSSH client"
        ) from None

    def watched(self, process: "subprocess.Popen[bytes]", words: Sequence[str], out: IO[bytes]) -> int:
        for _ in range(int(self.timeout_s / LOOK_S) + 1):
            with suppress(subprocess.TimeoutExpired):
                return process.wait(LOOK_S)
            if os.fstat(out.fileno()).st_size > self.largest:
                raise InputError(
                    "too-large", f"{words[0]} on {self.place} printed over {self.largest:,} bytes", where=self.where
                )
        raise InputError(
            "too-slow",
            f"{named(words)} on {self.place} did not end within {self.timeout_s} s",
            where=self.where,
            hint="raise timeout_s of the source",
        )

    def failure(self, words: Sequence[str], status: int, said: str) -> InputError:
        if self.ssh and status == SSH_FAILED:
            if any(word in said.casefold() for word in REFUSED):
                return self.told("login-refused", f"{self.ssh} refused the login: {said}", f"try: ssh {self.ssh} true")
            return self.told("unreachable", f"{self.ssh} cannot be reached: {said}", f"try: ssh {self.ssh} true")
        if status == NOT_FOUND:
            return self.told(
                "no-command",
                f"there is no command {named(words)} on {self.place}",
                'install it, add it to PATH, or name the machine that has it: ssh = "user@host"',
            )
        return self.told("command-failed", f"{named(words)} on {self.place} ended with {status}: {said}", "")

    def told(self, code: str, message: str, hint: str) -> InputError:
        return InputError(code, message, where=self.where, hint=hint)


def named(words: Sequence[str]) -> str:
    """The command itself, without `env NAME=VALUE` before it."""
    return next((word for word in words if word != "env" and "=" not in word), words[0])
