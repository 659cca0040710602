"""The views for other people's tools: their names, their columns and what each means.

A promise: names, columns and meanings of a version stay. What is new is added at the end; what would mean something else gets another name.
"""

from dataclasses import dataclass

VERSION = 1

TEXT, DATE, MOMENT, FLAG, COUNT, MONEY, APPROX = "text", "date", "moment", "flag", "count", "money", "approximate"
TYPES = {  # what a column is in each database
    TEXT: ("text", "TEXT"),
    DATE: ("date", "TEXT, as 2026-10-31"),
    MOMENT: ("timestamp with time zone", "TEXT, as 2026-10-31T23:59:59Z"),
    FLAG: ("boolean", "INTEGER, 0 or 1"),
    COUNT: ("bigint", "INTEGER"),
    MONEY: ("numeric(38,18)", "TEXT, every digit"),
    APPROX: ("double precision", "REAL"),
}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    meaning: str


@dataclass(frozen=True, slots=True)
class View:
    """`personal` tells of people by name: it is granted only to who is to see them."""

    name: str
    about: str
    columns: tuple[Column, ...]
    personal: bool = False


def money(name: str, meaning: str) -> tuple[Column, Column]:
    """Exact, and beside it as tools without decimals read it."""
    return Column(name, MONEY, meaning), Column(
        f"{name}_approx", APPROX, f"`{name}` as a binary number: for charts only"
    )


PERIOD = Column("period", TEXT, "the month that it is booked in, as 2026-10")
MONTH = Column("month", DATE, "the first day of `period`")
DAY = Column("day", DATE, "the day of the usage, in the policy's time zone; it may lie outside the period")
BILL = Column("bill", TEXT, "issuer, month and currency of the bill")
CURRENCY = Column("currency", TEXT, "never add up two: ISO 4217, or gCO2e and kWh for what is carried beside money")
IS_MONEY = Column("is_money", FLAG, "whether `currency` is money")
COMPONENT = Column("component", TEXT, "compute, storage, network, licence, energy, support or other")
POOL = Column("pool", TEXT, "the pool of the policy that shared it; empty for what belongs to none")
REASON = Column("reason", TEXT, "usage, burst, idle, overhead, credit, adjustment, subsidy, rounding or recovery")
CAUSE = Column("cause", TEXT, "why, where the reason has several: of idle unsold, reserved, held or down")
COST_CENTRE = Column("cost_centre", TEXT, "of the team, by the policy in force when it was posted")
DEPARTMENT = Column("department", TEXT, "of the team, by the policy in force when it was posted")
TEAM = Column("team", TEXT, "who owes it; `_idle`, `_unallocated` and `_residual` are the system's own")
PROJECT = Column("project", TEXT, "of the team; empty where there is none")
OWNER_KIND = Column("owner_kind", TEXT, "team, idle, unallocated or residual: per bill they add up to the bill")
POSTINGS = Column("postings", COUNT, "how many postings it is the sum of")
POLICY = Column("policy_version", TEXT, "the version of the policy")
USER = Column(
    "user_token",
    TEXT,
    "who used it, as a pseudonym that stays the same; empty where nobody is known; `(named)` in runs of books made before there were pseudonyms",
)

VIEWS = (
    View(
        "apportion_postings",
        "Every posting of the owners' side of the ledger, corrections and credits included, with every digit.",
        (
            Column("posting", COUNT, "its number in the ledger, as `apportion ledger` has it"),
            PERIOD,
            MONTH,
            Column("about_period", TEXT, "the month that it is about: another than `period` only in corrections of closed months"),
            DAY, BILL, CURRENCY, IS_MONEY, COMPONENT, POOL, REASON, CAUSE, COST_CENTRE, DEPARTMENT, TEAM, PROJECT, USER, OWNER_KIND,
            *money("amount", "what is owed; below 0 where something is taken back"),
            Column("run", TEXT, "the run that posted it"),
            Column("kind", TEXT, "of the run: plan, correction, credit or reclass"),
            Column("posted_at", MOMENT, "when it was posted"),
        ),
    ),
    View(
        "apportion_daily",
        "Postings added up by day and owner, without users, with every digit: for what is told by day.",
        (
            PERIOD, MONTH, DAY, CURRENCY, IS_MONEY, COMPONENT, POOL, REASON, COST_CENTRE, DEPARTMENT, TEAM, PROJECT, OWNER_KIND,
            *money("amount", "what is owed"),
            POSTINGS,
        ),
    ),
    View(
        "apportion_amounts",
        "What each month comes to in whole cents: its sums by owner, pool, component, reason or cause are those of reports, statements and the journal.",
        (
            PERIOD, MONTH, BILL, CURRENCY, IS_MONEY, COMPONENT, POOL, REASON, CAUSE, COST_CENTRE, DEPARTMENT, TEAM, PROJECT, USER, OWNER_KIND,
            *money("amount", "what is owed, with the digits of its currency"),
        ),
    ),
    View(
        "apportion_idle",
        "What stood idle, whoever it was posted to: all with reason idle, and all that stays with `_idle`.",
        (
            PERIOD, MONTH, DAY, CURRENCY, IS_MONEY, COMPONENT, POOL, CAUSE, TEAM, OWNER_KIND,
            *money("amount", "what the idle capacity cost"),
            POSTINGS,
        ),
    ),
    View(
        "apportion_bills",
        "Every bill of every month that it is booked in: what it came to, and what is posted of it. The difference is 0.",
        (
            PERIOD, MONTH, BILL,
            Column("issuer", TEXT, "who sent the bill"),
            Column("bill_currency", TEXT, "the currency that it was sent in"),
            CURRENCY, IS_MONEY,
            *money("total", "what its cost lines came to when they were last counted, with the corrections that are booked in this month"),
            *money("posted", "what is posted of it"),
            *money("difference", "`total` less `posted`"),
        ),
    ),
    View(
        "apportion_owners",
        "Who was charged in which month, with the department and cost centre that the policy in force gave them.",
        (
            PERIOD, MONTH, COST_CENTRE, DEPARTMENT, TEAM, PROJECT, OWNER_KIND,
            Column("first_day", DATE, "the first day of usage"),
            Column("last_day", DATE, "the last day of usage"),
            POSTINGS,
        ),
    ),
    View(
        "apportion_budgets",
        "Budgets of every month in which something is posted, with what was spent. A project's is part of its team's: do not add them up.",
        (
            PERIOD, MONTH, TEAM,
            Column("project", TEXT, "empty: the team as a whole"),
            CURRENCY,
            Column("since", TEXT, "the month from which it holds"),
            *money("budget", "for the month"),
            *money("spent", "what is posted in the month"),
            *money("remaining", "`budget` less `spent`; below 0 where more was spent"),
        ),
    ),
    View(
        "apportion_periods",
        "Every month in which something is posted: open or closed, and where the ledger stands.",
        (
            PERIOD, MONTH,
            Column("status", TEXT, "open or closed"),
            Column("closed_at", MOMENT, "when it was closed; null while it is open"),
            Column("runs", COUNT, "how many runs are booked in it"),
            Column("last_posted_at", MOMENT, "when its last run was posted"),
            Column("policy_version", TEXT, "the version of the policy of its last run"),
            Column("head", TEXT, "the hash of the last link of its last run, as reports print it"),
        ),
    ),
    View(
        "apportion_statements",
        "The statements of closed months; amounts have the digits of their currency, such as 12.30 USD.",
        (
            PERIOD, MONTH,
            Column("level", TEXT, "whose it is: organisation, cost_centre, department, team, project or user"),
            Column("owner", TEXT, "its name at that level; a user's pseudonym"),
            CURRENCY,
            Column("number", COUNT, "of the invoice; 0 where nothing is charged"),
            Column("invoice", TEXT, "the number as it is printed; empty where nothing is charged"),
            *money("charged", "what is charged: 0 for a team in showback"),
            Column("sha256", TEXT, "of its text, which the ledger's link of the close holds"),
            Column("closed_at", MOMENT, "when it was issued"),
        ),
    ),
    View(
        "apportion_runs",
        "Every run of the ledger: what was posted or closed, when and by which policy.",
        (
            Column("run", TEXT, "its name"),
            PERIOD, MONTH,
            Column("kind", TEXT, "plan, correction, credit, reclass or close"),
            Column("about_period", TEXT, "the month that it is about: another than `period` only in corrections of closed months"),
            POLICY,
            Column("plan_digest", TEXT, "of the plan that it posted; empty where there was none"),
            Column("engine", TEXT, "where it was computed"),
            Column("entries", COUNT, "its links in the ledger, both sides"),
            Column("head", TEXT, "the hash of its last link"),
            Column("posted_at", MOMENT, "when it was posted"),
        ),
    ),
    View(
        "apportion_evidence",
        "Where the published state of each table of evidence lies, for tools that read Iceberg.",
        (
            Column("table_name", TEXT, "cost_lines, usage, capacity, reservations, workloads, rates or charges"),
            Column("snapshot_id", COUNT, "Iceberg's snapshot"),
            Column("row_count", COUNT, "its rows"),
            Column("published_at", MOMENT, "when it was published"),
            Column("metadata", TEXT, "Iceberg's metadata file, in the warehouse as it was named when the books were made"),
        ),
    ),
    View(
        "apportion_users",
        "Whose pseudonyms are, month by month, as long as names are not erased. Join it by `about_period` and `user_token`.",
        (
            Column("about_period", TEXT, "the month"),
            Column("user_token", TEXT, "the pseudonym"),
            Column("name", TEXT, "the user's name"),
        ),
        personal=True,
    ),
)  # fmt: skip
