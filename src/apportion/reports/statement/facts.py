"""What the statements of a period are made of: every figure of every owner once, in whole minor units. A statement only adds them up."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import MONEY, TEXT, WHOLE, table
from apportion.reports.statement.shape import AcceptedFinding, Budget, Rule

OWNER = ("cost_centre", "department", "team", "project", "user")
FACETS = (
    "phase",
    "framework",
    "family",
    "model",
    "experiment",
    "outcome",
)  # trials are runs, which have lines of their own
KEYS: Mapping[str, tuple[str, ...]] = {
    "cost_centre": ("cost_centre",),
    "department": ("department",),
    "team": ("team",),
    "project": ("team", "project"),
    "user": ("user",),
}

# What is owed. `of` is the system's owner that somebody carries, `run` and `kind` a run that is no plan, `charged` whether it is booked.
PLACED = table(
    ("bill", TEXT),
    ("currency", TEXT),
    *((name, TEXT) for name in OWNER),
    ("component", TEXT),
    ("pool", TEXT),
    ("reason", TEXT),
    ("cause", TEXT),
    ("of", TEXT),
    ("run", TEXT),
    ("kind", TEXT),
    ("charged", pa.bool_()),
    ("amount", pa.int64()),
)
CHANGES = table(
    ("currency", TEXT), *((name, TEXT) for name in OWNER), ("pool", TEXT), ("driver", TEXT), ("amount", pa.int64())
)
# What workloads held, used and were charged, exactly as the charges say; hours are `held` seconds of `per_unit`.
WORK = table(
    ("currency", TEXT),
    *((name, TEXT) for name in OWNER),
    ("pool", TEXT),
    ("workload", TEXT),
    ("unit", TEXT, True),
    ("per_unit", WHOLE, True),
    ("unit_seconds", WHOLE, True),
    ("held", WHOLE, True),
    ("used", WHOLE, True),
    ("unmeasured", WHOLE, True),
    ("amount", MONEY),
    ("waste", MONEY, True),
)
WASTE = table(("currency", TEXT), *((name, TEXT) for name in OWNER), ("pool", TEXT), ("amount", pa.int64()))
FACETED = table(
    ("currency", TEXT), *((name, TEXT) for name in OWNER), ("facet", TEXT), ("value", TEXT), ("amount", pa.int64())
)
CARRIED = table(("currency", TEXT), *((name, TEXT) for name in OWNER), ("amount", pa.int64()))
WAS = table(("currency", TEXT), *((name, TEXT) for name in OWNER), ("run", TEXT), ("amount", MONEY))


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that is no plan: what it is about, why, and the run whose figures it replaces."""

    about: str
    cause: str
    before: str


@dataclass(frozen=True, slots=True)
class Sponsored:
    """What the policy, or whoever decided, says of an adjustment: who pays, why, and of what was decided once who received it.

    Of a reclass `receiver` is whom it stood with, and `sponsor` whom it stands with now.

    `is_capped`: a cap bounds the own charges of whoever pays.
    """

    sponsor: str
    why: str
    approver: str = ""
    until: str = ""
    receiver: str = ""
    is_capped: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """What a statement says besides figures. Budgets are in `currency`, the policy's."""

    period: str
    currency: str
    issuer: str
    issued: str
    head: str
    policy: str
    basis: str
    dispute: str


@dataclass(frozen=True, slots=True)
class Announced:
    """Rules to come: what they are called, the version of what they say, and the last month that they are shown beside."""

    policy: str
    version: str
    until: str


@dataclass(frozen=True, slots=True)
class Coming:
    """The period by rules to come: what would be owed (None where they cannot be applied to it), and why it is another amount than what is owed."""

    said: Announced
    now: pa.Table | None
    changes: pa.Table
    carried: pa.Table


@dataclass(frozen=True, slots=True)
class Facts:
    """`before` is None where nothing was posted in the period before; `carried` is booked for owners who are only shown their cost.

    `was` is what corrected figures were, `names` are those of workloads. Transfers between owners are known by pool, cause and run.
    """

    words: Words
    now: pa.Table
    before: pa.Table | None
    changes: pa.Table
    work: pa.Table
    waste: pa.Table
    faceted: pa.Table
    was: pa.Table
    carried: pa.Table
    names: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, Ran] = field(default_factory=dict)
    sponsored: Mapping[tuple[str, str, str], Sponsored] = field(default_factory=dict)
    receivers: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    budgets: Mapping[tuple[str, str], tuple[Budget, ...]] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    coming: Coming | None = None
    late: pa.Table = field(default_factory=PLACED.empty_table)  # what of `now` is for days of other months
    accepted: tuple[tuple[frozenset[str], AcceptedFinding], ...] = ()  # with the pools that each concerns

    def only(self, level: str, owner: str) -> "Facts":
        """Those of one owner: the same figures, quicker than everybody's."""
        parts = owner.split("/", 1) if level == "project" else [owner]

        def own(rows: pa.Table) -> pa.Table:
            for name, wanted in zip(KEYS[level], parts, strict=True):
                rows = rows.filter(pc.equal(rows[name], wanted))
            return rows

        names = ("now", "late", "changes", "work", "waste", "faceted", "was", "carried")
        tables = {name: own(getattr(self, name)) for name in names}
        coming = self.coming
        if coming is not None:
            now = None if coming.now is None else own(coming.now)
            coming = replace(coming, now=now, changes=own(coming.changes), carried=own(coming.carried))
        return replace(self, **tables, before=None if self.before is None else own(self.before), coming=coming)

    def sponsor(self, pool: str, cause: str, run: str) -> Sponsored:
        """Who pays for an adjustment: as the run says that made it, or the pool's own rules, or those of all pools."""
        for key in ((pool, cause, run), ("", "", run), (pool, cause, ""), ("", cause, "")):
            if any(key) and key in self.sponsored:
                return self.sponsored[key]
        return Sponsored("", cause)
