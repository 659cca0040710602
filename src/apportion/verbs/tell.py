"""What is noticed rather than done: quotas whose marks are reached, and days that stand out. Each is told once.

A close tells of itself, in its own transaction; for the rest somebody has to look, which takes an estimate of the running month: `webhooks deliver`
and the server do it.
"""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import pyarrow.compute as pc

from apportion.books.hooks import News
from apportion.errors import ApportionError
from apportion.model.money import GRAIN, plain, to_decimal, to_grains
from apportion.policy.document import Policy
from apportion.policy.rules import Quota
from apportion.reports.anomaly import Anomaly
from apportion.reports.live import Estimate
from apportion.reports.quotas import Used
from apportion.reports.sums import total
from apportion.verbs.agreement import policy_for
from apportion.verbs.anomalies import anomalies_beside
from apportion.verbs.live import live
from apportion.verbs.project import Project
from apportion.verbs.quota import limit_of, quotas
from apportion.verbs.report import posted_periods

WHOLE = Fraction(100)
NOTICED = ("quota.reached", "anomaly.found")


def is_asked(project: Project) -> bool:
    """Whether anybody wants to be told of what has to be looked for."""
    return any(hook.is_live and set(hook.events) & set(NOTICED) for hook in project.books.hooks.all())


def tell(project: Project, today: date, running: Estimate | None = None) -> int:
    """How many messages are new. `running` where the caller has it already."""
    if not is_asked(project):
        return 0
    try:
        made = running or live(project, today)
    except ApportionError:
        made = None  # without usage there is no running month
    news = [anomaly_news(one) for one in anomalies_beside(project, made)]
    posted = max(posted_periods(project), default="")
    for used in quotas(project, posted) if posted else ():
        news += quota_news(used, estimated=False)
    if made is not None and str(made.period) > posted:
        for used in estimated_quotas(made, policy_for(project, made.period)):
            news += quota_news(used, estimated=True)
    return project.books.hooks.tell(news)


def anomaly_news(one: Anomaly) -> News:
    return News(
        "anomaly.found",
        f"{one.day} {one.team} {one.currency}",
        {
            "team": one.team,
            "day": str(one.day),
            "currency": one.currency,
            "amount": plain(one.amount),
            "usual": plain(one.usual),
            "above": plain(one.above),
            "pool": one.pool,
            "estimated": one.estimated,
            "text": one.sentence,
            "link": f"/teams/{one.team}?period={one.day:%Y-%m}",
        },
        team=one.team,
    )


def quota_news(used: Used, *, estimated: bool) -> Iterator[News]:
    """Each mark that is reached, and the whole of it. Another limit is another quota."""
    limit = used.limit
    for mark in (*used.marks, *([WHOLE] if used.share >= 1 and WHOLE not in used.marks else [])):
        yield News(
            "quota.reached",
            f"{used.first} {limit.owner} {limit.what}: {mark} % of {limit.size} {limit.unit} per {limit.per}",
            {
                "team": limit.team,
                "project": limit.project,
                "what": limit.what,
                "unit": limit.unit,
                "limit": digits(limit.size),
                "used": digits(used.used),
                "mark": digits(mark),
                "per": limit.per,
                "from": str(used.first),
                "until": str(used.last),
                "estimated": estimated,
                "link": f"/quotas?period={used.first:%Y-%m}",
            },
            team=limit.team,
        )


def digits(number: Fraction) -> str:
    return plain(to_decimal(int(number * GRAIN)))


def estimated_quotas(made: Estimate, policy: Policy) -> Iterator[Used]:
    """Money of the running month; what is counted in hours is known once it is posted."""
    for quota in policy.quotas:
        if quota.money is not None and quota.per == "month" and quota.holds_on(made.today):
            first, last = made.period.first_day, made.period.last_day
            yield Used(limit_of(quota, policy), first, last, made.complete_to, spent(quota, made, policy.currency))


def spent(quota: Quota, made: Estimate, currency: str) -> Fraction:
    rows = made.rows.filter(pc.equal(made.rows["currency"], currency))
    for name, value in (("team", quota.team), ("project", quota.project), ("pool", quota.pool)):
        rows = rows.filter(pc.equal(rows[name], value)) if value else rows
    return Fraction(to_grains(total(rows["amount"].to_pylist())), GRAIN)
