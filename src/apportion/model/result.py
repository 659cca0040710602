"""What a verb answers can be looked at, at a prompt or in a notebook, and taken as an Arrow table.

How it looks is for `render` to say, which stands above this room and is handed down by the package's door: a value need not know it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Look(Protocol):
    """What `render/notebook.py` offers."""

    def text(self, value: object) -> str: ...
    def html(self, value: object) -> str: ...
    def chart(self, value: object) -> Any: ...
    def arrow(self, value: object) -> "pa.Table": ...


class Result:
    """Give `repr=False` to a dataclass that is one: it reads as a sentence and a table, not as its fields."""

    __slots__ = ()
    look: ClassVar[Callable[[], Look]]

    def to_arrow(self) -> "pa.Table":
        """The rows of its table with every digit, their currency in front; where it has none, its fields as one row."""
        return Result.look().arrow(self)

    @property
    def chart(self) -> Any:
        """The chart as Vega-Lite, which a notebook draws; None where a chart would say nothing."""
        return Result.look().chart(self)

    def __repr__(self) -> str:
        return Result.look().text(self)

    def _repr_html_(self) -> str:
        return Result.look().html(self)
