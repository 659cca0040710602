"""What does the cluster cost, and who pays for it?"""

from apportion.integrations.grafana.dashboards import DATASOURCE, Dashboard, Row, choice
from apportion.integrations.grafana.panels import (
    MONEY,
    POOL_PAGE,
    SHARE,
    TEAM_PAGE,
    bars,
    cells,
    columns,
    donut,
    judged,
    leading,
    lines,
    matrix,
    now,
    of_month,
    over_time,
    stat,
    table,
)

COST = 'apportion_month_cost{state="$state", currency="$currency"}'
IDLE = 'apportion_idle_cost{state="$state", currency="$currency"}'
STATE = choice("state", "State", "estimated", "posted")
QUOTA = "(apportion_quota_used + apportion_quota_reserved) / (apportion_quota_size > 0)"
BUDGET = (
    'apportion_budget_spent{state="$state", currency="$currency"}'
    ' / on (period, team, project, currency) group_left () (apportion_budget_amount{currency="$currency"} > 0)'
)

FIRST = Row(
    "The month",
    (
        of_month(
            stat(
                "What does the newest month with usage come to so far?",
                now('sum by (period) (apportion_month_cost{state="estimated", currency="$currency"})'),
                MONEY,
                "Estimated: bills will differ. Which month it is stands beside the figure.",
                5,
            )
        ),
        of_month(
            stat(
                "Where does it end, by its forecast?",
                now('sum by (period) (apportion_month_projected_cost{currency="$currency"})'),
                MONEY,
                "What the complete days came to, for all days.",
                5,
            )
        ),
        of_month(
            stat(
                "What did the newest posted month come to?",
                now('sum by (period) (apportion_month_cost{state="posted", currency="$currency"})'),
                MONEY,
                "As it is in the ledger.",
                5,
            )
        ),
        judged(
            of_month(
                stat(
                    "How much paid for idle capacity?",
                    now(f"sum by (period) ({IDLE}) / sum by (period) ({COST})"),
                    SHARE,
                )
            ),
            0.15,
            0.3,
        ),
        judged(
            of_month(
                stat(
                    "How much belongs to nobody?",
                    now(
                        'sum by (period) (apportion_coverage_ratio{state="$state", side="unallocated", currency="$currency"})'
                    ),
                    SHARE,
                    width=5,
                )
            ),
            0.02,
            0.05,
        ),
    ),
)
WHO = Row(
    "Who and what",
    (
        lines(
            "How does the month grow, by team?",
            over_time(f"sum by (team) ({COST})", "{{team}}"),
            MONEY,
            "What nobody used or owns is grey.",
            stacked=True,
        ),
        leading(bars("Who owes how much?", now(f"sort_desc(sum by (team) ({COST}))", "{{team}}"), MONEY), TEAM_PAGE),
        leading(
            donut("Which pools does the money go to?", now(f"sum by (pool) ({COST})", "{{pool}}"), MONEY), POOL_PAGE
        ),
        matrix(
            table("Who pays for which pool?", [cells(f"sum by (team, pool) ({COST})")], width=16),
            "team",
            "pool",
            MONEY,
        ),
    ),
)
BOUNDS = Row(
    "Bounds and prices",
    (
        judged(
            bars(
                "Which quotas are nearly used up?",
                now(f"sort_desc({QUOTA})", "{{owner}}: {{of}} {{pool}} per {{per}}"),
                SHARE,
                "Used and reserved, of the window of today.",
            ),
            0.8,
            1,
        ),
        judged(
            bars("Which budgets are nearly spent?", now(f"sort_desc({BUDGET})", "{{team}} {{project}}"), SHARE), 0.8, 1
        ),
        columns(
            table(
                "What does a unit cost in this hour?",
                [cells('apportion_pool_price{currency="$currency"}')],
                "Listed prices and those by rule are promises; expected ones are what such hours came to.",
            ),
            {"pool": "Pool", "with": "For work with", "per": "Per", "kind": "What it is", "Value": "Price"},
        ),
    ),
)
OVERVIEW = Dashboard(
    "overview",
    "Apportion: what does the cluster cost?",
    "The month so far and the last one that was posted. Floats for charts; the ledger is the truth.",
    (FIRST, WHO, BOUNDS),
    (DATASOURCE, STATE),
)
