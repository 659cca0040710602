"""All families there are, in the order in which they are told."""

from apportion.reports.metrics.family import Family

MONEY = ("period", "state", "team", "pool", "currency")

BUILD = Family("apportion_build_info", "The release that told this.", ("version",), "info")
COST = Family(
    "apportion_month_cost",
    "What the newest posted month (state posted) and the running month so far (state estimated) come to, by team and pool. "
    "The system's own owners (_idle, _unallocated, _residual) are teams here: all of a month add up to its bills.",
    MONEY,
)
PROJECTED = Family(
    "apportion_month_projected_cost",
    "Where the running month ends by its forecast. Never posted.",
    ("period", "team", "currency"),
)
COMPLETE = Family(
    "apportion_month_complete_timestamp_seconds",
    "The end of the last day of the running month that is complete in every source that brings usage.",
    ("period",),
    unit="seconds",
)
IDLE = Family(
    "apportion_idle_cost",
    "Idle cost: what of a month's cost paid for idle capacity, by who it was posted to, pool and cause.",
    ("period", "state", "team", "pool", "cause", "currency"),
)
COVERAGE = Family(
    "apportion_coverage_ratio",
    "Which part of a month's bills has an owner (side owners), stays with _idle (side idle), is unallocated or is left by rounding.",
    ("period", "state", "side", "currency"),
    unit="ratio",
    whole=True,
)
PRICE = Family(
    "apportion_pool_price",
    "What a unit of a pool costs in this hour. kind: listed, by rule, or expected; with: the labels of work that has a price of its own.",
    ("pool", "with", "per", "kind", "currency"),
)
MONTH_PRICE = Family(
    "apportion_pool_month_price",
    "What a unit of a pool came to on average over the month that is posted, and what the running month is estimated at.",
    ("period", "state", "pool", "per", "currency"),
)
CAPACITY = Family(
    "apportion_pool_capacity_seconds",
    "What became of a pool's capacity in the newest posted month, in seconds times units (3600 of GPU are a GPU-hour): "
    "used, unmeasured, held (without use), unheld (unsold, reserved or down).",
    ("period", "pool", "unit", "part"),
    unit="seconds",
)
QUOTA = ("owner", "team", "of", "pool", "per", "window", "unit")
QUOTA_SIZE = Family(
    "apportion_quota_size",
    "A quota in the window of today: its own, what was rolled over and borrowed, without what was lent; in the unit of the label.",
    QUOTA,
)
QUOTA_USED = Family(
    "apportion_quota_used",
    "What is used of it: posted where a month is over, else estimated.",
    QUOTA,
)
QUOTA_RESERVED = Family("apportion_quota_reserved", "What is set aside of it for jobs to come.", QUOTA)
BUDGET = Family(
    "apportion_budget_amount",
    "A budget for the newest posted and for the running month.",
    ("period", "team", "project", "currency"),
)
SPENT = Family(
    "apportion_budget_spent",
    "What is spent of a budget.",
    ("period", "state", "team", "project", "currency"),
)
REACH = Family(
    "apportion_source_reach_timestamp_seconds",
    "The end of what the books have of a source; 0 where it brought nothing.",
    ("source", "kind"),
    unit="seconds",
    whole=True,
)
RECEIVED = Family(
    "apportion_source_received_timestamp_seconds",
    "When a source last brought something; 0 where it never did.",
    ("source", "kind"),
    unit="seconds",
    whole=True,
)
BEHIND = Family(
    "apportion_source_behind_seconds",
    "What is due of a source and did not come. Files come when they come: only sources that are asked can be behind.",
    ("source", "kind"),
    unit="seconds",
    whole=True,
)
MISSING = Family(
    "apportion_source_missing_seconds",
    "The holes in what the books have of a source, before its end; in whole days.",
    ("source", "kind"),
    unit="seconds",
    whole=True,
)
PROBLEMS = Family("apportion_source_problem_rows", "Rows of a source with a problem.", ("source", "code"), whole=True)
HELD_BACK = Family(
    "apportion_source_held_back_rows",
    "Rows of a source that are held back, because two deliveries say different things.",
    ("source",),
    whole=True,
)
LEDGER = Family(
    "apportion_ledger_info",
    "Where the ledger stands: the hash over all that was posted. Kept elsewhere, it shows whether a tail was cut off (`apportion verify --head`).",
    ("head",),
    "info",
    whole=True,
)
RUNS = Family("apportion_ledger_runs_total", "How often something was posted.", ("kind",), "counter", whole=True)
LAST_RUN = Family(
    "apportion_ledger_last_run_timestamp_seconds",
    "When something was last posted.",
    ("kind",),
    unit="seconds",
    whole=True,
)
VERIFIED = Family(
    "apportion_ledger_verified_timestamp_seconds",
    "When the ledger was last looked through by whoever tells this.",
    unit="seconds",
    whole=True,
)
FINDINGS = Family(
    "apportion_ledger_verify_findings", "What was found wrong with the ledger then; 0 is fine.", whole=True
)
ROUND = Family(
    "apportion_round_timestamp_seconds",
    "When a round of `apportion sync` last ended, by how it ended: ok, failed or broken.",
    ("outcome",),
    unit="seconds",
    whole=True,
)
SUCCESS = Family(
    "apportion_collector_success",
    "Whether each kind of figure could be told: 1 yes, 0 no. What could not be told has no samples.",
    ("collector",),
)
COLLECTED = Family(
    "apportion_collected_timestamp_seconds",
    "When these figures were made. They stay as they are while the books do.",
    unit="seconds",
)

FAMILIES = (
    BUILD, COST, PROJECTED, COMPLETE, IDLE, COVERAGE, PRICE, MONTH_PRICE, CAPACITY, QUOTA_SIZE, QUOTA_USED, QUOTA_RESERVED, BUDGET, SPENT,
    REACH, RECEIVED, BEHIND, MISSING, PROBLEMS, HELD_BACK, LEDGER, RUNS, LAST_RUN, VERIFIED, FINDINGS, ROUND, SUCCESS, COLLECTED,
)  # fmt: skip
