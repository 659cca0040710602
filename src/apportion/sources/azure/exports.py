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

from collections.abc import Iterable, Mapping

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


def signs(lines: pa.Table) -> set[str]:
    """What only one of the two has."""
    bought = pc.and_(committed(lines), pc.equal(lines["ChargeCategory"], "Purchase"))
    covered = pc.equal(lines["CommitmentDiscountStatus"], "Used")
    costs = pc.not_equal(lines["BilledCost"], ZERO)
    found = {ACTUAL} if some(pc.and_(bought, costs)) else set()
    if some(pc.equal(lines["CommitmentDiscountStatus"], "Unused")) or some(pc.and_(covered, costs)):
        found.add(AMORTISED)
    return found


def some(mask: pa.ChunkedArray) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())


def dataset_of(shown: Mapping[str, str]) -> str:
    """Which of the two the files are, from the file that shows each sign; files that look like both are refused."""
    if len(shown) > 1:
        raise InputError(
            "wrong-dataset",
            f"{shown[AMORTISED]} has amortised costs of reservations or savings plans, {shown[ACTUAL]} purchases of them",
            where=shown[AMORTISED],
            hint="name the amortised export in `amortised` and the actual one in `path`; for one that is really so, set `dataset`",
        )
    return next(iter(shown), ACTUAL)


def expect(bills: Iterable[Bill], dataset: str, setting: str) -> None:
    """With both exports named, neither may be the other."""
    for bill in bills:
        if signs(bill.lines) == set(DATASETS) - {dataset}:
            raise InputError(
                "wrong-dataset",
                f"{bill.file.name} is no {dataset} export, which `{setting}` must name",
                where=bill.file.name,
                hint="are `path` (actual costs) and `amortised` exchanged?",
            )


def alone(lines: pa.Table, dataset: str, commitment: pa.ChunkedArray) -> pa.Table:
    """Costs of commitments' lines where there is no other export."""
    if dataset == AMORTISED:
        return put(lines, "BilledCost", pc.if_else(commitment, ZERO, lines["BilledCost"]))
    for name in ("EffectiveCost", "PricingCurrencyEffectiveCost"):
        lines = put(lines, name, pc.if_else(commitment, UNKNOWN, lines[name]))
    return lines


def lacking(dataset: str, count: int) -> tuple[Fault, ...]:
    """What is said about a file of which so many lines would need the other export."""
    few = f"{counted(count)} of reservations or savings plans"
    if not count:
        return ()
    if dataset == ACTUAL:
        told = f"{few} with no EffectiveCost, which only the amortised export tells"
        return (Fault(-1, "no-amortised-export", told),)
    told = f"{few} with a BilledCost of 0: what was paid for them is in the actual export only"
    return (Fault(-1, "no-actual-export", told),)


def counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def put(lines: pa.Table, name: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    return lines.set_column(lines.column_names.index(name), name, values)
