"""What if something else had held all along? Posted months are computed again by each variant, from the inputs that they rest on. Nothing is kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

import pyarrow.compute as pc

from apportion.books.shapes import StoredRun
from apportion.engine.charges import charges_of
from apportion.engine.fairness import compare_with_peak
from apportion.engine.plan import RULES, Plan
from apportion.engine.tallies import units_in
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
    by_department,
    currencies_of,
    mostly,
    parts,
    rows_by,
    swings,
    units_of,
)
from apportion.reports.changes import Change
from apportion.reports.evenness import Evenness, Had, Leaf, evenness, had_of
from apportion.reports.fairness import moved_by_peak
from apportion.reports.incentives import Done, incentives
from apportion.reports.sums import share_of, side_of, total
from apportion.verbs.abreast import abreast
from apportion.verbs.agreement import policy_of_version, short
from apportion.verbs.corrections import runs_of
from apportion.verbs.fairness import stakes_of
from apportion.verbs.held import held_in
from apportion.verbs.incentives import DEEDS, Jobs, Tempted, Tempting, jobs_asked
from apportion.verbs.periods import label, today
from apportion.verbs.project import Project
from apportion.verbs.repriced import Instead, Rehearsal, rehearsal
from apportion.verbs.steps import Progress, Step, silent
from apportion.verbs.supposed import Changes, Supposed, Variation, read_changes, supposed
from apportion.verbs.whatif import last_day, sentence
from apportion.verbs.world import Pins, pins_of_run

OWN = "as it is"  # the policy of each month, where only prices and the like are asked about
UNNAMED = "instead"
COUNTED = ["bill", "team", "pool", "unit_seconds"]
MANY = 4  # months: with fewer, other processes would hardly have started
WEIGHTS = ("weights", "meter", "times")  # of a pool: what its units count
RULES_OF_USE = (
    "method", "slot", "scope", "driver", "usage", "prices", "shares", "members", "k", "weighted", "burst_price", "static_share",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """Policies to try, by what each is called, and `variants`, each with changes of its own. `prices` and `changes` hold in all of them.

    `fairness`: whether to compare with peak Shapley, and prices and amounts with what was held and used. `tempted`: whose deeds to try.
    `workers`: in how many processes many months go abreast; more than one only for programs that may be started anew.
    """

    policies: Mapping[str, str] = field(default_factory=dict)
    prices: Sequence[str] = ()
    fairness: bool = False
    changes: Changes = field(default_factory=Changes)
    variants: Sequence[Variation] = ()
    tempted: Tempted | None = None
    workers: int = 1

    @property
    def asks(self) -> bool:
        """Whether anything is to hold instead."""
        return bool(self.policies) or any(one.text or one.changes for one in self.variations)

    @property
    def variations(self) -> list[Variation]:
        """All of them, one after the other; each month's own policy where nothing else is named."""
        every = self.changes + Changes(price=tuple(self.prices))
        named = [Variation(name, text) for name, text in self.policies.items()]
        found = [*named, *self.variants] or [Variation(UNNAMED)]
        return [replace(one, changes=every + one.changes) for one in found]


@dataclass(frozen=True, slots=True)
class Month:
    """A posted month: what it rests on, the policy that it went by, and what it comes to."""

    period: Period
    run: StoredRun
    policy: Policy
    pins: Pins


@dataclass(slots=True)
class Trial:
    """One variant on its way through the months; `holds` says what holds in each."""

    name: str
    holds: Mapping[Period, Instead]
    until: date  # the last day that is posted
    policy: str = ""
    parts: list[Row] = field(default_factory=list)
    departments: list[Row] = field(default_factory=list)
    clauses: dict[str, None] = field(default_factory=dict)
    bills: dict[str, None] = field(default_factory=dict)
    peaks: list[tuple[str, Decimal, Decimal]] = field(default_factory=list)
    had: dict[Leaf, Had] = field(default_factory=dict)

    def alone(self, period: Period) -> "Trial":
        """The same for one month, where nothing depends on another."""
        return Trial(self.name, {period: self.holds[period]}, self.until)

    def take(self, part: "Trial") -> None:
        """What was found of one more month."""
        self.policy = part.policy
        self.parts += part.parts
        self.departments += part.departments
        self.clauses |= part.clauses
        self.bills |= part.bills
        self.peaks += part.peaks
        together_with(self.had, part.had)

    def held(self, period: Period) -> Instead:
        """What holds in a month; rules that smooth look at the month before as it would have been."""
        new = self.holds[period]
        before = [row for row in self.parts if row.month == str(period.previous)]
        return replace(new, shifted=shift_of(before, new.policy.currency))


def backtest(project: Project, periods: Sequence[Period] | str, wanted: Wanted, step: Step = silent) -> Backtest:
    """Who would have gained and lost, and why, by other rules, prices or capacities over past months.

    Over posted months alone, such as `2026-04..2026-10`. All that is asked for is looked at before the first month is computed.
    """
    known = sorted(set(parse_periods(periods, today()) if isinstance(periods, str) else periods))
    check(wanted)
    runs = runs_posted(project, known)
    months = months_of(project, runs)
    trials = trials_of(project, months, wanted)
    past = Trial("posted", {month.period: Instead(month.policy) for month in months}, last_day(known[-1]))
    jobs = jobs_asked(project, str(known[-1]), wanted.tempted) if wanted.tempted else {}
    asked = [past, *trials] if wanted.asks else [past]
    progress = Progress(step, len(months) * (len(trials) + wanted.fairness) + DEEDS * len(jobs) * len(asked))
    try_all(project, months, [past, *trials], wanted, progress)
    stage = rehearsal(project, known[-1], months[-1].pins)
    done = tempt(stage, jobs, asked, wanted.tempted, progress) if wanted.tempted else []
    names = tuple(map(str, known))
    variants = tuple(concluded(trial, names) for trial in trials)
    title = variants[0].title if len(variants) == 1 else f"{label(known)} by {len(variants)} {named(wanted)}."
    even = even_of(past.had, variants[0].pools, "posted")
    return Backtest(
        label(known), title, names, variants, moved(past.peaks), tuple(older(runs)), even, incentives(done)
    )  # fmt: skip


def try_all(project: Project, months: Sequence[Month], trials: Sequence[Trial], wanted: Wanted, told: Progress) -> None:
    """Month by month, or many of them abreast: only rules that smooth look at the month before."""
    here = wanted.workers == 1 or len(months) < MANY or project.settings.engine.get("name") == "spark"
    if here or any(one.policy.smooths for trial in trials for one in trial.holds.values()):
        for month in months:
            tried(project, month, trials, told, fairness=wanted.fairness)
        return
    told(f"computing {label([month.period for month in months])} abreast", 0)
    jobs = [
        Alone(replace(project), month, [one.alone(month.period) for one in trials], wanted.fairness) for month in months
    ]
    found: dict[int, list[Trial]] = {}
    for number, made in abreast(try_alone, jobs, wanted.workers):
        found[number] = made
        told(f"computed {months[number].period}", len(trials) - 1 + wanted.fairness)
    for _, made in sorted(found.items()):
        for trial, part in zip(trials, made, strict=True):
            trial.take(part)


@dataclass(frozen=True, slots=True)
class Alone:
    """A month for another process."""

    project: Project
    month: Month
    trials: list[Trial]
    fairness: bool


def try_alone(job: Alone) -> list[Trial]:
    tried(job.project, job.month, job.trials, Progress(silent, 0), fairness=job.fairness)
    return job.trials


def tried(project: Project, month: Month, trials: Sequence[Trial], told: Progress, *, fairness: bool) -> None:
    """A month by every trial; the first of them is what is posted."""
    past, *others = trials
    stage = rehearsal(project, month.period, month.pins)
    side = posted(project, month, past, fairness=fairness)
    if fairness:
        told(f"comparing {month.period} as posted with peak Shapley")
        past.peaks += peak_of(stage.plan(past.holds[month.period])[0])
    for trial in others:
        told(f"computing {month.period} by {trial.name}")
        try_month(stage, month, side, trial, fairness=fairness)
    stage.backend.forget()


def tempt(stage: Rehearsal, jobs: Jobs, trials: Sequence[Trial], tempted: Tempted, told: Progress) -> list[Done]:
    """What teams could have done in a month, by each trial."""
    month = Tempting(stage, jobs, tempted)
    return [one for trial in trials for one in month.under(trial.name, trial.held(stage.period), told)]


def named(wanted: Wanted) -> str:
    return "variants" if wanted.variants else "policies"


def check(wanted: Wanted) -> None:
    """Refuses what cannot be read, by the name that it was given under."""
    every = wanted.variations
    if not wanted.asks and not wanted.tempted:
        raise ProjectError(
            "nothing-asked",
            "neither a policy nor a price is given",
            hint="give a policy, prices, other changes or several of them",
        )
    names = [one.name for one in every]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ProjectError("same-name", f"two variants are called {twice}", hint="give each a name of its own")
    for one in every:
        read_changes(one.changes)
        if one.text or one.name in wanted.policies:
            load_policy(one.text, one.name)


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


def months_of(project: Project, runs: Mapping[Period, StoredRun]) -> list[Month]:
    """A policy is read once, however many months went by it."""
    versions = dict.fromkeys(run.policy_version for run in runs.values())
    policies = {version: policy_of_version(project, version) for version in versions}
    return [
        Month(period, run, policies[run.policy_version], pins_of_run(project, run))
        for period, run in sorted(runs.items())
    ]


def trials_of(project: Project, months: Sequence[Month], wanted: Wanted) -> list[Trial]:
    """What holds in each month by each variant: refused here where a pool or a team is unknown."""
    until, found = last_day(months[-1].period), []
    teams = teams_of(project, months) if any(one.changes.move for one in wanted.variations) else ()
    for one in wanted.variations:
        what = read_changes(one.changes)
        made = {month.policy.version: held_by(month, one, what, teams) for month in reversed(months)}
        found.append(Trial(one.name, {month.period: made[month.policy.version] for month in months}, until))
    return found


def held_by(month: Month, one: Variation, what: Supposed, teams: Collection[str]) -> Instead:
    return supposed(month.policy, month.period, one.text, what, teams)


def teams_of(project: Project, months: Sequence[Month]) -> set[str]:
    posted = [project.books.believed(str(month.period))["team"].unique().to_pylist() for month in months]
    return {team for some in posted for team in some if side_of(team) == "owners"}


def posted(project: Project, month: Month, past: Trial, *, fairness: bool) -> Side:
    """Of the charges only what is asked about is read: a month may have millions."""
    period = str(month.period)
    postings = project.books.believed(period)  # exact: a change of a cent's part has its cause, too
    currencies = currencies_of(postings)
    if not fairness:
        where = pc.field("period") == period
        return Side(postings, units_of([project.books.scan("charges", columns=COUNTED, where=where)], currencies))
    charges = held_in(project, [period])
    together_with(past.had, had_of([charges], currencies))
    return Side(postings, units_of([charges], currencies))


def together_with(sums: dict[Leaf, Had], more: Mapping[Leaf, Had]) -> None:
    sums |= {leaf: sums[leaf] + had if leaf in sums else had for leaf, had in more.items()}


def try_month(stage: Rehearsal, month: Month, side: Side, trial: Trial, *, fairness: bool) -> None:
    """The plan of a month by a trial, whose figures are added to the trial."""
    new = trial.held(month.period)
    made, told = stage.plan(new)
    instead = Side(made.postings, units_in(made))
    rows = parts(str(month.period), side, instead, rests(month.policy, new.policy))
    trial.parts += rows
    trial.departments += by_department(rows, side, instead)
    trial.policy = OWN if new.policy is month.policy else short(new.policy)
    trial.clauses |= dict.fromkeys(clauses_of(month.policy, new.policy, trial.until))
    trial.bills |= dict.fromkeys(f"{month.period}: {one.sentence}" for one in told)
    if fairness:
        trial.peaks += peak_of(made)
        together_with(trial.had, had_of(charges_of(made), currencies_of(made.postings)))


def clauses_of(old: Policy, new: Policy, until: date) -> list[str]:
    """What the rules change, and what is new in them that may not be what was meant."""
    told = [change.sentence for change in clauses.diff(old, new, posted_until=until)]
    return [*told, *(doubt for doubt in new.warnings if told and doubt.partition(": ")[2] not in doubts_of(old))]


def doubts_of(policy: Policy) -> set[str]:
    return {doubt.partition(": ")[2] for doubt in policy.warnings}


def rests(old: Policy, new: Policy) -> dict[str, str]:
    """What to call that part of a pool's change which neither price nor volume explains: the rule, where that is another one."""
    found = {}
    for name in {*old.pools, *new.pools}:
        pair = old.pools.get(name), new.pools.get(name)
        if None in pair or any(getattr(pair[0], key) != getattr(pair[1], key) for key in RULES_OF_USE):
            found[name] = "rule"
        elif any(getattr(pair[0], key) != getattr(pair[1], key) for key in WEIGHTS):
            found[name] = "weight"
    return found


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
    departments = rows_by(trial.departments, "department")
    told = departments if not any(row.change for row in owners) else owners  # where only they change
    changes = [Change(row.owner, row.currency, row.posted, row.instead, row.change, "", "") for row in told]
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
        departments,
        even_of(trial.had, rows_by(trial.parts, "pool"), "instead"),
    )


def even_of(had: Mapping[Leaf, Had], pools: Sequence[Row], side: str) -> tuple[Evenness, ...]:
    owed = {(row.currency, row.owner, row.pool): getattr(row, side) for row in pools}
    return evenness(owed, had)


def older(runs: Mapping[Period, StoredRun]) -> list[str]:
    """Where figures may differ by the engine's own rules, it is said."""
    found = [(period, run.engine.partition("/")[2] or "0") for period, run in runs.items()]
    return [
        f"{period} was posted by the rules of engine {rules}; this release has {RULES}, and the difference holds what that changes, too."
        for period, rules in found
        if rules != RULES
    ]
