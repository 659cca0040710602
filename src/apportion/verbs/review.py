"""The monthly review: what changed, what stands out, and which rules no longer fit, each with its evidence and, where one is safe, a draft of the policy."""

from collections.abc import Iterator
from dataclasses import dataclass

from apportion.books.proposals import Proposal
from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.review.bursts import bursts
from apportion.reports.review.dominant import dominant
from apportion.reports.review.drift import drift
from apportion.reports.review.finding import Pattern
from apportion.reports.review.idle import idle
from apportion.reports.review.owners import Unmapped, owners, unmapped
from apportion.reports.review.pool import Pool
from apportion.reports.review.review import ALONE, Drafted, Review, told_apart
from apportion.reports.review.season import season
from apportion.reports.review.weights import weights
from apportion.reports.sums import by_currency, summed
from apportion.verbs.asked import posted_month
from apportion.verbs.draft import propose
from apportion.verbs.gaps import Gap, likely_team
from apportion.verbs.ground import Means, afresh
from apportion.verbs.health import unmapped as gaps_of
from apportion.verbs.plan import Computed
from apportion.verbs.pools import computed_month
from apportion.verbs.project import Project
from apportion.verbs.reviewing.claims import claims_of
from apportion.verbs.reviewing.drafting import drafted
from apportion.verbs.reviewing.pools import main_currency, pools_of
from apportion.verbs.reviewing.work import BOARDS, Month, month_of, owed, worked
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent
from apportion.verbs.whatif import Whatif, whatif
from apportion.verbs.world import pins_of


@dataclass(frozen=True, slots=True)
class Saved:
    """A finding's draft, kept, and what it would have done to whom in the month."""

    draft: Proposal
    effect: Whatif


def review(project: Project, period: Period | str | None = None, step: Step = silent) -> Review:
    """What changed in a month, what stands out, and which rules no longer fit.

    Of a posted month, against the month before where that is posted, too. Changes nothing.
    """
    return review_by(afresh(step), project, posted_month(project, period))


def review_by(means: Means, project: Project, period: Period | str) -> Review:
    """By means that somebody else keeps."""
    period = posted_month(project, period)
    record = means.read(project, [period], None)
    computed = computed_month(means, project, period)
    policy = computed.world.policy
    now = month_of(project, period, record, (policy, means.ground(project, period).pins))
    before = month_before(means, project, period, policy)
    pools = pools_of(computed, now, project.policy)
    found = told_apart(
        [*of_both(now, before, (str(period), str(period.previous)), project), *of_one(project, computed, now, pools)]
    )
    return Review(
        str(period),
        str(period.previous) if before else "",
        tuple(drafted(project, one, policy) for one in found),
        tuple(pool.profile.cells() for pool in pools),
        record.head,
        record.policies,
        () if before else (ALONE.format(before=period.previous),),
    )


def month_before(means: Means, project: Project, period: Period, policy: Policy) -> Month | None:
    """What kind of work it was is read from the evidence as it is now: the hours and the money are those that were posted."""
    if not len(project.books.posted(str(period.previous))):
        return None
    return month_of(project, period.previous, means.read(project, [period.previous], None), (policy, pins_of(project)))


def of_both(now: Month, before: Month | None, months: tuple[str, str], project: Project) -> Iterator[Pattern]:
    if before is None:
        return
    bounds = project.settings.review
    yield from drift(worked(now), worked(before), months, bounds)
    there = dict(owed(before.record))
    for currency, here in owed(now.record):
        if currency in there:
            yield from owners(here, there[currency], currency, months, bounds)


def of_one(project: Project, computed: Computed, month: Month, pools: list[Pool]) -> Iterator[Pattern]:
    bounds, policy = project.settings.review, computed.world.policy
    bills = {currency: summed(posted) for currency, posted in by_currency(month.record.posted) if is_money(currency)}
    gaps = [told(gap, policy) for gap in gaps_of(project, computed.world.period) if is_money(gap.currency)]
    yield from unmapped(gaps, bills, bounds)
    yield from season([pool.profile for pool in pools if pool.profile.unit in BOARDS], bounds)
    yield from bursts(pools, bounds)
    yield from idle(pools, bounds)
    yield from dominant(pools, bounds)
    yield from weights(list(claims_of(computed, month, main_currency(policy, month))), bounds)


def told(gap: Gap, policy: Policy) -> Unmapped:
    """With the label by which a rule would find them: the one that is nearest to a team's name, else the first."""
    likely = {name: likely_team({name: value}, policy) for name, value in gap.labels.items()}
    label = next((name for name, team in likely.items() if team), next(iter(gap.labels), ""))
    return Unmapped(gap.labels, gap.count, gap.currency, gap.amount, label, likely.get(label, ""))


def save_draft(project: Project, period: Period | str, key: str, team: str = "", step: Step = silent) -> Saved:
    """Keeps the draft of one finding, once it is known what it would do. `team`: whose it is, where a rule needs somebody to say it."""
    made = review(project, period, step)
    return save_found(project, made, key, team, step)


def save_found(project: Project, made: Review, key: str, team: str = "", step: Step = silent) -> Saved:
    found = wanted(made, key)
    if team and found.finding.edit and found.finding.edit.owner:
        found = drafted(project, found.finding, project.policy, team)
    if not found.text:
        raise ProjectError(
            "no-draft",
            f"{key} has no draft: {no_draft(found)}",
            hint="change the policy by hand, then `apportion plan`",
        )
    effect = whatif(project, made.period, found.text, step=step)
    return Saved(propose(project, found.text, f"{found.finding.sentence} (review of {made.period}, {key})"), effect)


def wanted(made: Review, key: str) -> Drafted:
    known = {one.finding.key: one for one in made.found}
    if key not in known:
        raise ProjectError(
            "unknown-finding",
            f"the review of {made.period} has no finding {key!r}",
            hint=nearest(key, known, "findings"),
        )
    return known[key]


def no_draft(found: Drafted) -> str:
    return found.finding.do or "it says what is, and no change of the policy follows from it"
