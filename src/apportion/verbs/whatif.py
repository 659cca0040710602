"""What if the policy were another? The plan of a month under it, from the inputs that the month was posted with. Nothing is kept or posted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from apportion.model.currencies import is_money
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.policy import diff as clauses
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.render.chart import colours, dumbbell, number
from apportion.render.drawn import Drawn, drawn
from apportion.render.figures import legible
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.changes import Change, changes
from apportion.reports.report import Column
from apportion.reports.sums import total
from apportion.reports.words import counted, rounded, shown
from apportion.verbs.agreement import policy_for, policy_of_version, short
from apportion.verbs.asked import posted, posted_month
from apportion.verbs.corrections import runs_of
from apportion.verbs.minor_units import read_believed, round_planned
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.repriced import Instead, NewPrice, apart, planned_at, read_prices, with_published
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, known_month, pins_of, pins_of_run


@dataclass(frozen=True, slots=True, repr=False)
class Whatif(Result):
    """`rows` are owners with what they owe under `was` (`before`) and would owe under `policy` (`after`); `clauses` are what differs between the two.

    `bills` are what else differs: sums of bills. `posted`: whether `before` is what is in the books; otherwise it was computed, too.
    """

    period: str
    was: str
    policy: str
    posted: bool
    title: str
    rows: tuple[Change, ...]
    clauses: tuple[str, ...]
    bills: tuple[str, ...] = ()


def whatif(
    project: Project,
    period: Period | str | None = None,
    policy_text: str = "",
    prices: Sequence[str] = (),
    step: Step = silent,
) -> Whatif:
    """Who would owe what by another policy or another price: against what is posted for the month, or against the plan of the policy in force where nothing is.

    Without a text the policy stays as it is. `prices`: `gpus=+10%` or `gpus=120000`, what a pool's bill, or a unit of its price list, comes to.
    """
    period = posted_month(project, period) if period or posted(project) else known_month(project, None)
    old = policy_of(project, period)
    return compared(project, period, old, instead(old, period, policy_text, read_prices(prices)), step)


def instead(old: Policy, period: Period, text: str, prices: Sequence[NewPrice]) -> Instead:
    """A published price is a rule: it changes the text."""
    new = load_policy(text, "draft") if text else old
    listed, billed = apart(new, prices, period)
    return Instead(load_policy(with_published(new.text, new.file, listed), new.file) if listed else new, tuple(billed))


def compared(project: Project, period: Period, old: Policy, new: Instead, step: Step = silent) -> Whatif:
    """A month as it is, and as it would be."""
    pins, posted_by = pinned(project, period)
    is_posted = posted_by == old.version
    before = (
        read_believed(project, period)
        if is_posted
        else round_planned(project, period, compute(project, period, old, pins, step).plan.postings)
    )
    step(f"computing {period} again", 0, 0)
    after, bills = planned_at(project, period, new, pins)
    rows = changes(before, round_planned(project, period, after.postings))
    told = tuple(change.sentence for change in clauses.diff(old, new.policy, posted_until=last_day(period)))
    said = tuple(one.sentence for one in bills)
    return Whatif(str(period), short(old), short(new.policy), is_posted, sentence(rows, period), rows, told, said)


def tables(made: Whatif) -> tuple[Table, ...]:
    """One for each currency; owners that nothing moves for are left out."""
    columns = (
        Column("owner", "owner"), Column("before", "posted" if made.posted else made.was, "money"), Column("after", "then", "money"),
        Column("change", "difference", "money"), Column("why", "mostly"),
    )  # fmt: skip
    found = []
    for currency in dict.fromkeys(row.currency for row in made.rows):
        mine = [row for row in made.rows if row.currency == currency and row.sign != " "]
        rows = tuple((row.owner, row.before, row.after, row.change, row.why) for row in mine)
        sums = (total(row.before for row in mine), total(row.after for row in mine), total(row.change for row in mine))
        found.append(Table(columns, rows, ("", *sums, "") if mine else (), currency))
    return tuple(found)


@sheet_of.register
def whatif_sheet(made: Whatif) -> Sheet:
    against = "what is posted" if made.posted else f"the plan under {made.was}"
    bills = (f"{said[0].upper()}{said[1:]}." for said in made.bills)
    notes = (f"{made.policy} against {against}.", *bills, *made.clauses)
    return Sheet(made.title, tables(made), made, notes)


def pinned(project: Project, period: Period) -> tuple[Pins, str]:
    """What the month's last run rests on and the version that it went by; the newest evidence where it has none."""
    own = runs_of(project.books.runs(), str(period))
    return (pins_of_run(project, own[-1]), own[-1].policy_version) if own else (pins_of(project), "")


def policy_of(project: Project, period: Period) -> Policy:
    """The one that a month was posted with, else the one in force."""
    _, version = pinned(project, period)
    return policy_of_version(project, version) if version else policy_for(project, period)


def last_day(period: Period) -> date:
    return date.fromordinal(period.next.first_day.toordinal() - 1)


def sentence(rows: Sequence[Change], period: Period | str) -> str:
    """`1,204.00 USD of 2026-10 would move: vision and 2 others would owe more; speech less.`"""
    moved = [row for row in rows if row.change and is_money(row.currency)]
    if not moved:
        return f"Nobody would owe another amount for {period}."
    moved = [row for row in moved if rounded(row.change, row.currency)] or moved  # what nobody can see is not told
    parts = []
    for currency in sorted({row.currency for row in moved}):
        more = [row for row in moved if row.currency == currency and row.change > 0]
        less = [row for row in moved if row.currency == currency and row.change < 0]
        amount = max(total(row.change for row in more), -total(row.change for row in less), Decimal(0))
        said = [
            f"{named(side)} {word}"
            for side, word in ((more, "would owe more"), (less, "less" if more else "would owe less"))
            if side
        ]
        if rounded(whole := total(row.change for row in rows if row.currency == currency), currency):
            what = f"{period} would cost {shown(abs(whole), currency)} {'more' if whole > 0 else 'less'}"
        else:
            what = f"{shown(amount, currency)} of {period} would move"
        parts.append(f"{what}: {'; '.join(said)}.")
    return " ".join(parts)


def named(rows: list[Change]) -> str:
    """The largest, and how many more."""
    return rows[0].owner + (f" and {counted(len(rows) - 1, 'other')}" if len(rows) > 1 else "")


@drawn.register
def whatif_chart(made: Whatif) -> Drawn | None:
    """From what each owes (a ring) to what it would owe (a dot), in the first currency."""
    moved = [row for row in made.rows if row.sign != " "]
    mine = [row for row in moved if row.currency == moved[0].currency]
    if not mine:
        return None
    values = [
        {
            "owner": legible(row.owner), "before": number(row.before), "after": number(row.after), "was": shown(row.before, row.currency),
            "then": shown(row.after, row.currency), "change": shown(row.change, row.currency),
        }
        for row in mine
    ]  # fmt: skip
    names = [legible(row.owner) for row in mine]
    return dumbbell(values, colours(sorted(names)), names, mine[0].currency), f"{made.title} From the ring to the dot."
