"""What a vendor says about one file: what it is called, which columns are read, and how its rows become FOCUS columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from apportion.sources.bills.part import Fault, Part
from apportion.sources.files.paths import InputFile

COST, TIME, CURRENCY, CATEGORY = "cost", "time", "currency", "charge category"  # what a column of a bill may hold
TIMES = ("ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a block. `cells` are by FOCUS column, text as it stands or typed; `Tags`, TIMES, `x_Component`, `line_type`, `status` and
    `problem` (a code, where the vendor's own part found one) too. A column that is not there is empty.

    `rows` says from which row of the block each line comes, where a row makes several lines or none.
    `names` is what the vendor calls a column, for messages.
    """

    cells: Mapping[str, pa.Array]
    rows: pa.Array | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """`name` as messages say it, such as "FOCUS 1.2"; `notes` are about the file as a whole; `typed` says what some of its columns hold."""

    name: str
    columns: tuple[str, ...]
    translate: Callable[[Part], Lines]
    notes: tuple[Fault, ...] = ()
    typed: Mapping[str, str] = field(default_factory=dict)


FormOf = Callable[
    [Sequence[str], InputFile], Form
]  # from the header; refuses a file that the vendor cannot have written
