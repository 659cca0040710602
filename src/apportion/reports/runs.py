"""What runs cost: each run, experiment or trial, a successful one with all that failed, and a token or a sample where a tracker counts them.

A run's cost is what its attempts were charged. Idle, overhead and what people decided are posted to owners, not to runs: they are one row.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apportion.model.facets import KNOWN
from apportion.reports.groups import NOBODY
from apportion.reports.report import Cell, Column, Record, Report, Section
from apportion.reports.sums import less, section, share_of, total
from apportion.reports.words import counted, percent, price_digits, shown
from apportion.reports.worked import (
    MEASURES,
    NO_WORKLOAD,
    NOT_SET,
    Charge,
    Counted,
    Job,
    Part,
    Worked,
    each,
    money,
    runs_of,
    together,
)

FEW = 20
OTHERS = "(others)"
OWNED = ("run", "experiment", "trial")  # things that somebody owns
BY = ("run", "team", "project", *KNOWN)
ENDS: Mapping[str, tuple[str, ...]] = {
    "completed": ("completed",),
    "running": ("running",),
    "failed": ("failed", "timeout", "out_of_memory", "node_fail"),
    "restarted": ("preempted", "requeued"),
    "cancelled": ("cancelled",),
}
PER = {"tokens": 1_000_000, "samples": 1_000}
MEASURED = {"tokens": "per_million_tokens", "samples": "per_thousand_samples"}
COLUMNS = (  # those that are asked for first: a narrow terminal leaves out the last
    Column("name", "name", quiet=True),
    Column("owner", "owner", quiet=True),
    Column("jobs", "jobs", "count", quiet=True),
    Column("runs", "runs", "count", quiet=True),
    Column("succeeded", "succeeded", "count"),
    Column("amount", "amount", "money"),
    Column("per_run", "per run", "price", quiet=True),
    Column("per_success", "per success", "price", quiet=True),
    Column("failed", "failed", "money", quiet=True),
    Column("restarted", "restarted", "money", quiet=True),
    Column("trials", "trials", "count", quiet=True),
    Column("per_trial", "per trial", "price", quiet=True),
    Column("tokens", "tokens", "count", quiet=True),
    Column("per_million_tokens", "per million tokens", "price", quiet=True),
    Column("samples", "samples", "count", quiet=True),
    Column("per_thousand_samples", "per thousand samples", "price", quiet=True),
    Column("attempts", "attempts", "count"),
    *(
        Column(end, end.replace("_", " "), "money", quiet=True)
        for end in ("completed", "running", "cancelled", "other_ends")
    ),
    *(Column(f"{measure}_by", f"runs that count {measure}", "count", quiet=True) for measure in MEASURES),
)
OF_SEVERAL = {  # what a row that is one of them need not say
    "run": ("runs", "per_run", "per_success"),
    "trial": ("runs", "per_run", "per_success", "trials", "per_trial"),
}
NOTE = (
    "A run is a job with all its attempts and tasks, and jobs that went on with one run of a tracker; its cost is what they were charged. "
    "A success is a run of which an attempt completed; per success counts what failed, too."
)
REPORTED = "Of {} that trackers know, {} tokens and {} samples. A count is taken where every run of a job has one and all of it lies inside the months."


@dataclass(frozen=True, slots=True)
class Ledger:
    """The work of one currency with what belongs together in it."""

    worked: Worked
    run_of: Mapping[str, tuple[str, str]]
    parts: Mapping[tuple[str, str], Part]
    part_of: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, worked: Worked) -> "Ledger":
        run_of = runs_of(charge.job for charge in worked.charges)
        parts = together(worked.charges)
        part_of = {charge.job.workload: key for key, part in parts.items() for charge in part.charges}
        return cls(worked, {c.job.workload: run_of(c.job) for c in worked.charges}, parts, part_of)

    def groups(self, by: str) -> dict[tuple[str, ...], list[Charge]]:
        found: dict[tuple[str, ...], list[Charge]] = defaultdict(list)
        for charge in self.worked.charges:
            found[self.key(by, charge)].append(charge)
        return found

    def key(self, by: str, charge: Charge) -> tuple[str, ...]:
        """Experiments and trials of two teams may have one name."""
        if by == "run":
            return self.run_of[charge.job.workload]
        if by in ("team", "project"):
            return charge.owner[: 1 + (by == "project")]
        value = charge.job.value(by)
        if by == "experiment" and value:
            return (value, charge.owner[0])
        if by == "trial" and value:
            return (value, charge.job.value("experiment"), charge.owner[0])
        return (value,)

    def counted(self, charges: Sequence[Charge], measure: str) -> Counted:
        """Of what lies whole within these charges."""
        own: dict[tuple[str, str], int] = defaultdict(int)
        for charge in charges:
            own[self.part_of[charge.job.workload]] += 1
        told = [
            found
            for key, number in own.items()
            if number == len(self.parts[key].charges) and (found := self.parts[key].counted(measure))
        ]
        amount = total(one.amount for one in told)
        return Counted(sum(one.count for one in told), amount, sum(one.reporting for one in told))


def cost_of_runs(record: Record, works: Sequence[Worked], by: str) -> Report:
    """The first so many by their cost, the others as one row, and what is of no workload: together all that was posted."""
    period, columns = record.period, (Column(by, by), *COLUMNS)
    sections, sentences, reported = [], [], []
    for worked in works:
        ledger = Ledger.of(worked)
        sections.append(of_currency(ledger, by, columns))
        sentences.append(sentence(period, ledger))
        reported.append(reporting(ledger))
    title = " ".join(sentences) or f"No work was charged in {period}."
    notes = (NOTE, *(REPORTED.format(*one) for one in reported if one))
    return Report("runs", title, period, columns, tuple(sections), record.head, record.policies, notes, more={"by": by})


def of_currency(ledger: Ledger, by: str, columns: Sequence[Column]) -> Section:
    worked, groups = ledger.worked, ledger.groups(by)
    unset = groups.pop(("",), []) if by not in ("run", "team", "project") else []
    order = sorted(groups, key=lambda key: (-money(groups[key]), key))
    rows = [{by: label(by, key, groups[key]), **cells(ledger, by, groups[key])} for key in order[:FEW]]
    others = [charge for key in order[FEW:] for charge in groups[key]]
    if others:
        rows.append({by: OTHERS, **cells(ledger, "", others), "name": counted(len(order) - FEW, by)})
    if unset:
        rows.append({by: NOT_SET, **cells(ledger, "", unset)})
    rest = less(worked.posted, worked.charged)
    if rest:
        rows.append({by: NO_WORKLOAD, "amount": rest})
    unsaid = OF_SEVERAL.get(by, ())
    rows = [{name: cell for name, cell in row.items() if name not in unsaid} for row in rows]
    made = section(worked.currency, worked.posted, columns, rows)
    whole = {**cells(ledger, "", worked.charges), "amount": worked.posted}
    totals = tuple(None if column.name in unsaid else whole.get(column.name) for column in columns)
    return Section(made.currency, made.bill, made.rows, totals)


def label(by: str, key: tuple[str, ...], charges: Sequence[Charge]) -> str:
    """A run by the scheduler's name for it; by its tracker's where jobs of several are one."""
    if by != "run":
        return "/".join(part or NOBODY for part in key) if by == "project" else key[0]
    runs = {charge.job.run for charge in charges}
    tracked = {name for charge in charges for name in charge.job.said}
    return min(tracked if len(runs) > 1 and tracked else runs)


def cells(ledger: Ledger, by: str, charges: Sequence[Charge]) -> dict[str, Cell]:
    """All that a row says of some charges."""
    amount, jobs = money(charges), [charge.job for charge in charges]
    runs: set[tuple[str, str]] = {ledger.run_of[job.workload] for job in jobs}
    done = {ledger.run_of[job.workload] for job in jobs if job.outcome in ENDS["completed"]}
    owners = {"/".join(filter(None, charge.owner if by == "run" else charge.owner[:1])) for charge in charges}
    names = {job.name for job in jobs if job.name} if by == "run" else {job.value("experiment") for job in jobs}
    return {
        "name": min(names, default="") if by in ("run", "trial") else None,
        "owner": (min(owners) if len(owners) == 1 else counted(len(owners), "owner")) if by in OWNED else None,
        "jobs": len({job.run for job in jobs}) if by == "run" else None,
        "runs": len(runs),
        "attempts": len({job.workload for job in jobs}),
        "succeeded": len(done),
        "amount": amount,
        **ends(charges),
        "per_run": each(amount, len(runs)),
        "per_success": each(amount, len(done)),
        **trials(charges),
        **measures(ledger, charges),
    }


def ends(charges: Sequence[Charge]) -> dict[str, Cell]:
    """The same money by how the attempts ended."""
    known = {outcome: end for end, outcomes in ENDS.items() for outcome in outcomes}
    sums: dict[str, list[Charge]] = defaultdict(list)
    for charge in charges:
        sums[known.get(charge.job.outcome, "other_ends")].append(charge)
    return {end: money(some) for end, some in sums.items()}


def trials(charges: Sequence[Charge]) -> dict[str, Cell]:
    some = [charge for charge in charges if charge.job.value("trial")]
    count = len({trial_of(charge.job, charge.owner[0]) for charge in some})
    return {"trials": count, "per_trial": each(money(some), count)} if count else {}


def trial_of(job: Job, team: str) -> tuple[str, str, str]:
    return team, job.value("experiment"), job.value("trial")


def measures(ledger: Ledger, charges: Sequence[Charge]) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for measure in MEASURES:
        told = ledger.counted(charges, measure)
        if told.count:
            price = each(told.amount, told.count, PER[measure])
            found |= {measure: told.count, f"{measure}_by": told.reporting, MEASURED[measure]: price}
    return found


def reporting(ledger: Ledger) -> tuple[str, ...]:
    """How many runs of trackers count what, of how many there are; nothing where there is none."""
    known = len({name for charge in ledger.worked.charges for name in charge.job.said})
    told = (ledger.counted(ledger.worked.charges, measure).reporting for measure in MEASURES)
    return (counted(known, "run"), *(counted(count, "counts", "count") for count in told)) if known else ()


def sentence(period: str, ledger: Ledger) -> str:
    worked = ledger.worked
    made = cells(ledger, "", worked.charges)
    lost = [made.get(end) for end in ("failed", "restarted")]
    failed, restarted = (amount if isinstance(amount, Decimal) else Decimal(0) for amount in lost)
    text = f"{counted(int(str(made['runs'])), 'run')} of {period} cost {shown(worked.charged, worked.currency)}"
    success = made["per_success"]
    if isinstance(success, Decimal):
        text += f", {price_digits(success, worked.currency)} {worked.currency} per successful run"
    for words, amount in (("attempts that failed", failed), ("attempts that were preempted or requeued", restarted)):
        if amount:
            text += f"; {words} cost {shown(amount, worked.currency)} ({percent(share_of(amount, worked.charged))})"
    return text + "."
