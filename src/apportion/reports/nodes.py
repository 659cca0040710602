"""Which node each instance of the bill is: those that are tied, instances that no node answers to, and nodes that no line pays for.

The amounts of the three lists add up to the compute money of the bill.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import section, share_of, total
from apportion.reports.words import counted, percent, shown

TIED, NO_NODE, NO_MONEY = LISTS = ("tied", "no node", "no money")
COLUMNS = (
    Column("list", "list"),
    Column("node", "node"),
    Column("instance", "instance"),
    Column("by", "tied by"),
    Column("amount", "amount", "money"),
    Column("share", "share", "share"),
    Column("unit", "unit", quiet=True),
    Column("used", "used h", "quantity", quiet=True),
    Column("note", "note", quiet=True),
)


@dataclass(frozen=True, slots=True)
class Instance:
    """Money of one instance. Without a node, `note` says what was tried, or which nodes answer."""

    currency: str
    name: str
    node: str
    by: str
    amount: Decimal
    note: str = ""

    def cells(self, bill: Decimal) -> dict[str, Cell]:
        return {
            "list": TIED if self.node else NO_NODE,
            "node": self.node,
            "instance": self.name,
            "by": self.by,
            "amount": self.amount,
            "share": share_of(self.amount, bill),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Unpaid:
    """A node that no line pays for, with the hours that were used on it."""

    node: str
    unit: str
    hours: Fraction

    def cells(self) -> dict[str, Cell]:
        return {
            "list": NO_MONEY,
            "node": self.node,
            "amount": Decimal(0),
            "unit": self.unit,
            "used": places(self.hours),
            "note": "no line of the bill is tied to it",
        }


@dataclass(frozen=True, slots=True)
class Joined:
    """The bill's instances beside the cluster's nodes; `currency` is the one that nodes without money are listed under."""

    period: str
    currency: str
    instances: Sequence[Instance]
    unpaid: Sequence[Unpaid]

    @property
    def currencies(self) -> list[str]:
        own = {self.currency} if self.unpaid or not self.instances else set()
        return sorted(own | {instance.currency for instance in self.instances})

    def of(self, currency: str) -> list[Instance]:
        """Most money first."""
        own = [instance for instance in self.instances if instance.currency == currency]
        return sorted(own, key=lambda each: (not each.node, -abs(each.amount), each.name, each.node, each.by))


def nodes(joined: Joined, head: str, policy: str) -> Report:
    sections = tuple(_section(joined, currency) for currency in joined.currencies)
    title = " ".join(_sentences(joined))
    return Report("nodes", title, joined.period, COLUMNS, sections, head, (policy,))


def _section(joined: Joined, currency: str) -> Section:
    own = joined.of(currency)
    bill = total(each.amount for each in own)
    rows = [each.cells(bill) for each in own]
    if currency == joined.currency:
        rows += [each.cells() for each in sorted(joined.unpaid, key=lambda each: (-each.hours, each.node))]
    return section(currency, bill, COLUMNS, rows)


def _sentences(joined: Joined) -> Iterator[str]:
    for currency in joined.currencies:
        own = joined.of(currency)
        bill, tied = total(each.amount for each in own), [each for each in own if each.node]
        paid = total(each.amount for each in tied)
        left = {each.name for each in own if not each.node and each.name}
        yield (
            f"{shown(paid, currency)} of the compute money of {shown(bill, currency)} for {joined.period} ({percent(share_of(paid, bill))}) is tied to "
            f"{counted(len({each.node for each in tied}), 'node')}; {counted(len(left), 'instance')} and {shown(bill - paid, currency)} are tied to none."
        )
    if joined.unpaid:
        used = sum(1 for each in joined.unpaid if each.hours)
        yield f"{counted(len(joined.unpaid), 'node')} ({used:,} of them in use) have no line that pays for them."
