"""Owners that are new, that vanished, and work that no owner rule finds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.reports.held import places
from apportion.reports.report import Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import Edit, Pattern, part, together
from apportion.reports.sums import total
from apportion.reports.words import counted, shown

Owed = Mapping[tuple[str, str], Decimal]  # team, project -> what it owes; without the system's own owners
COLUMNS = (Column("owner", "owner"), Column("amount", "amount", "price"), Column("share", "share", "share"))
UNOWNED = (Column("what", "what"), Column("amount", "amount", "price"))
FEW = 5


@dataclass(frozen=True, slots=True)
class Unmapped:
    """Workloads that no rule finds and that carry the same labels. `label` tells most likely whose they are; `team` is the nearest known name."""

    labels: Mapping[str, str]
    count: int
    currency: str
    amount: Decimal
    label: str = ""
    team: str = ""


def owners(now: Owed, before: Owed, currency: str, months: tuple[str, str], bounds: Bounds) -> Iterator[Pattern]:
    """Teams, and of teams that were there in both months projects with enough money."""
    sides = (
        ("new", now, before, months[0], f"not in {months[1]}"),
        ("vanished", before, now, months[1], f"not in {months[0]}"),
    )
    for kind, here, there, month, absent in sides:
        whole = total(here.values())
        found = {
            name: amount
            for name, amount in {**teams(here), **projects(here, there)}.items()
            if name not in teams(there)
            and name not in named(there)
            and part(amount, whole) >= Fraction(bounds.least, 100)
        }
        if found:
            order = sorted(found, key=lambda name: (-found[name], name))
            said = together([f"{name} ({shown(found[name], currency)})" for name in order])
            yield Pattern(
                "owners", (kind,), f"{counted(len(found), 'owner')} of {month} {'is' if len(found) == 1 else 'are'} {absent}: {said}.", COLUMNS,
                tuple((name, found[name], places(part(found[name], whole))) for name in order), "bars",
                tuple((found[name],) for name in order), ("amount",), currency, currency, total(found.values()),
            )  # fmt: skip


def teams(owed: Owed) -> dict[str, Decimal]:
    sums: dict[str, list[Decimal]] = {}
    for (team, _), amount in owed.items():
        sums.setdefault(team, []).append(amount)
    return {team: amount for team, amounts in sums.items() if (amount := total(amounts))}


def projects(here: Owed, there: Owed) -> dict[str, Decimal]:
    """Of teams that both months have."""
    both = teams(here).keys() & teams(there).keys()
    return {f"{team}/{name}": amount for (team, name), amount in here.items() if name and amount and team in both}


def named(owed: Owed) -> set[str]:
    return {f"{team}/{name}" for (team, name), amount in owed.items() if amount}


def unmapped(found: Sequence[Unmapped], bill: Mapping[str, Decimal], bounds: Bounds) -> Iterator[Pattern]:
    """The largest; each with the rule that would find it. `bill`: of each currency."""
    far = [one for one in found if part(one.amount, bill.get(one.currency, Decimal(0))) >= Fraction(bounds.least, 100)]
    for one in sorted(far, key=lambda one: (-one.amount, sorted(one.labels.items())))[:FEW]:
        carried = (
            ", ".join(f"{name} {value}" for name, value in one.labels.items()) or "no label that tells whose they are"
        )
        whole = total(other.amount for other in found if other.currency == one.currency)
        rows = (("these workloads", one.amount), ("all that nobody owns", whole))
        yield Pattern(
            "unmapped", (",".join(f"{name}={value}" for name, value in one.labels.items()) or "no label",),
            f"No owner rule finds {counted(one.count, 'workload')} with {carried}: {shown(one.amount, one.currency)} are nobody's.",
            UNOWNED, rows, "bars", tuple((amount,) for _, amount in rows), ("amount",), one.currency,
            one.currency, one.amount, (), advised(one),
            Edit(owner=(one.label, one.labels[one.label], one.team)) if one.label else None,
        )  # fmt: skip


def advised(one: Unmapped) -> str:
    if not one.label:
        return "label these workloads in the scheduler"
    return "" if one.team else "say whose it is with `--team TEAM` beside `--draft`"
