"""What if other policies had held all along? Posted months are computed again under each, from the inputs that they rest on. Nothing is kept or posted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from apportion.books.shapes import StoredRun
from apportion.engine.charges import charges_of
from apportion.engine.fairness import compare_with_peak
from apportion.engine.plan import RULES, Plan
from apportion.errors import ProjectError
from apportion.model.times import Period, parse_periods
from apportion.policy import diff as clauses
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.reports.backtest import (
    Backtest,
    Moved,
    Row,
    Side,
    Variant,
    currencies_of,
    mostly,
    parts,
    rows_by,
    swings,
    units_of,
)
from apportion.reports.changes import Change
from apportion.reports.fairness import moved_by_peak
from apportion.reports.sums import share_of, side_of, total
from apportion.verbs.agreement import policy_of_version, short
from apportion.verbs.corrections import runs_of
from apportion.verbs.fairness import stakes_of
from apportion.verbs.held import held_in
from apportion.verbs.periods import label, today
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.repriced import NewPrice, planned_at, read_prices
from apportion.verbs.steps import Step, silent
from apportion.verbs.whatif import instead, last_day, sentence
from apportion.verbs.world import Pins, pins_of_run

OWN = "as it is"  # the policy of each month, where only prices are asked about


@dataclass(frozen=True, slots=True)
class Wanted:
    """Policies to try, by what each is called. `prices` as what-if takes them, for all of them; `fairness`: whether to compare with peak Shapley."""

    policies: Mapping[str, str] = field(default_factory=dict)
    prices: Sequence[str] = ()
    fairness: bool = False


@dataclass(frozen=True, slots=True)
class Month:
    """A posted month: what it rests on, the policy that it went by, and what it comes to."""

    period: Period
    run: StoredRun
    policy: Policy
    pins: Pins
    posted: Side


@dataclass(slots=True)
class Trial:
    """One policy on its way through the months."""

    name: str
    text: str
    prices: tuple[NewPrice, ...]
    until: date  # the last day that is posted
    policy: str = ""
    parts: list[Row] = field(default_factory=list)
    clauses: dict[str, None] = field(default_factory=dict)
    bills: dict[str, None] = field(default_factory=dict)
    peaks: list[tuple[str, Decimal, Decimal]] = field(default_factory=list)


def backtest(project: Project, periods: Sequence[Period] | str, wanted: Wanted, step: Step = silent) -> Backtest:
    """Over posted months alone, such as `2026-04..2026-10`. All that is asked for is looked at before the first month is computed."""
    months = sorted(set(parse_periods(periods, today()) if isinstance(periods, str) else periods))
    check(wanted)
    runs = runs_posted(project, months)
    prices, until = read_prices(wanted.prices), last_day(months[-1])
    trials = [Trial(name, text, prices, until) for name, text in (wanted.policies or {OWN: ""}).items()]
    done, whole, peaks = 0, len(months) * (len(trials) + wanted.fairness), list[tuple[str, Decimal, Decimal]]()
    for period in months:
        month = month_of(project, period, runs[period])
        if wanted.fairness:
            step(f"comparing {period} as posted with peak Shapley", done, whole)
            peaks += peak_of(compute(project, period, month.policy, month.pins).plan)
            done += 1
        for trial in trials:
            step(f"computing {period} by {trial.name}", done, whole)
            made = tried(project, month, trial)
            trial.peaks += peak_of(made) if wanted.fairness else []
            done += 1
    names = tuple(map(str, months))
    variants = tuple(concluded(trial, names) for trial in trials)
    title = variants[0].title if len(variants) == 1 else f"{label(months)} by {len(variants)} policies."
    return Backtest(label(months), title, names, variants, moved(peaks), tuple(older(runs)))


def check(wanted: Wanted) -> None:
    """Refuses what cannot be read, by the name that it was given under."""
    if not wanted.policies and not wanted.prices:
        raise ProjectError(
            "nothing-asked", "neither a policy nor a price is given", hint="give a policy, prices or both"
        )
    read_prices(wanted.prices)
    for name, text in wanted.policies.items():
        load_policy(text, name)


def runs_posted(project: Project, months: Sequence[Period]) -> dict[Period, StoredRun]:
    """The last run of each month; refuses where one has none."""
    every = project.books.runs()
    found = {month: own[-1] for month in months if (own := runs_of(every, str(month)))}
    absent = [str(month) for month in months if month not in found]
    if absent or not found:
        known = sorted({run.about or run.period for run in every})
        raise ProjectError(
            "nothing-posted",
            f"nothing is posted for {', '.join(absent) or 'no month'}: only what is posted can be set against another policy",
            hint=f"posted are {', '.join(known)}" if known else "run `apportion plan` and `apportion apply` first",
        )
    return found


def month_of(project: Project, period: Period, run: StoredRun) -> Month:
    postings = project.books.believed(str(period))
    units = units_of([held_in(project, [str(period)])], currencies_of(postings))
    policy = policy_of_version(project, run.policy_version)
    return Month(period, run, policy, pins_of_run(project, run), Side(postings, units))


def tried(project: Project, month: Month, trial: Trial) -> Plan:
    """The plan of a month under a trial's policy, whose figures are added to the trial."""
    new = instead(month.policy, month.period, trial.text, trial.prices)
    before = [row for row in trial.parts if row.month == str(month.period.previous)]
    made, bills = planned_at(
        project, month.period, replace(new, shifted=shift_of(before, new.policy.currency)), month.pins
    )
    units = units_of(charges_of(made), currencies_of(made.postings))
    trial.parts += parts(str(month.period), month.posted, Side(made.postings, units))
    trial.policy = OWN if new.policy is month.policy else short(new.policy)
    told = clauses.diff(month.policy, new.policy, posted_until=trial.until)
    trial.clauses |= dict.fromkeys(change.sentence for change in told)
    trial.bills |= dict.fromkeys(f"{month.period}: {one.sentence}" for one in bills)
    return made


def shift_of(before: Sequence[Row], currency: str) -> dict[str, Decimal]:
    """How much more or less each team would have owed the month before."""
    own = [row for row in before if row.currency == currency and side_of(row.owner) == "owners"]
    return {team: total(row.change for row in own if row.owner == team) for team in {row.owner for row in own}}


def peak_of(plan: Plan) -> list[tuple[str, Decimal, Decimal]]:
    stakes = [stake for pool in compare_with_peak(plan.own).pools for stake in stakes_of(pool)]
    return [(currency, *sums) for currency, sums in moved_by_peak(stakes).items()]


def moved(peaks: Sequence[tuple[str, Decimal, Decimal]]) -> tuple[Moved, ...]:
    found = []
    for currency in sorted({currency for currency, _, _ in peaks}):
        own = [sums for name, *sums in peaks if name == currency]
        some, whole = (total(sums[n] for sums in own) for n in range(2))
        found.append(Moved(currency, some, whole, share_of(some, whole)))
    return tuple(found)


def concluded(trial: Trial, months: Sequence[str]) -> Variant:
    owners, monthly = rows_by(trial.parts, "owner"), rows_by(trial.parts, "month")
    period = months[0] if len(months) == 1 else f"{months[0]}..{months[-1]}"
    changes = [Change(row.owner, row.currency, row.posted, row.instead, row.change, "", "") for row in owners]
    largest = sorted(changes, key=lambda row: (row.currency, -abs(row.change), row.owner))
    return Variant(
        trial.name,
        trial.policy,
        sentence(largest, period),
        tuple(replace(row, why=mostly(trial.parts, row.owner, row.currency)) for row in owners),
        monthly,
        rows_by(trial.parts, "pool"),
        swings(monthly, months),
        tuple(trial.clauses),
        tuple(trial.bills),
        moved(trial.peaks),
    )


def older(runs: Mapping[Period, StoredRun]) -> list[str]:
    """Where figures may differ by the engine's own rules, it is said."""
    found = [(period, run.engine.partition("/")[2] or "0") for period, run in runs.items()]
    return [
        f"{period} was posted by the rules of engine {rules}; this release has {RULES}, and the difference holds what that changes, too."
        for period, rules in found
        if rules != RULES
    ]
