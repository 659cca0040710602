"""What does a GPU cost, and what became of it?"""

from dataclasses import replace

from apportion.integrations.grafana.dashboards import DATASOURCE, Dashboard, Row, label_of
from apportion.integrations.grafana.overview import STATE
from apportion.integrations.grafana.panels import (
    GPU_HOURS,
    MONEY,
    SHARE,
    bars,
    donut,
    judged,
    lines,
    now,
    over_time,
    stat,
)

OWN = 'pool="$pool", currency="$currency"'
HOURS = 'apportion_pool_capacity_seconds{pool="$pool", unit="GPU"}'
USED, HELD, UNHELD = (HOURS.replace("{", f'{{part="{part}", ') for part in ("used", "held", "unheld"))
COST = f'apportion_month_cost{{{OWN}, state="$state"}}'
GREYS = {"unheld": "#9aa0a6", "held": "#c4c7cc", "unmeasured": "#b7a57a", "used": "green"}
PRICE = Row(
    "Its price",
    (
        stat("What does a GPU-hour cost now?", now(f'max(apportion_pool_price{{{OWN}, with="", per="GPU-hour"}})'), MONEY, width=6),
        stat(
            "What did it come to in the newest posted month?",
            now(f'max(apportion_pool_month_price{{{OWN}, state="posted", per="GPU-hour"}})'),
            MONEY,
            "On average, used and idle as the method counts them.",
            6,
        ),
        stat("What does $pool cost this month?", now(f"sum({COST})"), MONEY, width=6),
        judged(
            stat("How much of its money paid for idle?", now(f'sum(apportion_idle_cost{{{OWN}, state="$state"}}) / sum({COST})'), SHARE, width=6),
            0.15,
            0.3,
        ),
        lines(
            "How did the price of a GPU-hour move?",
            over_time(f'apportion_pool_price{{{OWN}, per="GPU-hour"}}', "{{with}} {{kind}}"),
            MONEY,
            "For work without labels, and for labels that have a price of their own.",
        ),
        bars("Who pays for it?", now(f"sort_desc(sum by (team) ({COST}))", "{{team}}"), MONEY),
    ),
)  # fmt: skip


def coloured() -> tuple[dict[str, object], ...]:
    return tuple(
        {
            "matcher": {"id": "byName", "options": part},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
        }
        for part, colour in GREYS.items()
    )


CAPACITY = Row(
    "Its capacity",
    (
        replace(
            donut(
                "What became of its GPU-hours in the newest posted month?",
                now(f"sum by (part) ({HOURS}) / 3600", "{{part}}"),
                GPU_HOURS,
                "Used; held with unmeasured use; held without use; held by nobody, which is idle and down.",
                12,
            ),
            overrides=coloured(),
        ),
        bars(
            "What did stand idle cost, and why?",
            now(f'sum by (cause) (apportion_idle_cost{{{OWN}, state="$state"}})', "{{cause}}"),
            MONEY,
            "Unsold: held by nobody. Reserved and held: paid for without use. Down: broken.",
        ),
        stat(
            "How much was there?",
            now(f"sum({HOURS}) / 3600"),
            GPU_HOURS,
            width=6,
        ),
        stat("How much was used?", now(f"sum({USED}) / 3600"), GPU_HOURS, width=6),
        judged(
            stat(
                "How much did nobody hold?",
                now(f"sum({UNHELD}) / sum({HOURS})"),
                SHARE,
                width=6,
            ),
            0.15,
            0.3,
        ),
        stat(
            "How much was held without use?",
            now(f"sum({HELD}) / sum({HOURS})"),
            SHARE,
            width=6,
        ),
    ),
)  # fmt: skip
POOL = Dashboard(
    "pool",
    "Apportion: what does a GPU cost?",
    "One pool of GPUs: its price, who pays for it, and what became of its hours.",
    (PRICE, CAPACITY),
    (DATASOURCE, label_of("pool", "Pool", 'apportion_pool_capacity_seconds{unit="GPU"}', "pool"), STATE),
)
