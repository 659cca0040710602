"""Is the data whole and fresh, and is the ledger sound?"""

from apportion.integrations.grafana.dashboards import DATASOURCE, Dashboard, Row
from apportion.integrations.grafana.overview import STATE
from apportion.integrations.grafana.panels import (
    COUNT,
    SECONDS,
    SHARE,
    WHEN,
    bars,
    cells,
    columns,
    judged,
    lines,
    now,
    over_time,
    stat,
    table,
)

FIRST = Row(
    "At a glance",
    (
        judged(stat("How many sources are behind?", now("count(apportion_source_behind_seconds > 0) or vector(0)"), COUNT), 1, 1),
        judged(stat("How many have holes?", now("count(apportion_source_missing_seconds > 0) or vector(0)"), COUNT), 1, 1),
        judged(stat("How many rows have a problem?", now("sum(apportion_source_problem_rows) or vector(0)"), COUNT), 1, 1000),
        judged(stat("How many rows are held back?", now("sum(apportion_source_held_back_rows) or vector(0)"), COUNT), 1, 1000),
        judged(stat("Which figures cannot be told?", now("count(apportion_collector_success == 0) or vector(0)"), COUNT, "How many kinds of them."), 1, 1),
        judged(stat("How old are these figures?", now("time() - apportion_collected_timestamp_seconds"), SECONDS), 7200, 10800),
        stat("Until when is the running month complete?", now("max(apportion_month_complete_timestamp_seconds) * 1000"), WHEN, width=6),
        stat("When was something last posted?", now("max(apportion_ledger_last_run_timestamp_seconds) * 1000"), WHEN, width=6),
        stat("When did a round last end well?", now('max(apportion_round_timestamp_seconds{outcome="ok"}) * 1000'), WHEN, "Of `apportion sync`.", 6),
        judged(
            stat(
                "What was found wrong with the ledger?",
                now("max(apportion_ledger_verify_findings)"),
                COUNT,
                "When it was last looked through; empty where nobody did.",
                6,
            ),
            1,
            1,
        ),
    ),
)  # fmt: skip
SOURCES = Row(
    "Sources",
    (
        columns(
            table(
                "How fresh is each source?",
                [
                    cells("apportion_source_reach_timestamp_seconds * 1000"),
                    cells("apportion_source_received_timestamp_seconds * 1000"),
                    cells("apportion_source_behind_seconds"),
                    cells("apportion_source_missing_seconds"),
                ],
                "Files come when they come: only sources that are asked can be behind.",
                units={"In the books until": WHEN, "Last came": WHEN, "Behind": SECONDS, "Misses": SECONDS},
            ),
            {
                "source": "Source",
                "kind": "Kind",
                "Value #A": "In the books until",
                "Value #B": "Last came",
                "Value #C": "Behind",
                "Value #D": "Misses",
            },
        ),
        lines("How old is what the books have?", over_time("time() - apportion_source_reach_timestamp_seconds", "{{source}}"), SECONDS),
        bars("Which problems do rows have?", now("sort_desc(sum by (source, code) (apportion_source_problem_rows))", "{{source}}: {{code}}"), COUNT),
    ),
)  # fmt: skip
LEDGER = Row(
    "Coverage and the ledger",
    (
        lines(
            "How much of the bills has an owner?",
            over_time('apportion_coverage_ratio{state="$state", currency="$currency"}', "{{side}}"),
            SHARE,
            stacked=True,
        ),
        lines("How often was something posted?", over_time("apportion_ledger_runs_total", "{{kind}}"), COUNT),
        columns(
            table("Where does the ledger stand?", [cells("apportion_ledger_info")], "Its head: what is seen here stays on record outside the books.", width=16),
            {"head": "Head"},
        ),
        columns(
            table("Which figures can be told?", [cells("apportion_collector_success")], width=8),
            {"collector": "Figures", "Value": "Told"},
        ),
    ),
)  # fmt: skip
HEALTH = Dashboard(
    "health",
    "Apportion: is the data whole and fresh?",
    "What came of each source, how much of the bills has an owner, and where the ledger stands.",
    (FIRST, SOURCES, LEDGER),
    (DATASOURCE, STATE),
    since="now-7d",
    page="/health",
)
