"""What does a team owe, and why?"""

from apportion.integrations.grafana.dashboards import DATASOURCE, LEDGER_SOURCE, Dashboard, Row, label_of, months_posted
from apportion.integrations.grafana.overview import STATE
from apportion.integrations.grafana.panels import (
    MONEY,
    SHARE,
    bars,
    cells,
    columns,
    judged,
    lines,
    months,
    now,
    of_month,
    over_time,
    rows,
    series,
    stat,
    table,
)

OWN = 'team=~"$team", currency="$currency"'
COST = f'apportion_month_cost{{{OWN}, state="$state"}}'
ALL = 'apportion_month_cost{currency="$currency", state="$state"}'
SPENT = f'apportion_budget_spent{{{OWN}, project="", state="$state"}}'
THEIRS = "team IN (${team:sqlstring}) AND currency = '${currency}'"
FIRST = Row(
    "The month",
    (
        of_month(
            stat("What does $team owe?", now(f"sum by (period) ({COST})"), MONEY, "Estimated or posted, as chosen.", 6)
        ),
        of_month(
            stat(
                "Where does the month end, by its forecast?",
                now(f"sum by (period) (apportion_month_projected_cost{{{OWN}}})"),
                MONEY,
                width=6,
            )
        ),
        of_month(
            stat("What is its share of all?", now(f"sum by (period) ({COST}) / sum by (period) ({ALL})"), SHARE, width=6)
        ),
        judged(
            stat(
                "How much of its budget is spent?",
                now(f'sum({SPENT}) / sum(apportion_budget_amount{{{OWN}, project=""}} and on (period, team) {SPENT})'),
                SHARE,
                width=6,
            ),
            0.8,
            1,
        ),
        lines(
            "How does its month grow, by pool?",
            over_time(f"sum by (pool) ({COST})", "{{pool}}"),
            MONEY,
            stacked=True,
        ),
        bars(
            "How much of it paid for idle capacity, and why?",
            now(f'sum by (pool, cause) (apportion_idle_cost{{{OWN}, state="$state"}})', "{{pool}}: {{cause}}"),
            MONEY,
            "Capacity that it reserved or held without use, or that a rule gave to it.",
        ),
        columns(
            table(
                "What is left of its quotas?",
                [
                    cells('apportion_quota_size{team=~"$team"}'),
                    cells('apportion_quota_used{team=~"$team"}'),
                    cells('apportion_quota_reserved{team=~"$team"}'),
                ],
            ),
            {
                "owner": "Owner",
                "of": "Of what",
                "pool": "Pool",
                "per": "Per",
                "window": "In",
                "unit": "Unit",
                "Value #A": "Quota",
                "Value #B": "Used",
                "Value #C": "Reserved",
            },
        ),
    ),
)  # fmt: skip
POSTED = Row(
    "What the ledger says (needs the books in PostgreSQL)",
    (
        months(
            "What was posted to it, month by month?",
            series(
                "SELECT month AS time, component AS metric, sum(amount) AS amount FROM apportion_amounts"
                " WHERE THEIRS GROUP BY month, component ORDER BY month".replace("THEIRS", THEIRS)
            ),
            MONEY,
            "With all corrections: a month that was restated is shown as it is now.",
        ),
        table(
            "Which of its projects cost what in $period?",
            [
                rows(
                    "SELECT team, project, pool, reason, sum(amount) AS amount FROM apportion_amounts"
                    " WHERE THEIRS AND period = ${period:sqlstring} GROUP BY team, project, pool, reason ORDER BY amount DESC".replace(
                        "THEIRS", THEIRS
                    )
                )
            ],
            units={"amount": MONEY},
            width=12,
        ),
    ),
    folded=True,
)
TEAM = Dashboard(
    "team",
    "Apportion: what does a team owe?",
    "One team, several or all: the month so far from Prometheus, what was posted from the ledger.",
    (FIRST, POSTED),
    (
        DATASOURCE,
        LEDGER_SOURCE,
        label_of("team", "Team", 'apportion_month_cost{team!~"_.*"}', "team"),
        STATE,
        months_posted(),
    ),
    page="/teams",
)
