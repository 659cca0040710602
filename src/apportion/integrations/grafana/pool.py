"""What does a GPU cost, and what became of it?"""

from dataclasses import replace

from apportion.integrations.grafana.dashboards import DATASOURCE, Dashboard, Row, label_of
from apportion.integrations.grafana.overview import STATE
from apportion.integrations.grafana.panels import (
    GPU_HOURS,
    MONEY,
    SHARE,
    TEAM_PAGE,
    bars,
    donut,
    judged,
    leading,
    lines,
    named,
    now,
    of_month,
    over_time,
    stat,
)

OWN = 'pool=~"$pool", currency="$currency"'
HOURS = 'apportion_pool_capacity_seconds{pool=~"$pool", unit="GPU"}'
USED, HELD, UNHELD = (HOURS.replace("{", f'{{part="{part}", ') for part in ("used", "held", "unheld"))
COST = f'apportion_month_cost{{{OWN}, state="$state"}}'
GREYS = {"unheld": "#9aa0a6", "held": "#c4c7cc", "unmeasured": "#b7a57a", "used": "green"}
PRICE = Row(
    "Its price",
    (
        named(
            stat("What does a GPU-hour cost now?", now(f'max by (pool) (apportion_pool_price{{{OWN}, with="", per="GPU-hour"}})'), MONEY, width=6),
            "{{pool}}",
        ),
        named(
            stat(
                "What did it come to in the newest posted month?",
                now(f'max by (pool, period) (apportion_pool_month_price{{{OWN}, state="posted", per="GPU-hour"}})'),
                MONEY,
                "On average, over the units that the method counts.",
                6,
            ),
            "{{pool}} {{period}}",
        ),
        of_month(stat("What does $pool cost?", now(f"sum by (period) ({COST})"), MONEY, "In the month beside it, estimated or posted as chosen.", 6)),
        judged(
            of_month(
                stat(
                    "How much of its money paid for idle capacity?",
                    now(f'sum by (period) (apportion_idle_cost{{{OWN}, state="$state"}}) / sum by (period) ({COST})'),
                    SHARE,
                    width=6,
                )
            ),
            0.15,
            0.3,
        ),
        lines(
            "How did the price of a GPU-hour move?",
            over_time(f'apportion_pool_price{{{OWN}, per="GPU-hour"}}', "{{pool}} {{with}} {{kind}}"),
            MONEY,
            "For work without labels, and for labels that have a price of their own.",
        ),
        leading(bars("Who pays for it?", now(f"sort_desc(sum by (team) ({COST}))", "{{team}}"), MONEY), TEAM_PAGE),
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
                "Used; held with unmeasured use; held without use; held by nobody: unsold, reserved or down.",
                12,
            ),
            overrides=coloured(),
        ),
        bars(
            "What did idle capacity cost, and why?",
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
    "Pools of GPUs, one, several or all: price, who pays for it, and what became of its hours.",
    (PRICE, CAPACITY),
    (DATASOURCE, label_of("pool", "Pool", 'apportion_pool_capacity_seconds{unit="GPU"}', "pool"), STATE),
    page="/pools",
)
