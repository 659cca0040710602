"""The two views that Azure gives of one bill, and what a row's cost counts as.

An **actual** export has what was invoiced: reservations and savings plans as purchases (and refunds of them), the usage they cover as
nothing. An **amortised** one has no such purchases: covered usage has its share of the price, and what nobody used is rows of its own.
All other rows stand in both. So an actual file tells BilledCost, an amortised one EffectiveCost:

                                     BilledCost          EffectiveCost
    in both                          actual              amortised
    purchase of a commitment         actual              0
    covered usage, unused part       0                   amortised

Without the other file the other cost of ordinary rows is the same. Of a commitment's rows it is 0 in an amortised file (what they were
paid with stands elsewhere), and not known in an actual one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import MONEY
from apportion.sources.azure.charges import COMMITTED
from apportion.sources.bills.bill import Bill
from apportion.sources.bills.part import Fault

DATASETS = ("actual", "amortised")
ACTUAL, AMORTISED = DATASETS
ZERO = pa.scalar(0).cast(MONEY)
UNKNOWN = pa.scalar(None, MONEY)


def committed(lines: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(pc.equal(lines["PricingCategory"], COMMITTED), fill_value=False)


def signs(bill: Bill) -> set[str]:
    """What only one of the two has."""
    lines = bill.lines
    bought = pc.and_(committed(lines), pc.equal(lines["ChargeCategory"], "Purchase"))
    covered = pc.equal(lines["CommitmentDiscountStatus"], "Used")
    costs = pc.not_equal(lines["BilledCost"], ZERO)
    found = {ACTUAL} if some(pc.and_(bought, costs)) else set()
    if some(pc.equal(lines["CommitmentDiscountStatus"], "Unused")) or some(pc.and_(covered, costs)):
        found.add(AMORTISED)
    return found


def some(mask: pa.ChunkedArray) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())


def dataset_of(bills: Sequence[Bill]) -> str:
    """Which of the two the files are; files that look like both are refused."""
    shown = {sign: bill for bill in bills for sign in signs(bill)}
    if len(shown) > 1:
        raise InputError(
            "wrong-dataset",
            f"{shown[AMORTISED].file.name} has amortised costs of reservations or savings plans, {shown[ACTUAL].file.name} purchases of them",
            where=shown[AMORTISED].file.name,
            hint="name the amortised export in `amortised` and the actual one in `path`; for one that is really so, set `dataset`",
        )
    return next(iter(shown), ACTUAL)


def expect(bills: Iterable[Bill], dataset: str, setting: str) -> None:
    """With both exports named, neither may be the other."""
    for bill in bills:
        if signs(bill) == set(DATASETS) - {dataset}:
            raise InputError(
                "wrong-dataset",
                f"{bill.file.name} is no {dataset} export, which `{setting}` must name",
                where=bill.file.name,
                hint="are `path` (actual costs) and `amortised` exchanged?",
            )


def alone(bill: Bill, dataset: str, where: pa.ChunkedArray | None = None) -> Bill:
    """One export without the other; with `where`, on those lines."""
    commitment = committed(bill.lines) if where is None else pc.and_(committed(bill.lines), where)
    count = pc.sum(commitment).as_py() or 0
    if not count:
        return bill
    lines, few = bill.lines, f"{counted(count)} of reservations or savings plans"
    if dataset == ACTUAL:
        for name in ("EffectiveCost", "PricingCurrencyEffectiveCost"):
            lines = put(lines, name, pc.if_else(commitment, UNKNOWN, lines[name]))
        told = f"{few} with no EffectiveCost, which only the amortised export tells"
        note = Fault(-1, "no-amortised-export", told)
    else:
        lines = put(lines, "BilledCost", pc.if_else(commitment, ZERO, lines["BilledCost"]))
        told = f"{few} with a BilledCost of 0: what was paid for them is in the actual export only"
        note = Fault(-1, "no-actual-export", told)
    return replace(bill, lines=lines, faults=(*bill.faults, note))


def counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def put(lines: pa.Table, name: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    return lines.set_column(lines.column_names.index(name), lines.schema.field(name), values)
