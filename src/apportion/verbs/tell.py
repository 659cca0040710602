"""What is noticed rather than done: quotas and budgets whose marks are reached, days that stand out, another policy, data that is late. Each is told once.

A close tells of itself, in its own transaction; for the rest somebody has to look, which takes an estimate of the running month: `notify deliver`
and the server do it.
"""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.hooks import News
from apportion.errors import ApportionError
from apportion.model.money import GRAIN, for_reading, plain, to_decimal, to_grains
from apportion.policy.document import Policy
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.live import Estimate
from apportion.reports.quotas import Limit, Used
from apportion.reports.sums import total
from apportion.verbs.agreement import policy_for
from apportion.verbs.anomalies import anomalies_beside, with_words
from apportion.verbs.budget import budgets
from apportion.verbs.counting import limit_of
from apportion.verbs.live import live
from apportion.verbs.notify import enrol
from apportion.verbs.notifying.news import budget_news, data_news, estimated_budgets, policy_news
from apportion.verbs.project import Project
from apportion.verbs.quota import quotas
from apportion.verbs.report import posted_periods

WHOLE = Fraction(100)
SPENT = frozenset({"quota.reached", "budget.reached", "anomaly.found"})
NOTICED = SPENT | {"policy.changed", "data.late", "data.health"}


def asked(project: Project) -> frozenset[str]:
    """Of what somebody wants to be told that has to be looked for."""
    return NOTICED & {event for hook in project.books.hooks.told() for event in hook.events}


def is_asked(project: Project) -> bool:
    return bool(asked(project))


def tell(project: Project, today: date, running: Estimate | None = None) -> int:
    """How many messages are new. `running` where the caller has it already."""
    enrol(project)
    wanted, news = asked(project), list[News]()
    if wanted & SPENT:
        news += spending_news(project, today, running)
    if "policy.changed" in wanted:
        news += policy_news(project, today)
    if wanted & {"data.late", "data.health"}:
        news += data_news(project, today)
    return project.books.hooks.tell(news) if news else 0


def spending_news(project: Project, today: date, running: Estimate | None) -> Iterator[News]:
    try:
        made = running or live(project, today)
    except ApportionError:
        made = None  # without usage there is no running month
    found = with_words(anomalies_beside(project, made), project.books.acknowledgements.all(), today)
    yield from (anomaly_news(one) for one in found if not one.acknowledged)
    posted = max(posted_periods(project), default="")
    for used in quotas(project, posted) if posted else ():
        yield from quota_news(used, estimated=False)
    for spending in budgets(project, posted, today=today, foresee=None) if posted else ():
        yield from budget_news(spending, estimated=False)
    if made is not None and str(made.period) > posted:
        for used in estimated_quotas(made, policy_for(project, made.period)):
            yield from quota_news(used, estimated=True)
        for spending in estimated_budgets(made, project.books.budgets.holding(str(made.period))):
            yield from budget_news(spending, estimated=True)


def anomaly_news(one: Anomaly) -> News:
    """Once while it lasts; again where somebody knew of it until a day that is over. Of a pool: for those who see all teams."""
    return News(
        "anomaly.found",
        f"{one.id}, {one.kind} of {one.owner} since {one.began}" + (", again" if one.told_again else ""),
        {
            "anomaly": one.id,
            "kind": one.kind,
            "team": one.team,
            "day": str(one.began),
            "until": str(one.until),
            "currency": one.currency,
            "amount": plain(for_reading(one.now)),
            "usual": plain(for_reading(one.before)),
            "above": plain(one.meant),
            "causes": {name: plain(amount) for name, amount in one.causes.items()},
            "pool": one.pool,
            "estimated": one.estimated,
            "text": one.sentence,
            "link": f"/anomalies?id={one.id}",
        },
        team=one.team,
        of_all=one.is_of_pool,
    )


def quota_news(used: Used, *, estimated: bool) -> Iterator[News]:
    """Each mark that is reached, and the whole of it. Another limit is another quota."""
    limit = used.limit
    for mark in (*used.marks, *([WHOLE] if used.share >= 1 and WHOLE not in used.marks else [])):
        yield News(
            "quota.reached",
            f"{used.first} {limit.owner} {limit.what}: {mark} % of {used.size} {limit.unit} per {limit.per}",
            {
                "team": limit.team,
                "project": limit.project,
                "what": limit.what,
                "unit": limit.unit,
                "limit": digits(used.size),
                "used": digits(used.used),
                "mark": digits(mark),
                "per": limit.per,
                "from": str(used.first),
                "until": str(used.last),
                "estimated": estimated,
                "link": f"/quotas?period={used.first:%Y-%m}",
            },
            team=limit.team,
            of_all=bool(limit.department),
        )


def digits(number: Fraction) -> str:
    return plain(to_decimal(int(number * GRAIN)))


def estimated_quotas(made: Estimate, policy: Policy) -> Iterator[Used]:
    """Money of the running month; what is counted in hours is known once it is posted."""
    for quota in policy.quotas:
        if quota.money is not None and quota.per == "month" and quota.holds_on(made.today):
            first, last = made.period.first_day, made.period.last_day
            limit = limit_of(quota, policy, (first, last))
            yield Used(limit, first, last, made.complete_to, spent(limit, made, policy.currency))


def spent(limit: Limit, made: Estimate, currency: str) -> Fraction:
    rows = made.rows.filter(pc.equal(made.rows["currency"], currency))
    rows = rows.filter(pc.is_in(rows["team"], pa.array(limit.teams or (limit.team,), pa.string())))
    for name, value in (("project", limit.project), ("user", limit.user), ("pool", limit.pool)):
        rows = rows.filter(pc.equal(rows[name], value)) if value else rows
    return Fraction(to_grains(total(rows["amount"].to_pylist())), GRAIN)
