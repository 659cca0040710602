"""Where secrets come from, and that they are never shown."""

import sys
from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.sources.outside.secrets import Secret, secret
from apportion.sources.settings import Stanza

VALUE = "s3cret-value"


def of(text: str) -> Secret | None:
    return secret(Stanza({"token": text}, "source 'it'"), "token")


def refused(text: str) -> ProjectError:
    with pytest.raises(ProjectError) as caught:
        of(text)
    assert VALUE not in f"{caught.value} {caught.value.hint}"
    return caught.value


def test_from_the_environment_and_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOKEN", VALUE)
    (tmp_path / "token").write_text(f"{VALUE}\n")
    for text in ("env:TOKEN", f"file:{tmp_path / 'token'}"):
        found = of(text)
        assert found is not None
        assert found.reveal() == VALUE
        assert VALUE not in f"{found} {found!r}"
    assert secret(Stanza({}, ""), "token") is None


def test_from_a_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return VALUE if (service, username) == ("apportion/prometheus", "reader") else None

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

        def delete_password(self, service: str, username: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())  # type: ignore[no-untyped-call]  # its stubs
    try:
        found = of("keyring:apportion/prometheus/reader")
        assert found is not None
        assert found.reveal() == VALUE
        assert "keyring set apportion/prometheus writer" in refused("keyring:apportion/prometheus/writer").message
    finally:
        keyring.set_keyring(before)
    monkeypatch.setitem(sys.modules, "keyring", None)  # as if it were not installed
    assert "apportion[keyring]" in refused("keyring:a/b").message


@pytest.mark.parametrize("text", [VALUE, f"plain:{VALUE}", "env:"])
def test_a_secret_in_the_settings_is_refused_and_not_repeated(text: str) -> None:
    assert refused(text).code == "secret-in-settings"


def test_a_secret_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("BROKEN", f"{VALUE}\nX-Other: header")
    for text in ("env:NOT_SET_ANYWHERE", f"file:{tmp_path / 'none'}", "env:EMPTY", "env:BROKEN"):
        assert refused(text).code == "no-secret"
