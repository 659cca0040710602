"""What every part of the document has in common: frozen, exact about its keys, and precise about what is wrong with it."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


def wrong(code: str, message: str, *path: str | int, hint: str = "", key: bool = False) -> PydanticCustomError:
    """A mistake at `path` inside the value that is being read; with `key` its place is the key's."""
    return PydanticCustomError(
        "policy", "{message}", {"code": code, "message": message, "path": path, "hint": hint, "key": key}
    )


def deeper(error: PydanticCustomError, *path: str | int) -> PydanticCustomError:
    """The same mistake, seen from the value around it."""
    found = error.context or {}
    return wrong(found["code"], found["message"], *path, *found["path"], hint=found["hint"], key=found["key"])


def nearest(word: object, words: Iterable[str]) -> str:
    """A hint: the word that was probably meant, and those there are."""
    known = sorted(words)
    close = get_close_matches(str(word).lower()[:80], [name.lower() for name in known], n=1, cutoff=0.6)
    meant = next((name for name in known if close and name.lower() == close[0]), "")
    listed = ", ".join(known[:24]) + (", ..." if len(known) > 24 else "")
    if not known:
        return "none is declared"
    return f"did you mean {meant!r}? known: {listed}" if meant else f"known: {listed}"


def shown(value: object) -> str:
    """What was found, in words short enough for a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Clause(BaseModel):
    """A mapping of the document.

    `also` are keys that `expand` turns into others, `hidden` are fields that no key sets, and `may_be_empty` are keys
    under which everything may have been commented out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, ser_json_inf_nan="constants")
    also: ClassVar[frozenset[str]] = frozenset()
    hidden: ClassVar[frozenset[str]] = frozenset()
    may_be_empty: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def known_keys(cls) -> frozenset[str]:
        own = {field.alias or name for name, field in cls.model_fields.items() if name not in cls.hidden}
        return cls.also | own

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Short forms become long ones."""
        return given

    @classmethod
    def of_word(cls, word: str) -> dict[str, Any] | None:  # noqa: ARG003 - most clauses have no such word
        """What a single word stands for, where it does."""
        return None

    @model_validator(mode="before")
    @classmethod
    def read(cls, given: Any) -> Any:
        if isinstance(given, str) and (meant := cls.of_word(given)) is not None:
            return meant
        if not isinstance(given, dict):
            raise wrong(
                "policy-type",
                f"expected keys and values, found {shown(given)}",
                hint="keys: " + ", ".join(sorted(cls.known_keys())),
            )
        for key, value in given.items():
            if key not in cls.known_keys():
                raise wrong(
                    "policy-unknown-key",
                    f"there is no key {shown(key)} here",
                    key,
                    hint=nearest(key, cls.known_keys()),
                    key=True,
                )
            if value is None and key not in cls.may_be_empty:
                raise wrong(
                    "policy-type", f"{key!r} has no value", key, hint="give it one, or leave the key out", key=True
                )
        return cls.expand({key: value for key, value in given.items() if value is not None})
