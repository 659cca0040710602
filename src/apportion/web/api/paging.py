"""Long lists in parts. A cursor says behind which item the next part begins, so that what is added meanwhile moves nothing."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query

from apportion.client.shapes import Listed
from apportion.errors import ProjectError

MOST, USUAL = 1000, 100
Item = TypeVar("Item")
LIMIT = Query(ge=1, le=MOST, description="how many at most")
CURSOR = Query(
    max_length=8192, pattern="^[A-Za-z0-9_-]*$", description="`next` of the part before; nothing for the first"
)


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a list is asked for. `after` is the key of the last item before it."""

    limit: int
    after: Any = None

    def of(self, items: Iterable[Item], key: Callable[[Item], Any]) -> Listed[Item]:
        """Of a list that is at hand; keys are texts, numbers, or lists of them."""
        ordered = sorted(items, key=key)
        rest = [item for item in ordered if self.after is None or self.is_behind(key(item))]
        return self.cut(rest, key)

    def is_behind(self, key: Any) -> bool:
        try:
            return bool(key > self.after)
        except TypeError as error:
            raise invalid() from error

    def cut(self, rest: Sequence[Item], key: Callable[[Item], Any]) -> Listed[Item]:
        """`rest` has one item more than wanted, where there are more."""
        some = list(rest[: self.limit])
        return Listed(items=some, next=written(key(some[-1])) if len(rest) > self.limit else "")


def written(key: Any) -> str:
    return urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def parted(limit: Annotated[int, LIMIT] = USUAL, cursor: Annotated[str, CURSOR] = "") -> Part:
    return Part(limit, read_cursor(cursor) if cursor else None)


def read_cursor(text: str) -> Any:
    try:
        key = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError) as error:
        raise invalid() from error
    if not isinstance(key, int | str | list) or isinstance(key, bool):
        raise invalid()
    return key


def invalid() -> ProjectError:
    return ProjectError("invalid-cursor", "that is no cursor of this list", hint="take `next` as it was given")


Parted = Annotated[Part, Depends(parted)]
