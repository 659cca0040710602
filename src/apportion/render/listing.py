"""Several values of one kind, as a verb lists them: a tuple that knows how it is shown."""

from collections.abc import Callable, Iterable
from typing import Self, TypeVar

from apportion.model.result import Result
from apportion.render.sheet import Sheet, sheet_of

Item = TypeVar("Item")


class Listing(Result, tuple[Item, ...]):  # noqa: SLOT001  # a tuple has no slot for more
    """`sheet` makes what is shown of it when somebody looks."""

    sheet: Callable[[], Sheet]

    def __new__(cls, items: Iterable[Item], sheet: Callable[[], Sheet]) -> Self:
        made = super().__new__(cls, items)
        made.sheet = sheet
        return made


@sheet_of.register
def listing_sheet(found: Listing) -> Sheet:  # type: ignore[type-arg]  # dispatch goes by the class alone
    return found.sheet()
