"""A closed month, restated a hundred times over the months that follow: whatever was printed prints again byte for byte."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import cycle

import pytest

import apportion
from apportion.books.agreed import packed
from apportion.render.formats import FORMATS, render
from apportion.render.sheet import report_sheet
from apportion.render.statement import render as print_statement
from apportion.reports.statement.shape import to_json
from apportion.verbs.focus import Form, export_focus
from apportion.verbs.journal import export_journal
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.conftest import LONG
from tests.sequences.hands import ByVerbs, post_late
from tests.sequences.model import EXACT, TEAMS, Model

DEPTH = 100
BY_HAND = 1 if LONG else 25  # every which restatement goes through the verbs; the others are posted on the books
PRINTED = 5 if LONG else 50  # every which day everything is printed
FIRST = "2025-03"
DAY_ONE = datetime(2025, 4, 2, 12, tzinfo=UTC)
MONTHS = {30: "2025-04", 61: "2025-05", 91: "2025-06"}  # on which day which month is closed
REPORTS = ("showback", "trend", "idle", "coverage")
NAMED = ("team", "cost_centre")  # levels of which the policy names some
Export = Callable[[Project, str, str], str | bytes]  # of a month, as of a day


def report(name: str, form: str, **options: str) -> Export:
    return lambda project, month, day: render(
        report_sheet(apportion.report(project, name, month, as_of=day, **options)), form
    )


def once_closed(export: Callable[[Project, str], str | bytes]) -> Export:
    """Nothing while the month was open."""

    def as_of(project: Project, month: str, day: str) -> str | bytes:
        closed = project.books.closed(month)
        then = closed is not None and datetime.fromtimestamp(closed.closed_s, UTC).date().isoformat() <= day
        return export(project, month) if then else ""

    return as_of


def minor(project: Project, month: str) -> bytes:
    closed = project.books.closed(month)
    return packed(closed.minor) if closed else b""


def booked(project: Project, month: str) -> bytes:
    return export_journal(project, month, project.folder / "journal.csv").path.read_bytes()


def stated(level: str) -> Export:
    return lambda project, month, day: "\n".join(map(to_json, statements(project, Wanted(month, level, as_of=day))))


def focus(form: str) -> Callable[[Project, str], bytes]:
    """All files of the month, one after the other."""

    def exported(project: Project, month: str) -> bytes:
        done = export_focus(project, month, project.folder / form, Form(form))
        return b"".join((done.folder / name).read_bytes() for name in sorted(done.files))

    return exported


def pdf(project: Project, month: str) -> bytes:
    return print_statement(statements(project, Wanted(month, "team"))[0], "pdf")


EXPORTS: Mapping[str, Export] = {
    **{f"{name} {form}": report(name, form) for name, form in zip(REPORTS, cycle(FORMATS), strict=False)},
    **{f"showback {form}": report("showback", form, by="reason") for form in FORMATS},
    "minor units": once_closed(minor),
    "journal": once_closed(booked),
    **{f"FOCUS {form}": once_closed(focus(form)) for form in ("parquet", "csv")},
    "PDF statement": once_closed(pdf),
    **{f"statements by {level}": stated(level) for level in NAMED},
}


@dataclass(frozen=True)
class Printed:
    """What was printed of a month on some day."""

    month: str
    day: str
    texts: Mapping[str, str | bytes]


class Clock:
    def __init__(self) -> None:
        self.now = DAY_ONE

    def time(self) -> float:
        return self.now.timestamp()

    @property
    def day(self) -> str:
        return self.now.date().isoformat()

    def next_day(self) -> None:
        self.now += timedelta(days=1)


def said_on(number: int) -> dict[str, Decimal]:
    """Another bill every day, now more, now less, at times nothing for a team, with digits below a cent."""
    sizes = (number * 7919 % 100_003, number * 104_729 % 99_991, number % 7 * 1_000)
    return {team: Decimal(size - 20_000).scaleb(-3) for team, size in zip(TEAMS, sizes, strict=True)}


def print_all(project: Project, month: str, day: str) -> Printed:
    return Printed(month, day, {name: export(project, month, day) for name, export in EXPORTS.items()})


def live(hand: ByVerbs, model: Model, clock: Clock) -> Iterator[Printed]:
    """A hundred days."""
    for number in range(1, DEPTH + 1):
        clock.next_day()
        model.said[FIRST] = said_on(number)
        if number % BY_HAND == 0 or number == DEPTH:
            hand.deliver(FIRST, model.said[FIRST])
            hand.apply(model, FIRST)
        else:
            post_late(hand.books, model, FIRST)
        place = model.place(FIRST)
        model.apply(FIRST)
        if number in MONTHS:
            assert place == MONTHS[number]
            hand.deliver(place, {"speech": Decimal(number)})
            hand.apply(model, place)
            hand.close(place)
            model.closed.append(place)
        if number % PRINTED == 1 or number in MONTHS:
            yield print_all(hand.project, FIRST, clock.day)
            yield print_all(hand.project, place, clock.day)


def test_a_hundred_restatements_leave_every_earlier_print_as_it_was(
    by_verbs: Callable[[], ByVerbs], monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    hand, model, clock = by_verbs(), Model(), Clock()
    monkeypatch.setattr("time.time", clock.time)
    model.said[FIRST] = said_on(0)
    hand.deliver(FIRST, model.said[FIRST])
    hand.apply(model, FIRST)
    model.apply(FIRST)
    hand.close(FIRST)
    model.closed.append(FIRST)
    closed, rows = hand.books.closed(FIRST), hand.books.entries(period=FIRST)
    assert closed is not None
    shown = [print_all(hand.project, FIRST, clock.day), *live(hand, model, clock)]
    for each in shown:
        again = print_all(hand.project, each.month, each.day).texts
        assert [name for name in EXPORTS if again[name] != each.texts[name]] == [], (each.month, each.day)
    assert hand.books.closed(FIRST) == closed
    assert hand.books.entries(period=FIRST).equals(rows)
    assert hand.books.verify(closed.head) == []
    assert len([run for run in hand.books.runs("correction") if run.about == FIRST]) >= DEPTH - 1
    assert owed(hand, FIRST) == {team: amount for team, amount in said_on(DEPTH).items() if amount}
    record_property("prints compared", sum(len(each.texts) for each in shown))


def owed(hand: ByVerbs, bill: str) -> dict[str, Decimal]:
    """What each team owes of a bill, over all months."""
    found: dict[str, Decimal] = {}
    for row in hand.books.posted().to_pylist():
        if f" {bill} " in row["bill"]:
            found[row["team"]] = EXACT.add(found.get(row["team"], Decimal(0)), row["amount"])
    return {team: amount for team, amount in found.items() if amount}
