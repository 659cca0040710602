"""Efficiency by hand, and that it cannot be won by doing less."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as some

from apportion.model.times import parse_period
from apportion.reports.efficiency import Standing, Work
from apportion.verbs.efficiency import efficiency
from apportion.verbs.project import Project
from tests.cli.conftest import Run
from tests.web.conftest import Clients, clients_of

EFFICIENCIES = some.fractions(Fraction(1, 100), 1, max_denominator=100)
COSTS = some.integers(1, 10_000).map(Fraction)
WORKS = some.dictionaries(some.sampled_from("abc"), some.builds(Work, COSTS, EFFICIENCIES), min_size=1)


def test_by_hand(measured: Project) -> None:
    """vision: 20 GPU-hours for 20.00, of which 15 were used; in September half. At that the 15 would have taken 30 hours: 10.00 are saved.

    speech: of 20 hours that no node took down 16 were used, 8 of them by a job that failed; at 80 % in September those 8 took 10: 10.00 are lost.
    """
    made = efficiency(measured, parse_period("2026-10"))
    (section,) = made.sections
    rows = {str(row[0]): row[1:] for row in section.rows}
    number = Decimal
    assert rows["vision"] == (number(20), number(15), number("0.75"), number("0.5"), number("0.75"), number(10))
    assert rows["speech"] == (number(20), number(8), number("0.4"), number("0.8"), number("0.4"), number(-10))
    assert rows["bio"] == (number(10), number(10), number(1), None, None, None)
    assert [str(row[0]) for row in section.rows] == ["vision", "bio", "speech"]
    assert (section.bill, section.totals[-1]) == (number(50), number(0))
    assert made.title.startswith("66.0 % of what 3 teams held in 2026-10 was useful, of 50.00 USD that was measured.")


def test_a_month_without_one_before(measured: Project) -> None:
    made = efficiency(measured, parse_period("2026-09"))
    assert "There is no month before to compare it with." in made.title
    assert {row[-1] for row in made.sections[0].rows} == {None}


@given(before=WORKS, now=WORKS, part=some.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100))
def test_less_of_the_same_wins_nothing(before: dict[str, Work], now: dict[str, Work], part: Fraction) -> None:
    less = {pool: Work(work.cost * part, work.efficiency) for pool, work in now.items()}
    whole, some_of_it = (Standing("vision", "USD", works, before) for works in (now, less))
    assert some_of_it.same_work == whole.same_work
    assert some_of_it.saved == (None if whole.saved is None else whole.saved * part)


@given(before=WORKS, now=WORKS)
def test_what_is_no_longer_run_counts_as_it_was(before: dict[str, Work], now: dict[str, Work]) -> None:
    """Giving up a pool moves the figure towards that of before and never above it, and saves nothing."""
    for pool, work in now.items():
        rest = {name: one for name, one in now.items() if name != pool}
        without = Standing("vision", "USD", rest, before)
        kept = Standing("vision", "USD", {**rest, pool: before.get(pool, work)}, before)
        assert without.same_work == kept.same_work
    nothing = Standing("vision", "USD", {}, before)
    assert (nothing.same_work, nothing.saved) == (nothing.was, None)


def test_command_and_api_say_the_same(run: Run, measured: Project) -> None:
    said = run("--project", str(measured.folder), "report", "efficiency", "--period", "2026-10", "-o", "csv")
    assert said.code == 0
    lines = [text.split(",")[1] for text in said.out.splitlines()[1:]]
    served: Clients = clients_of(measured.folder)
    answer = served("finance").get("/api/v1/reports/efficiency?period=2026-10").json()
    assert lines == ["vision", "bio", "speech"] == [row["team"] for row in answer["sections"][0]["rows"]]
    mine = served("viewer").get("/api/v1/reports/efficiency?period=2026-10")
    assert [row["team"] for row in mine.json()["sections"][0]["rows"]] == ["vision"]
    assert not {"bio", "speech", "66.0"} & set(mine.text.replace('"', " ").split())
    page = served("viewer").get("/idle?period=2026-10").text
    assert "nobody wins by doing less" in page
    assert "speech" not in page
