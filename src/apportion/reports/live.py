"""What a running month comes to so far: partly billed, partly estimated, and never without saying which."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.money import for_reading, to_decimal, to_grains
from apportion.model.result import Result
from apportion.model.rows import POSTINGS, SYSTEM_OWNERS, TEXT
from apportion.model.times import Period
from apportion.reports.groups import Where, chosen, first_column, names, system_rank
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import by_currency, grouped, section, summed
from apportion.reports.words import counted, shown

BILLED, LISTED, ESTIMATED, CARRIED, UNKNOWN = "billed", "price list", "estimated", "carried over", "no price yet"
ROWS = pa.schema([*POSTINGS, pa.field("basis", TEXT, nullable=False)])
BY = ("team", "pool", "project", "day")


@dataclass(frozen=True, slots=True)
class PoolBasis:
    """What a pool's figures rest on. `price` is per `unit`, what it came to in `month`; None where there is none."""

    pool: str
    basis: str
    price: Fraction | None = None
    unit: str = ""
    month: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SourceReach:
    """The last day of which everything that a source can say is in the books; None where there is no such day in the month."""

    source: str
    complete_to: date | None


def known_through(sources: Iterable[SourceReach]) -> date | None:
    """The last day that is complete in every source that brings usage or bills of a month."""
    ends = [one.complete_to for one in sources]
    known = [end for end in ends if end is not None]
    return min(known) if ends and len(known) == len(ends) else None


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Result):
    """`rows` are postings until `today` that were never posted, each with what it rests on; `later` what bills hold for days after it already.
    `price_currency` is that of the unit prices.
    """

    period: Period
    today: date
    rows: pa.Table
    pools: tuple[PoolBasis, ...]
    sources: tuple[SourceReach, ...]
    price_currency: str
    policy: str = ""
    later: pa.Table = field(default_factory=ROWS.empty_table)

    @property
    def complete_to(self) -> date | None:
        return known_through(self.sources)

    @property
    def complete_days(self) -> int:
        return self.complete_to.day if self.complete_to else 0

    @property
    def days(self) -> int:
        return self.period.last_day.day


def narrowed(made: Estimate, where: Where) -> Estimate:
    """Only what some groups are charged, and only the pools that charge them."""
    if not where:
        return made
    rows = chosen(made.rows, where)
    own = set(pc.unique(rows["pool"]).to_pylist())
    return replace(
        made, rows=rows, later=chosen(made.later, where), pools=tuple(one for one in made.pools if one.pool in own)
    )


def live_report(made: Estimate, by: str = "team") -> Report:
    """By team, pool, project or day: so far, what of it is from bills, and where a straight line leads."""
    first = first_column(by)
    columns = (
        first,
        Column("amount", "estimated so far", "money"),
        Column("billed", "of it billed", "money"),
        *(() if by == "day" else (Column("projected", "projected", "money"),)),
        *((Column("state", "state"),) if by == "day" else ()),
    )
    sections = [
        section(currency, summed(part), columns, _rows(made, part, by, first.name))
        for currency, part in by_currency(made.rows)
        if is_money(currency)
    ]
    more = {
        "estimated": True,
        "complete_to": str(made.complete_to or ""),
        "today": str(made.today),
        "prices": [_priced(made, one) for one in made.pools],
        "sources": [{"source": one.source, "complete_to": str(one.complete_to or "")} for one in made.sources],
    }
    return Report(
        "live",
        title(made),
        str(made.period),
        columns,
        tuple(sections),
        "",
        (made.policy,) if made.policy else (),
        notes(made),
        more,
    )


def _priced(made: Estimate, one: PoolBasis) -> dict[str, str]:
    return {
        "pool": one.pool,
        "basis": one.basis,
        "price": price_text(one, made.price_currency),
        "exact": "" if one.price is None else str(one.price),
        "of": one.month,
        "note": one.note,
    }


def _rows(made: Estimate, part: pa.Table, by: str, first: str) -> list[dict[str, Cell]]:
    table = part.append_column("name", names(part, by))
    sums = grouped(table, ("name",))
    billed = grouped(table.filter(pc.equal(table["basis"], BILLED)), ("name",))
    straight = projections(made, table)
    rows: list[dict[str, Cell]] = [
        {
            first: name,
            "amount": amount,
            "billed": billed.get((name,), Decimal(0)),
            "projected": straight.get(name),
            "state": "complete" if made.complete_to and name <= str(made.complete_to) else "incomplete",
        }
        for (name,), amount in sums.items()
    ]
    if by != "day":
        rows.sort(key=lambda row: (system_rank(str(row[first])), -Decimal(str(row["amount"])), str(row[first])))
    return rows


def projections(made: Estimate, named: pa.Table) -> dict[str, Decimal]:
    """A straight line: what the complete days came to, times the days of the month over them. Nothing where none is complete."""
    if not made.complete_days:
        return {}
    complete = named.filter(pc.less_equal(named["day"], pa.scalar(made.complete_to, pa.date32())))
    found = {name: Fraction(0) for name in pc.unique(named["name"]).to_pylist()}
    found |= {name: Fraction(to_grains(amount)) for (name,), amount in grouped(complete, ("name",)).items()}
    return {name: to_decimal(round(grains * made.days / made.complete_days)) for name, grains in found.items()}


def projected(made: Estimate, currency: str) -> Decimal | None:
    """Of all rows together."""
    part = made.rows.filter(pc.equal(made.rows["currency"], currency))
    return projections(made, part.append_column("name", pa.repeat("", len(part)))).get("")


def title(made: Estimate) -> str:
    sums = {unit: amount for (unit,), amount in grouped(made.rows, ("currency",)).items() if is_money(unit)}
    money = " and ".join(shown(amount, unit) for unit, amount in sums.items())
    if not money:
        return f"Nothing can be said of {made.period} yet."
    until = f"complete to {made.complete_to}" if made.complete_to else "no day is complete yet"
    if all(one.basis == BILLED for one in made.pools):
        return f"So far in {made.period}: about {money}, estimated from bills; {until}."
    months = sorted({one.month for one in made.pools if one.basis in (ESTIMATED, CARRIED)})
    at = f" at the prices of {months[0]}" if len(months) == 1 else " at the last settled prices" if months else ""
    return f"So far in {made.period}: about {money}, estimated{at}; {until}."


def notes(made: Estimate) -> tuple[str, ...]:
    straight = (
        f"Projected is a straight line: {counted(made.complete_days, 'complete day')} over {made.days} days."
        if made.complete_days
        else "Without a complete day nothing is projected."
    )
    said: dict[str, list[str]] = {}
    for one in made.pools:
        said.setdefault(one.note, []).append(one.pool)
    return (
        "Estimated: nothing of this is posted, and bills will differ.",
        straight,
        *(f"{', '.join(pools)}: {note}." for note, pools in said.items() if note),
    )


def price_text(one: PoolBasis, currency: str) -> str:
    """`2.0441 USD per GPU-hour`."""
    if one.price is None:
        return ""
    return f"{for_reading(one.price):f} {currency} per {one.unit}"


def by_day(made: Estimate, currency: str) -> dict[tuple[str, str], Decimal]:
    """(day, team) -> amount, of one currency."""
    sums = grouped(made.rows, ("day", "team", "currency"))
    return {(day, team): amount for (day, team, unit), amount in sums.items() if unit == currency}


def teams_of(made: Estimate) -> set[str]:
    return set(pc.unique(made.rows["team"]).to_pylist()) - set(SYSTEM_OWNERS)
