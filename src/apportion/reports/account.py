"""One owner's month: what it comes to, against the month before, how much of it was idle or waste, and how it grew day by day.

The months are records that are cut to the owner; `standings` sets the teams of one record side by side.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.reports.held import charges_in
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import ZERO, by_currency, grouped, less, section, share_of, summed, total
from apportion.reports.words import counted, shown

HALF = Decimal("0.5")
TOP = 10
COLUMNS = (
    Column("owner", "team"),
    Column("amount", "amount", "money"),
    Column("share", "share", "share"),
    Column("before", "month before", "money", quiet=True),
    Column("change", "change", "money", quiet=True),
    Column("waste", "waste", "money", quiet=True),
)
RUNS = (
    Column("run", "run"),
    Column("name", "name", quiet=True),
    Column("team", "team"),
    Column("project", "project", quiet=True),
    Column("user", "user", quiet=True),
    Column("amount", "charged", "money"),
    Column("waste", "waste", "money", quiet=True),
)


@dataclass(frozen=True, slots=True)
class Account:
    """`before` is None where nothing was posted the month before, `waste` where nothing was measured. `pools` fall by amount."""

    currency: str
    owed: Decimal
    before: Decimal | None
    idle: Decimal
    waste: Decimal | None
    pools: Mapping[str, Decimal]
    days: Mapping[str, Decimal]
    days_before: Mapping[str, Decimal]

    @property
    def change(self) -> Decimal | None:
        return None if self.before is None else less(self.owed, self.before)

    @property
    def idle_share(self) -> Decimal | None:
        return share_of(self.idle, self.owed)


def accounts(now: Record, before: Record | None) -> list[Account]:
    """One for each currency that something is posted in, in one month or the other."""
    units = {unit for one in (now, before) if one for unit in pc.unique(one.posted["currency"]).to_pylist()}
    return [account(now, before, unit) for unit in sorted(units)]


def account(now: Record, before: Record | None, currency: str) -> Account:
    mine = of_currency(now.posted, currency)
    past = None if before is None else of_currency(before.posted, currency)
    pools = {pool: amount for (pool,), amount in grouped(mine, ("pool",)).items()}
    return Account(
        currency=currency,
        owed=summed(mine),
        before=None if past is None else summed(past),
        idle=summed(mine.filter(pc.equal(mine["reason"], "idle"))),
        waste=wasted(now, mine).get("", None),
        pools=dict(sorted(pools.items(), key=lambda item: (-item[1], item[0]))),
        days=running(mine),
        days_before={} if past is None else running(past),
    )


def of_currency(posted: pa.Table, currency: str) -> pa.Table:
    return posted.filter(pc.equal(posted["currency"], currency))


def running(posted: pa.Table) -> dict[str, Decimal]:
    """What it had come to at the end of each day that something is posted for; in the end to the whole, as it is rounded."""
    days = [(day, amount) for (day,), amount in grouped(posted, ("day",)).items()]
    sums = accumulate((amount for _, amount in days), lambda so_far, more: total([so_far, more]))
    found = dict(zip((day for day, _ in days), sums, strict=True))
    return found | ({days[-1][0]: summed(posted)} if days else {})


def by_day(days: Mapping[str, Decimal], period: Period) -> dict[int, Decimal]:
    """A running sum on each day of a month, up to the last that something is posted for; what is posted for days outside counts at its ends."""
    found: dict[int, Decimal] = {}
    first, last = period.first_day.isoformat(), period.last_day.isoformat()
    for day, amount in days.items():
        found[int(min(max(day, first), last)[-2:])] = amount
    sums: dict[int, Decimal] = {}
    for number in range(1, max(found, default=0) + 1):
        sums[number] = found.get(number, sums.get(number - 1, ZERO))
    return sums


def wasted(record: Record, posted: pa.Table, by: str = "") -> dict[str, Decimal]:
    """What was paid for holding without use, in all (under "") or by a column of the charges."""
    charges = charges_in(record, posted["bill"])
    charges = charges.filter(pc.is_valid(charges["waste"]))
    keys = [by] if by else []
    rows = charges.select([*keys, "waste"]).group_by(keys).aggregate([("waste", "sum")]).to_pylist()
    return {row[by] if by else "": row["waste_sum"] for row in rows if row["waste_sum"] is not None}


def sentence(verb: str, period: str, made: Account) -> str:
    """`vision owes 1.00 USD for 2026-10, 0.20 USD more than the month before; most of it is h100.`"""
    text = f"{verb} {shown(made.owed, made.currency)} for {period}"
    if made.change is not None:
        more = "more than" if made.change > 0 else "less than"
        text += (
            f", {shown(abs(made.change), made.currency)} {more} the month before"
            if made.change
            else ", as the month before"
        )
    pool = next(iter(made.pools), "")
    if pool and made.owed > 0 and made.pools[pool] > 0:
        most = "most of it" if made.pools[pool] > made.owed * HALF else "the largest part"
        text += f"; {most} is {pool}"
    return f"{text}."


def standings(now: Record, before: Record | None) -> Report:
    """Every team of a record, the largest first, with its share, its change to the month before and its waste."""
    sections, sentences = [], []
    for currency, posted in by_currency(now.posted):
        rows = standing_rows(now, posted, None if before is None else of_currency(before.posted, currency))
        if not rows:
            continue
        owed = total(map(amount_of, rows))
        made, part = section(currency, owed, COLUMNS, rows), share_of(owed, summed(posted))
        place = [column.name for column in COLUMNS].index("share")
        sections.append(replace(made, totals=(*made.totals[:place], part, *made.totals[place + 1 :])))
        many = "s" if len(rows) == 1 else ""
        sentences.append(
            f"{counted(len(rows), 'team')} owe{many} {shown(owed, currency)} for {now.period}"
            + (f"; {rows[0]['owner']} owes the most ({shown(amount_of(rows[0]), currency)})." if len(rows) > 1 else ".")
        )
    title = " ".join(sentences) or f"No team owes anything for {now.period}."
    return Report("teams", title, now.period, COLUMNS, tuple(sections), now.head, now.policies)


def amount_of(row: Mapping[str, Cell]) -> Decimal:
    amount = row["amount"]
    return amount if isinstance(amount, Decimal) else ZERO


def standing_rows(now: Record, posted: pa.Table, before: pa.Table | None) -> list[dict[str, Cell]]:
    """Shares are of everything in the record, as `showback` says them."""
    amounts, past = by_team(posted), {} if before is None else by_team(before)
    wastes, whole = wasted(now, posted, "team"), summed(posted)
    rows: list[dict[str, Cell]] = []
    for team in sorted({*amounts, *past}, key=lambda team: (-amounts.get(team, ZERO), team)):
        amount, was = amounts.get(team, ZERO), None if before is None else past.get(team, ZERO)
        change = None if was is None else less(amount, was)
        share = share_of(amount, whole)
        rows.append({"owner": team, "amount": amount, "share": share, "before": was, "change": change, "waste": wastes.get(team)})  # fmt: skip
    return rows


def by_team(posted: pa.Table) -> dict[str, Decimal]:
    return {team: amount for (team,), amount in grouped(posted, ("team",)).items() if team not in SYSTEM_OWNERS}


def top_runs(charged: pa.Table, currency: str) -> list[dict[str, Cell]]:
    """The runs that were charged the most. `charged` has run, name, owner, currency, amount and waste."""
    keys = ["run", "name", "team", "project", "user"]
    mine = charged.filter(pc.equal(charged["currency"], currency))
    sums = mine.group_by(keys).aggregate([("amount", "sum"), ("waste", "sum")])
    some = sums.sort_by([("amount_sum", "descending"), ("run", "ascending")]).slice(0, TOP).to_pylist()
    return [{**{key: row[key] for key in keys}, "amount": row["amount_sum"], "waste": row["waste_sum"]} for row in some]
