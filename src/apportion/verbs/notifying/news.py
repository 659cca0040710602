"""News of budgets, of the policy and of the data, as messages say them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from urllib.parse import quote

import pyarrow.compute as pc

from apportion.books.budgets import Budget
from apportion.books.hooks import News
from apportion.model.money import plain
from apportion.policy.aloud import Ears, Said, read_aloud
from apportion.policy.diff import diff
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.reports.budgets import Spending
from apportion.reports.live import Estimate
from apportion.reports.sums import total
from apportion.verbs.brought import brought
from apportion.verbs.health import freshness_of, windows_of
from apportion.verbs.project import Project
from apportion.verbs.report import posted_periods

MARKS = (80, 100)  # percent of a budget


def budget_news(found: Spending, *, estimated: bool) -> Iterator[News]:
    """Each mark that is reached. Another amount is another budget."""
    one = found.budget
    for mark in MARKS:
        if found.spent * 100 < one.amount * mark:
            continue
        yield News(
            "budget.reached",
            f"{found.period} {one.owner}: {mark} % of {plain(one.amount)} {one.currency}",
            {
                "team": one.team,
                "project": one.project,
                "period": found.period,
                "currency": one.currency,
                "budget": plain(one.amount),
                "spent": plain(found.spent),
                "mark": str(mark),
                "estimated": estimated,
                "link": f"/teams/{quote(one.team, safe='')}?period={found.period}",
            },
            team=one.team,
        )


def estimated_budgets(made: Estimate, holding: Iterable[Budget]) -> Iterator[Spending]:
    """What the running month comes to so far."""
    for one in holding:
        rows = made.rows.filter(pc.equal(made.rows["currency"], one.currency))
        for name, value in (("team", one.team), ("project", one.project)):
            rows = rows.filter(pc.equal(rows[name], value)) if value else rows
        yield Spending(one, str(made.period), total(rows["amount"].to_pylist()))


def policy_news(project: Project, today: date) -> Iterator[News]:
    """The policy in force, where another one was before it. Only what somebody computed with counts: a file that is being edited says nothing."""
    kept = [one for one in project.books.policies() if one.effective <= today.isoformat()]
    order = sorted(range(len(kept)), key=lambda at: (kept[at].effective, at))
    before = [at for at in order if at < order[-1]] if order else []
    if not before:
        return
    old, new = (load_policy(kept[at].text, kept[at].file) for at in (before[-1], order[-1]))
    known = {
        team for hook in project.books.hooks.told() if "policy.changed" in hook.events for team in hook.teams or ()
    }
    yield News(
        "policy.changed",
        new.version,
        {"policy": new.name, "version": new.version, "effective": str(new.effective), "link": "/policy"},
        teams=tuple(
            {"team": team, "changes": some} for team in sorted(known) if (some := heard(project, team, old, new))
        ),
        whole={"changes": [change.sentence for change in diff(old, new)]},
    )


def heard(project: Project, team: str, old: Policy, new: Policy) -> list[str]:
    """What the two say about a team and the pools that it pays for, where they differ: nothing of any other."""
    ears = Ears(frozenset([team]), pools_of(project, team))
    before, after = ([text for said in read_aloud(one, ears) for text in spoken(said)] for one in (old, new))
    gone = [f"No longer: {text}" for text in before if text not in after]
    return gone + [f"Now: {text}" for text in after if text not in before]


def spoken(said: Said, heading: str = "") -> Iterator[str]:
    if not said.parts:
        yield f"{heading}{said.text}"
    for part in said.parts:
        yield from spoken(part, f"{said.text}: ")


def pools_of(project: Project, team: str) -> frozenset[str]:
    """Those that it is charged from in the newest month that is posted."""
    newest = max(posted_periods(project), default="")
    if not newest:
        return frozenset()
    rows = project.books.posted(newest)
    return frozenset(rows.filter(pc.equal(rows["team"], team))["pool"].unique().to_pylist())


def data_news(project: Project, today: date) -> Iterator[News]:
    """Of each source once a day while it is late, and once for each day on which it brought rows with problems."""
    windows = windows_of(project)
    for source in project.sources:
        fresh = freshness_of(source, windows.get(source.name, []))
        if fresh.until and not fresh.is_fresh:
            late = {"behind": fresh.behind, "missing": fresh.missing, "text": f"{source.name} {fresh.text}."}
            body = {"source": source.name, "kind": source.kind, **late, "link": "/health"}
            yield News("data.late", f"{today} {source.name}", body, of_all=True)
    for one in brought(project):
        if one.doubtful:
            day = datetime.fromtimestamp(one.received_s, UTC).date().isoformat()
            rows = {"rows": one.doubtful, "problems": dict(one.problems), "day": day}
            body = {"source": one.source, "kind": one.kind, **rows, "link": "/health"}
            yield News("data.health", f"{day} {one.source}", body, of_all=True)
