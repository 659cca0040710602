"""One job's part of what its team owes: its own charges, and its share of the team's idle, overhead, credits and adjustments.

Charges are the ledger's evidence and exact. The rest is posted to owners, not to jobs; a job's share of it is by its charges: of idle in the
same pool, of credits and adjustments in the same pool, day and owner (credits only among jobs with that outcome), of overhead over all pools.
Shares are rounded to nanos; nothing is computed from them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import NANO, from_nanos
from apportion.model.rows import IDLE
from apportion.reports.sums import total

Sums = defaultdict[tuple[Any, ...], Fraction]
LEAF = ("team", "project", "user")
PART_OF = {("burst", ""): "usage", ("credit", "lent"): "idle"}  # a charge covers both; what was lent was not idle


@dataclass(frozen=True, slots=True)
class JobLine:
    """`credits` and `adjustments` are what others pay (negative). `unshared_idle` is what more it would be if `_idle` were shared by use."""

    workload: str
    currency: str
    direct: Decimal
    idle: Decimal
    overhead: Decimal
    credits: Decimal
    adjustments: Decimal
    unshared_idle: Decimal
    waste: Decimal | None = None  # of the charges and of idle, what paid for holding without use

    @property
    def with_idle(self) -> Decimal:
        return total([self.direct, self.idle])

    @property
    def with_overhead(self) -> Decimal:
        return total([self.direct, self.idle, self.overhead])

    @property
    def owed(self) -> Decimal:
        return total([self.direct, self.idle, self.overhead, self.credits, self.adjustments])


@dataclass(frozen=True, slots=True)
class Shared:
    """What is shared among jobs, of one currency: posted sums by reason, and the charges that say who takes which part."""

    posted: Mapping[str, Sums]
    charged: Mapping[str, Sums]


def job_lines(charges: pa.Table, ids: Iterable[str], postings: pa.Table, outcomes: Mapping[str, str]) -> list[JobLine]:
    """One line per workload of `ids` and currency. `charges` and `outcomes` are those of all workloads of the same owners."""
    bills = postings.group_by(["bill", "currency"]).aggregate([])
    currencies = dict(zip(bills["bill"].to_pylist(), bills["currency"].to_pylist(), strict=True))
    ended = [outcomes.get(workload, "") for workload in charges["workload"].to_pylist()]
    rows = charges.append_column("outcome", pa.array(ended, pa.string()))
    own = rows.filter(pc.is_in(rows["workload"], pa.array(sorted(set(ids)), pa.string()))).to_pylist()
    made = []
    for currency in sorted({currencies[row["bill"]] for row in own}):
        mine = pa.array([bill for bill, of in currencies.items() if of == currency], pa.string())
        here = rows.filter(pc.is_in(rows["bill"], mine))
        posted = postings.filter(pc.equal(postings["currency"], currency))
        shared = Shared(add_postings(posted, pc.unique(here["team"]).to_pylist()), add_charges(here))
        by_workload: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for row in own:
            if currencies[row["bill"]] == currency:
                by_workload[row["workload"]].append(row)
        made += [job_line(workload, currency, found, shared) for workload, found in sorted(by_workload.items())]
    return made


def add_postings(postings: pa.Table, teams: Iterable[str]) -> dict[str, Sums]:
    """Usage and idle by (team, pool); overhead and cost by (team,); central idle and use by (pool,); credit and adjustment by their leaf.

    Leaves count inside `teams` alone; of others only sums of their pools are asked for.
    """
    sums: dict[str, Sums] = defaultdict(lambda: defaultdict(Fraction))
    for row in leaves(postings, teams):
        amount, team, pool = Fraction(row["amount_sum"]), row["team"], row["pool"]
        reason = PART_OF.get((row["reason"], row["cause"]), PART_OF.get((row["reason"], ""), row["reason"]))
        leaf = (pool, row["day"], *(row[name] for name in LEAF))
        sums[reason][team, pool] += amount
        if reason in ("usage", "idle"):
            sums["cost"][team,] += amount
        if reason == "usage":
            sums["used"][pool,] += amount
            sums["leaf"][leaf] += amount
        elif reason == "idle" and team == IDLE:
            sums["unshared"][pool,] += amount
        elif reason == "overhead":
            sums["overheads"][team,] += amount
        elif reason in ("credit", "adjustment"):
            sums[f"{reason}s"][(*leaf, row["cause"]) if reason == "credit" else leaf] += amount
    return sums


def leaves(postings: pa.Table, teams: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Sums of postings: of some teams to the day and the user, of others without."""
    keys, blank = ["reason", "cause", "pool", "team"], {"day": None, "project": "", "user": ""}
    own = pc.is_in(postings["team"], pa.array(sorted(set(teams)), pa.string()))
    for rows, more in ((postings.filter(own), list(blank)), (postings.filter(pc.invert(own)), [])):
        sums = rows.select([*keys, *more, "amount"]).group_by([*keys, *more]).aggregate([("amount", "sum")])
        yield from (blank | row for row in sums.to_pylist())


def add_charges(charges: pa.Table) -> dict[str, Sums]:
    """Charges by leaf and outcome: what a credit for that outcome is shared by."""
    keys = ["pool", "day", *LEAF, "outcome"]
    sums = charges.group_by(keys).aggregate([("amount", "sum")])
    found = zip(zip(*(sums[key].to_pylist() for key in keys), strict=True), sums["amount_sum"].to_pylist(), strict=True)
    return {"outcome": defaultdict(Fraction, {key: Fraction(amount) for key, amount in found})}


def job_line(workload: str, currency: str, rows: list[Mapping[str, Any]], shared: Shared) -> JobLine:
    posted, charged = shared.posted, shared.charged
    idle = unshared = credit = adjustment = direct = overhead = Fraction(0)
    for row in rows:
        amount, team, pool = Fraction(row["amount"]), row["team"], row["pool"]
        leaf = (pool, row["day"], *(row[name] for name in LEAF))
        mine = part(posted["idle"][team, pool], amount, posted["usage"][team, pool])
        direct += amount
        idle += mine
        unshared += part(posted["unshared"][pool,], amount, posted["used"][pool,])
        overhead += part(posted["overheads"][team,], amount + mine, posted["cost"][team,])
        credit += part(posted["credits"][*leaf, row["outcome"]], amount, charged["outcome"][*leaf, row["outcome"]])
        adjustment += part(posted["adjustments"][leaf], amount, posted["leaf"][leaf])
    figures = map(to_nanos, (direct, idle, overhead, credit, adjustment, unshared))
    wastes = [row["waste"] for row in rows if row.get("waste") is not None]
    return replace(JobLine(workload, currency, *figures), waste=total(wastes) if wastes else None)


def part(whole: Fraction, mine: Fraction, everybody: Fraction) -> Fraction:
    """A part in proportion; nothing where nobody was charged or the job's charge runs against the sum (a correction)."""
    return whole * mine / everybody if whole and everybody else Fraction(0)


def to_nanos(amount: Fraction) -> Decimal:
    return from_nanos(round(amount * NANO))
