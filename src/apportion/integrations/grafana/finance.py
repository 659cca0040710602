"""Does it add up, and who is charged? From the ledger alone: what is posted is restated there, and Prometheus cannot rewrite what it saw."""

from apportion.integrations.grafana.dashboards import LEDGER_SOURCE, Dashboard, Row, months_posted
from apportion.integrations.grafana.panels import COUNT, MONEY, Json, judged, months, rows, series, stat, table

CHOSEN = "period = ${period:sqlstring} AND currency = '${currency}'"


def chosen(sql: str) -> Json:
    """Rows of the month and the currency that somebody looks at."""
    return rows(sql.replace("CHOSEN", CHOSEN))


MONTH = Row(
    "The month",
    (
        stat("What do the bills of $period come to?", chosen("SELECT sum(total) AS total FROM apportion_bills WHERE CHOSEN"), MONEY, width=6),
        judged(
            stat(
                "How much of them is not posted?",
                chosen("SELECT sum(abs(difference)) AS difference FROM apportion_bills WHERE CHOSEN"),
                MONEY,
                "0, or something is wrong with the books: `apportion verify`.",
                6,
            ),
            0.01,
            0.01,
        ),
        stat("What do teams owe?", chosen("SELECT sum(amount) AS amount FROM apportion_amounts WHERE CHOSEN AND owner_kind = 'team'"), MONEY, width=6),
        stat(
            "What is left to the system's own owners?",
            chosen("SELECT sum(amount) AS amount FROM apportion_amounts WHERE CHOSEN AND owner_kind <> 'team'"),
            MONEY,
            "_idle, _unallocated, and what rounding left.",
            6,
        ),
        table(
            "Is the month closed?",
            [rows("SELECT period, status, closed_at, runs, last_posted_at, left(head, 16) AS head FROM apportion_periods ORDER BY period DESC")],
            "The head is where the ledger stood after the month's last run.",
            width=12,
        ),
        table(
            "Which bills are behind it?",
            [chosen("SELECT issuer, bill, total, posted, difference FROM apportion_bills WHERE CHOSEN ORDER BY total DESC")],
            units={"total": MONEY, "posted": MONEY, "difference": MONEY},
            width=12,
        ),
    ),
)  # fmt: skip
OWED = Row(
    "Who is charged",
    (
        months(
            "How did the months compare, by department?",
            series(
                "SELECT month AS time, COALESCE(NULLIF(department, ''), team) AS metric, sum(amount) AS amount FROM apportion_amounts"
                " WHERE currency = '${currency}' GROUP BY 1, 2 ORDER BY 1"
            ),
            MONEY,
        ),
        months(
            "What did the money go for?",
            series(
                "SELECT month AS time, reason AS metric, sum(amount) AS amount FROM apportion_amounts"
                " WHERE currency = '${currency}' GROUP BY month, reason ORDER BY month"
            ),
            MONEY,
            "Usage, idle cost, overhead, credits and adjustments.",
        ),
        table(
            "Who owes what in $period?",
            [
                chosen(
                    "SELECT department, cost_centre, team,"
                    " sum(amount) FILTER (WHERE reason IN ('usage', 'burst')) AS usage,"
                    " sum(amount) FILTER (WHERE reason = 'idle') AS idle,"
                    " sum(amount) FILTER (WHERE reason = 'overhead') AS overhead,"
                    " sum(amount) FILTER (WHERE reason NOT IN ('usage', 'burst', 'idle', 'overhead')) AS other,"
                    " sum(amount) AS amount FROM apportion_amounts WHERE CHOSEN GROUP BY department, cost_centre, team ORDER BY amount DESC"
                )
            ],
            units=dict.fromkeys(("usage", "idle", "overhead", "other", "amount"), MONEY),
        ),
        table(
            "Which statements were issued for $period?",
            [
                chosen(
                    "SELECT level, owner, invoice, charged, closed_at, left(sha256, 16) AS sha256 FROM apportion_statements"
                    " WHERE CHOSEN AND level <> 'user' ORDER BY charged DESC"
                )
            ],
            "None before the month is closed.",
            units={"charged": MONEY},
            width=12,
        ),
        table(
            "Which budgets hold in $period?",
            [chosen("SELECT team, project, since, budget, spent, remaining FROM apportion_budgets WHERE CHOSEN ORDER BY remaining")],
            units=dict.fromkeys(("budget", "spent", "remaining"), MONEY),
            width=12,
        ),
        table(
            "What was changed after it was posted?",
            [
                rows(
                    "SELECT period, about_period, kind, team, sum(amount) AS amount, max(posted_at) AS posted_at FROM apportion_postings"
                    " WHERE kind <> 'plan' AND currency = '${currency}' GROUP BY period, about_period, kind, team ORDER BY posted_at DESC"
                )
            ],
            "Corrections of closed months, credits and what was moved between owners.",
            units={"amount": MONEY},
        ),
    ),
)  # fmt: skip
RUNS = Row(
    "The ledger",
    (
        stat("How often was something posted?", rows("SELECT count(*) AS runs FROM apportion_runs"), COUNT, width=6),
        table(
            "What was posted last?",
            [
                rows(
                    "SELECT posted_at, kind, period, about_period, entries, left(policy_version, 12) AS policy, left(head, 16) AS head"
                    " FROM apportion_runs ORDER BY posted_at DESC LIMIT 50"
                )
            ],
            width=18,
        ),
    ),
    folded=True,
)  # fmt: skip
FINANCE = Dashboard(
    "finance",
    "Apportion: does it add up, and who is charged?",
    "From the views of the ledger in PostgreSQL, every figure as it is posted now.",
    (MONTH, OWED, RUNS),
    (LEDGER_SOURCE, months_posted()),
    since="now-1y",
    page="/statements",
)
