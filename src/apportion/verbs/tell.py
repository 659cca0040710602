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
from apportion.reports.sums import total
from apportion.verbs.agreement import policy_for
from apportion.verbs.anomalies import anomalies_beside
from apportion.verbs.live import live
from apportion.verbs.project import Project

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
    if made is not None:
        news += quota_news(made, policy_for(project, made.period))
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


def quota_news(made: Estimate, policy: Policy) -> Iterator[News]:
    """Each mark of a month's money, and the whole of it."""
    for quota in policy.quotas:
        if quota.money is None or quota.per != "month" or not holds(quota, made):
            continue
        used = spent(quota, made, policy.currency)
        for mark in (*quota.warn, Fraction(100)):
            if used * 100 >= quota.money * mark:
                yield reached(quota, made, policy.currency, (used, mark))


def holds(quota: Quota, made: Estimate) -> bool:
    return (quota.from_ is None or quota.from_ <= made.today) and (quota.until is None or quota.until >= made.today)


def spent(quota: Quota, made: Estimate, currency: str) -> Fraction:
    rows = made.rows.filter(pc.equal(made.rows["currency"], currency))
    for name, value in (("team", quota.team), ("project", quota.project), ("pool", quota.pool)):
        rows = rows.filter(pc.equal(rows[name], value)) if value else rows
    return Fraction(to_grains(total(rows["amount"].to_pylist())), GRAIN)


def reached(quota: Quota, made: Estimate, currency: str, at: tuple[Fraction, Fraction]) -> News:
    used, mark = at
    limit = quota.money or Fraction(0)
    what = "/".join(part for part in (quota.team, quota.project, quota.pool or "") if part)
    return News(
        "quota.reached",
        f"{made.period} {what} {quota.per} {limit} {currency} {mark} %",
        {
            "team": quota.team,
            "project": quota.project,
            "pool": quota.pool or "",
            "period": str(made.period),
            "currency": currency,
            "limit": plain(to_decimal(int(limit * GRAIN))),
            "used": plain(to_decimal(int(used * GRAIN))),
            "mark": f"{float(mark):g}",
            "estimated": True,
            "link": f"/quotas?period={made.period}",
        },
        team=quota.team,
    )
