"""Pools: what a unit cost and what became of the capacity, from the plan that was posted, computed again; and what was posted from each."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.engine.capacity import Spent, spent_of
from apportion.errors import ProjectError
from apportion.model.money import GRAIN
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.methods import SHOWS_IDLE
from apportion.policy.pools import Pool
from apportion.reports.capacity import Measured, Stretch
from apportion.reports.capacity import pool as one_pool
from apportion.reports.capacity import pools as all_pools
from apportion.reports.completeness import marked
from apportion.reports.groups import narrowed
from apportion.reports.report import Report
from apportion.verbs.agreement import basis_of
from apportion.verbs.asked import posted_month
from apportion.verbs.explaining.lines import Placed, lines_node, placed_lines
from apportion.verbs.explaining.prices import measure_of
from apportion.verbs.ground import Means, afresh
from apportion.verbs.incomplete import incomplete_days
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed
from apportion.verbs.project import Project
from apportion.verbs.report import declared
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent


def pools(project: Project, period: Period | str | None = None, step: Step = silent) -> Report:
    """All pools of a month beside each other: what each cost, what stood idle of it, what a unit cost."""
    return pools_by(afresh(step), project, posted_month(project, period))


def pool(
    project: Project, name: str, period: Period | str | None = None, by: str = "day", step: Step = silent
) -> Report:
    """One pool, what became of its capacity and what a unit cost: a row for each day, hour, or hour of the week (`week`)."""
    return pool_by(afresh(step), project, name, posted_month(project, period), by)


def pools_by(means: Means, project: Project, period: Period | str, only: Collection[str] | None = None) -> Report:
    """By means that somebody else keeps; only some, where somebody may not see the others."""
    period = as_period(period)
    record = means.read(project, [period], None)
    computed = computed_month(means, project, period)
    policy = computed.world.policy
    names = [name for name in policy.pools if only is None or name in only]
    measures = {name: measures_of(computed, name) for name in names}
    methods = {name: method_text(policy.pools[name]) for name in names}
    return declared(all_pools(record, measures, methods, only), basis_of(policy))


def pool_by(means: Means, project: Project, name: str, period: Period | str, by: str = "day") -> Report:
    period = as_period(period)
    record = means.read(project, [period], None)
    computed = computed_month(means, project, period)
    refuse_unknown(name, period, computed.world.policy)
    own = narrowed(record, {"pool": (name,)})
    made = one_pool(replace(own, charges=None), measures_of(computed, name), name, by)
    made = marked(made, incomplete_days(project, period)) if by == "day" else made
    return declared(made, basis_of(computed.world.policy))


def computed_month(means: Means, project: Project, period: Period) -> Computed:
    ground = means.ground(project, period)
    return means.compute(project, period, ground.policy, ground.pins)


def refuse_unknown(name: str, period: Period, policy: Policy) -> None:
    if name not in policy.pools:
        raise ProjectError(
            "unknown-figure", f"{name!r} is no pool of {period}", hint=nearest(name, list(policy.pools), "pools")
        )


def method_text(rule: Pool) -> str:
    return rule.method.removeprefix("by_").replace("_", " ")


def measures_of(computed: Computed, name: str) -> tuple[Measured, ...]:
    """Of the month itself: what is late on its bills is priced by the use of another."""
    return computed.once(
        ("spent", name), lambda: tuple(measured(computed, name, spent) for spent in spent_of(computed.plan.own, name))
    )


def measured(computed: Computed, name: str, spent: Spent) -> Measured:
    pool, calendar = spent.market.pool, spent.market.calendar
    whole = computed.world.policy.pools[name]
    measure, zone = measure_of(pool, spent.market.scale), ZoneInfo(computed.world.policy.time_zone)
    unit = GRAIN * measure.natural
    stretches = tuple(
        Stretch(
            datetime.fromtimestamp(calendar.interval((cell, cell + 1)).start_s, zone),
            {part: amounts[n] for part, amounts in spent.parts.items()},
            {currency: (cells[n][0] / unit, cells[n][1]) for currency, cells in spent.prices.items() if cells[n][1]},
        )
        for n, cell in enumerate(range(*spent.span))
    )
    per = measure.name.removesuffix("s") if measure.name.endswith("hours") else measure.name
    held = held_price(pool) if whole.method in SHOWS_IDLE else None
    return Measured(name, spent.unit if spent.parts else "", per, stretches, spent.is_stated, held)


def held_price(pool: Pool) -> Fraction:
    """Which part of a unit that is held without use is not charged as use."""
    scale = {"used": Fraction(1), "blend": 1 - pool.driver.alpha}
    return scale.get(pool.driver.kind, Fraction(0))


def lines_behind(means: Means, project: Project, name: str, period: Period) -> str:
    """`744 cost lines: 300,000.00 USD`: of the month itself and late on its bills."""
    computed = computed_month(means, project, period)
    parts = [placed_lines(part).of(name) for part in computed.parts]
    return lines_node(Placed(pa.concat_tables(parts)), name).text
