"""Reading a source's stanza of apportion.toml: every key is known, of the right type, and the nearest valid word is named where it is not."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from apportion.errors import ProjectError

COMMON = ("name", "kind", "path")
MOST = 10_000_000
TOLD, COUNTED = "tell", "count"  # what is done about rows that look like repeats, beside counting them


def nearest(word: str, valid: Iterable[str]) -> str:
    """`did you mean 'role'?`, or the whole list where nothing is near."""
    words = sorted(valid)
    folded = {known.casefold(): known for known in words}
    close = get_close_matches(str(word).casefold(), folded, n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]!r}?" if close else "valid: " + ", ".join(words)


@dataclass(frozen=True, slots=True)
class Stanza:
    """One `[[sources]]` table, already free of unknown keys."""

    settings: Mapping[str, Any]
    where: str

    def refuse(self, key: str, expected: str, found: object) -> ProjectError:
        shown = repr(found)
        return ProjectError("invalid-setting", f"{key} must be {expected}, not {shown[:60]}", where=self.where)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.settings.get(key, default)
        if value is None:
            raise ProjectError(
                "missing-setting",
                f"the setting {key} is missing",
                where=self.where,
                hint=f'add {key} = "..." to the stanza',
            )
        if not isinstance(value, str) or (not value and not default == ""):
            raise self.refuse(key, "text", value)
        return value

    def word(self, key: str, valid: Collection[str], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in valid:
            raise ProjectError(
                "invalid-setting", f"{key} cannot be {value!r}", where=self.where, hint=nearest(value, valid)
            )
        return value

    def number(self, key: str, default: int, least: int = 0, most: int = MOST) -> int:
        value = self.settings.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refuse(key, f"a whole number from {least} to {most}", value)
        return value

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.settings.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, "true or false", value)
        return value

    def names(self, key: str, valid: Collection[str] | None = None, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts; with `valid`, each must be among them."""
        value = self.settings.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
            raise self.refuse(key, 'a list such as ["a", "b"]', value)
        for text in value:
            if valid is not None and text not in valid:
                raise ProjectError(
                    "invalid-setting", f"{key} has no {text!r}", where=self.where, hint=nearest(text, valid)
                )
        return tuple(value)

    def words(self, key: str, valid: Collection[str] | None = None) -> dict[str, str]:
        """A table of text to text; with `valid`, its keys must be among them."""
        value = self.settings.get(key, {})
        if not isinstance(value, Mapping):
            raise self.refuse(key, 'a table such as {a = "b"}', value)
        for name, text in value.items():
            if not isinstance(text, str) or not text:
                raise self.refuse(f"{key}.{name}", "text", text)
            if valid is not None and name not in valid:
                raise ProjectError(
                    "invalid-setting", f"{key} has no {name!r}", where=self.where, hint=nearest(name, valid)
                )
        return dict(value)

    def counts(self, key: str, valid: Collection[str]) -> dict[str, int]:
        """A table of some of the valid names to whole numbers from 1."""
        value = self.settings.get(key, {})
        if not isinstance(value, Mapping):
            raise self.refuse(key, "a table such as {a = 4}", value)
        for name, count in value.items():
            if name not in valid:
                raise ProjectError(
                    "invalid-setting", f"{key} has no {name!r}", where=self.where, hint=nearest(name, valid)
                )
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
                raise self.refuse(f"{key}.{name}", f"a whole number from 1 to {MOST}", count)
        return dict(value)


def stanza(settings: Mapping[str, Any], known: Iterable[str]) -> Stanza:
    """The stanza of one source; a key that the kind does not know is refused."""
    where = f"source {settings.get('name', '?')!r}"
    valid = {*COMMON, *known}
    for key in settings:
        if key not in valid:
            raise ProjectError(
                "unknown-setting",
                f"a source of kind {settings.get('kind', '?')!r} has no setting {key!r}",
                where=where,
                hint=nearest(key, valid),
            )
    found = Stanza(settings, where)
    found.text("name")
    return found
