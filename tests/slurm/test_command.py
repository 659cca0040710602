"""Commands here, and over ssh to a real sshd on loopback."""

import getpass
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, InputError, ProjectError
from apportion.sources.outside.command import COMMAND_SETTINGS, Shell
from apportion.sources.settings import stanza
from apportion.sources.slurm import probe
from tests import processes
from tests.loopback import answers, free_port

HERE = Shell("source 'slurm'")


def test_what_a_command_prints() -> None:
    assert HERE.run(["printf", "%s|", "a b", "$HOME", "x\x1fy", "z\n"]) == b"a b|$HOME|x\x1fy|z\n|"


@pytest.mark.parametrize(
    ("words", "settings", "code"),
    [
        (["no-such-command-here"], {}, "no-command"),
        (["env", "TZ=UTC", "no-such-command-here"], {}, "no-command"),
        (["sh", "-c", "echo why it failed >&2; exit 3"], {}, "command-failed"),
        (["sleep", "30"], {"timeout_s": 1}, "too-slow"),
        (["yes"], {"largest": 10_000}, "too-large"),
    ],
)
def test_what_fails_is_told_and_stopped(words: list[str], settings: dict[str, Any], code: str) -> None:
    began = time.monotonic()
    with pytest.raises(InputError) as refused:
        Shell("source 'slurm'", **settings).run(words)
    assert refused.value.code == code
    assert "env" not in refused.value.message.split()
    assert time.monotonic() - began < 20
    if code == "command-failed":
        assert "ended with 3: why it failed" in refused.value.message


@pytest.mark.parametrize("host", ["-oProxyCommand=reboot", "host;reboot", "a b", "$(reboot)", "user@-x"])
def test_a_host_that_is_no_name_is_refused(host: str) -> None:
    with pytest.raises(ProjectError) as refused:
        Shell.of(stanza({"name": "slurm", "kind": "slurm", "ssh": host}, COMMAND_SETTINGS))
    assert refused.value.code == "invalid-setting"


def test_probe_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (sign,) = probe({"name": "slurm", "kind": "slurm"}, tmp_path)
    assert (sign.status, "sacct" in sign.text, "ssh" in sign.fix) == ("wrong", True, True)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Settings of ssh for a server that runs for these tests alone, with keys of its own."""
    server = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin")
    if not server or not shutil.which("ssh-keygen") or os.geteuid() != 0:
        pytest.skip("no sshd: only root may start Debian's openssh-server for the tests")
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "own", "stranger"):
        processes.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "own.pub", folder / "authorized")
    port = free_port()
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nPermitRootLogin yes\nPidFile {folder}/pid\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {key}\n")
    for name in ("own", "stranger"):
        (folder / f"{name}.config").write_text(
            f"Host head\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n IdentityFile {folder}/{name}\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {folder}/known\nHost nowhere\n HostName 127.0.0.1\n Port 1\n"
        )
    process = processes.Process([server, "-D", "-e", "-f", str(folder / "sshd_config")])
    try:
        process.wait_until(lambda: answers(port), "it listens")
        yield folder
    finally:
        process.terminate()
        process.wait()


def test_words_reach_the_other_side_as_they_are(config: Path) -> None:
    shell = Shell("source 'slurm'", "head", str(config / "own.config"))
    said = shell.run(
        [
            "env",
            "WHO=me",
            sys.executable,
            "-c",
            "import os, sys; print(os.environ['WHO'], sys.argv[1:])",
            "a b",
            "$HOME",
            "';x",
            "\x1f",
        ]
    )
    assert said.decode() == f"me {['a b', '$HOME', chr(39) + ';x', chr(31)]}\n"


@pytest.mark.parametrize(
    ("host", "key", "words", "code"),
    [
        ("head", "stranger", ["true"], "login-refused"),
        ("nowhere", "own", ["true"], "unreachable"),
        ("head", "own", ["no-such-command-here"], "no-command"),
        ("head", "own", ["false"], "command-failed"),
    ],
)
def test_what_fails_over_ssh_is_told(config: Path, host: str, key: str, words: list[str], code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        Shell("source 'slurm'", host, str(config / f"{key}.config")).run(words)
    assert refused.value.code == code


def test_a_server_with_another_key_is_not_trusted(config: Path, tmp_path: Path) -> None:
    text = (config / "own.config").read_text().replace(f"{config}/known", f"{tmp_path}/known")
    (tmp_path / "config").write_text(text)
    with pytest.raises(InputError) as refused:
        Shell("source 'slurm'", "head", str(tmp_path / "config")).run(["true"])
    assert refused.value.code == "login-refused"
