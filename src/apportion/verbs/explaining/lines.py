"""The cost lines behind a pool: how many, how much, and the largest."""

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.lines import FOLLOWER
from apportion.model.times import Interval, instant_text
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.conversions import conversion_text
from apportion.verbs.explaining.story import Node
from apportion.verbs.plan import Computed, recorded

FEW = 3


@dataclass(frozen=True, slots=True)
class Placed:
    """Cost lines with the pool, bill and amount that the plan gave them."""

    table: pa.Table

    def only(self, currency: str) -> "Placed":
        return Placed(self.table.filter(pc.equal(self.table["currency"], currency)))

    def of(self, pool: str, span: Interval | None = None) -> pa.Table:
        """The lines of a pool, or those whose charge period touches a span."""
        rows = self.table.filter(pc.equal(self.table["pool"], pool))
        if span is None:
            return rows
        inside = pc.or_(
            pc.greater(rows["charge_end_s"], span.start_s), pc.equal(rows["charge_end_s"], rows["charge_start_s"])
        )
        return rows.filter(pc.and_(pc.less(rows["charge_start_s"], span.end_s), inside))


def placed_lines(computed: Computed) -> Placed:
    lines, found = computed.world.cost_lines, computed.plan.trace.lines
    names = [
        "line_id",
        "ServiceName",
        "ChargeCategory",
        "ChargeDescription",
        "ResourceName",
        "ResourceId",
        "charge_start_s",
        "charge_end_s",
    ]
    columns = {name: lines[name] for name in names} | {
        "currency": found.currencies(),
        "pool": found.pool_of,
        "bill": found.bill_of,
        "amount": found.amounts,
    }
    return Placed(pa.table(columns))


def lines_node(placed: Placed, pool: str, span: Interval | None = None) -> Node:
    """`744 cost lines, 300,000.00 USD`, with the largest below."""
    rows = placed.of(pool, span)
    if not len(rows):
        return Node("no cost lines of its own", {"count": 0})
    sums = sums_by_currency(rows)
    text = f"{counted(len(rows), 'cost line')}: " + " and ".join(
        shown(amount, currency) for currency, amount in sums.items()
    )
    return Node(text, {"count": len(rows), "sums": sums}, top_lines(rows))


def conversion_nodes(computed: Computed, placed: Placed, pool: str) -> list[Node]:
    """How the bills of a pool's lines came into the policy's currency."""
    mine, policy = set(pc.unique(placed.of(pool)["bill"]).to_pylist()), computed.world.policy
    how = f"its lines follow by largest remainder: {policy.file}:{policy.line('fx')}"
    return [
        Node(f"converted: {conversion_text(bill, bill.conversion)}; {how}", recorded(bill.conversion))
        for bill in computed.plan.bills
        if bill.conversion and bill.id in mine
    ]


def followers_node(placed: Placed) -> tuple[Node, ...]:
    """Tax, credits, fees and unused commitments: shared like what they belong to."""
    rows = placed.of(FOLLOWER)
    if not len(rows):
        return ()
    sums = sums_by_currency(rows)
    amounts = " and ".join(shown(amount, currency) for currency, amount in sums.items())
    kinds = ", ".join(sorted(filter(None, pc.unique(rows["ChargeCategory"]).to_pylist())))
    follow = "follows the charges of its" if len(rows) == 1 else "follow the charges of their"
    text = f"{counted(len(rows), 'line')} of tax, credits, fees or unused commitments, {amounts} in all, {follow} account and service"
    return (Node(text, {"count": len(rows), "sums": sums, "kinds": kinds}, top_lines(rows)),)


def top_lines(rows: pa.Table) -> tuple[Node, ...]:
    order = pc.sort_indices(
        pa.table({"size": pc.abs(rows["amount"]), "id": rows["line_id"]}), [("size", "descending"), ("id", "ascending")]
    )
    picked = rows.take(order[:FEW]).to_pylist()
    nodes = [
        Node(
            line_text(row),
            row | {"start": instant_text(row["charge_start_s"]), "end": instant_text(row["charge_end_s"])},
        )
        for row in picked
    ]
    rest = len(rows) - len(nodes)
    return (*nodes, *([Node(f"... and {rest:,} more")] if rest else []))


def line_text(row: dict[str, object]) -> str:
    what = " ".join(
        str(part)
        for part in (row["ServiceName"], row["ResourceName"] or row["ResourceId"], row["ChargeDescription"])
        if part
    )
    start, end = (instant_text(int(str(row[name]))) for name in ("charge_start_s", "charge_end_s"))
    amount = row["amount"]
    money = shown(amount, str(row["currency"])) if isinstance(amount, Decimal) else ""
    return f"{money}  {what}, {start} to {end} (line {str(row['line_id'])[:12]})"


def sums_by_currency(rows: pa.Table) -> dict[str, Decimal]:
    currencies = sorted(pc.unique(rows["currency"]).to_pylist())
    return {
        currency: total(rows.filter(pc.equal(rows["currency"], currency))["amount"].to_pylist())
        for currency in currencies
    }
