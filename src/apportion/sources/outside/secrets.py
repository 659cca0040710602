"""Secrets: `env:NAME`, `file:PATH` or `keyring:SERVICE/NAME` in the settings, never the secret itself; and never in a message."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from apportion.errors import ProjectError
from apportion.sources.settings import Stanza

FORMS = "env:NAME, file:PATH or keyring:SERVICE/NAME"
LONGEST = 65_536


@dataclass(frozen=True, slots=True)
class Secret:
    """Shown as where it comes from."""

    origin: str
    value: str = field(repr=False)

    def reveal(self) -> str:
        return self.value

    def __str__(self) -> str:
        return self.origin


def secret(found: Stanza, key: str) -> Secret | None:
    """The secret that a setting points to; None where the stanza has no such setting."""
    place = pointed(found, key)
    if place is None:
        return None
    scheme, name = place
    value = READERS[scheme](name, f"{found.where}, {key}").strip("\r\n")
    if not value or any(ord(letter) < 32 for letter in value):
        raise missing(
            f"{scheme}:{name}", f"{found.where}, {key}", "it is empty or has a line break or control character inside"
        )
    return Secret(f"{scheme}:{name}", value)


def pointed(found: Stanza, key: str) -> tuple[str, str] | None:
    """Where the secret is, without looking there."""
    if key not in found.settings:
        return None
    scheme, colon, name = found.text(key).partition(":")
    if not colon or scheme not in READERS or not name:
        raise ProjectError(  # what stands there may be the secret itself, so it is not quoted
            "secret-in-settings",
            f"{key} must say where the secret is: {FORMS}",
            where=found.where,
            hint=f'put it into an environment variable and write {key} = "env:NAME"; change the secret if it was shared',
        )
    return scheme, name


def from_environment(name: str, where: str) -> str:
    if name not in os.environ:
        raise missing(f"env:{name}", where, "the environment variable is not set")
    return os.environ[name]


def from_file(name: str, where: str) -> str:
    try:
        with Path(name).expanduser().open("rb") as file:
            return file.read(LONGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise missing(f"file:{name}", where, str(reason)) from None


def from_keyring(name: str, where: str) -> str:
    try:
        import keyring  # noqa: PLC0415 - an extra, and slow
    except ImportError:
        raise missing(f"keyring:{name}", where, "install apportion[keyring]") from None
    service, _, user = name.rpartition("/")
    try:
        value = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise missing(f"keyring:{name}", where, type(error).__name__) from None
    if value is None:
        raise missing(f"keyring:{name}", where, f"set it with: keyring set {service} {user}")
    return value


READERS: dict[str, Callable[[str, str], str]] = {"env": from_environment, "file": from_file, "keyring": from_keyring}


def missing(origin: str, where: str, reason: str) -> ProjectError:
    scheme, _, name = origin.partition(":")
    hint = {"env": f"export {name}=...", "file": f"write it to {name}, readable by you alone"}.get(scheme, "")
    return ProjectError("no-secret", f"there is no secret at {origin}: {reason}", where=where, hint=hint)
