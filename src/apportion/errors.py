"""Everything that can go wrong, in three forms.

    Problem            a row of data is wrong: a value, collected, counted and shown; its money goes to `_unallocated`
    ApportionError     a person can act on it: code, message, where, hint
    ├── InputError       a file, table or number that cannot be read at all
    ├── PolicyError      the policy document is wrong (file:line:column)
    ├── ProjectError     apportion.toml, a source's settings, a missing project
    └── BooksError       the books refuse: moved inputs, a double scope, a run id with other content
    InvariantError     ours: two numbers that must agree do not (exit code 5, nothing is written)

Every `code` is a slug with a heading in docs/reference/errors.md; a test keeps the two lists equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Problem:
    """One row that could not be taken as it is; `money` is what it carried, as a decimal string.

    `quantity` is what it held of `meter`: whole base units, times seconds where the meter is a level. `at` is when, as an instant in UTC. Each is
    empty where nobody can tell.
    """

    where: str
    code: str
    message: str
    row: str = ""
    money: str = "0"
    quantity: str = ""
    meter: str = ""
    at: str = ""

    def to_dict(self) -> dict[str, str]:
        """Without later fields that say nothing: a delivery from before they existed keeps its digest."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: text for name, text in found.items() if text or name not in ("quantity", "meter", "at")}


class ApportionError(Exception):
    """A sentence a person can act on, with its place and the remedy."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        """From one process to another."""
        return partial(type(self), where=self.where, hint=self.hint), (self.code, self.message)

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        if self.where:
            lines.append(f"  {self.where}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class InputError(ApportionError):
    """A file, table or number that cannot be read at all."""


class PolicyError(ApportionError):
    """The policy document is wrong."""


class ProjectError(ApportionError):
    """The project, its settings or a source's settings are wrong."""


class BooksError(ApportionError):
    """The books refuse what was asked."""


class InvariantError(Exception):
    """Two numbers that must agree do not. Nothing was written."""

    def __init__(self, what: str, expected: object, found: object) -> None:
        super().__init__(f"{what}: expected {expected}, found {found}")
        self.what = what
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        """From one process to another."""
        return type(self), (self.what, self.expected, self.found)


def require_equal(what: str, expected: object, found: object) -> None:
    """The check that `python -O` does not remove."""
    if expected != found:
        raise InvariantError(what, expected, found)
