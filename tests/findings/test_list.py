"""From problems to findings: what counts, how much it touches, and what an acceptance covers."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from apportion.errors import Problem
from apportion.model.finding_codes import GUESSED, LOST, NOTED, TREATMENTS, treatment_of
from apportion.model.findings import Acceptance, Finding, Taken, findings_of, judge, merge
from apportion.reports.findings import accepted_text, finding_text

HOUR = 504_000 * 3600


def row(code: str, hours: int = 0, meter: str = "gpu", **more: str) -> tuple[str, Problem]:
    return "log", Problem("log.csv:2", code, "look", quantity=str(hours * HOUR), meter=meter, **more)


def test_problems_of_a_source_and_code_are_one_finding() -> None:
    taken = Taken(quantities={("log", "gpu"): 90 * HOUR})
    (found,) = findings_of([row("conflicting-rows", 4), row("conflicting-rows", 6)], taken)
    assert (found.rows, found.hours, found.unit, found.share, found.lost) == (
        2,
        Decimal(10),
        "GPU",
        Decimal("0.1"),
        True,
    )
    assert finding_text(found) == "conflicting-rows: 2 rows, 10.0 GPU hours of source log (10.0 %, lost)"
    assert found.message == "log.csv:2: look"


def test_what_was_guessed_is_part_of_what_was_taken() -> None:
    (found,) = findings_of([row("possible-repeats", 10)], Taken(quantities={("log", "gpu"): 100 * HOUR}))
    assert (found.share, found.lost) == (Decimal("0.1"), False)


def test_money_is_counted_whatever_its_sign() -> None:
    problems = [("acme", Problem("b.csv:2", "invalid-tags", "x", money=text)) for text in ("30.00", "-30.00")]
    (found,) = findings_of(problems, Taken(money={("acme", "USD"): Decimal(540)}))
    assert (found.money, found.currency, found.share) == (Decimal(60), "USD", Decimal("0.1"))
    assert finding_text(found) == "invalid-tags: 2 rows, 60.00 USD of source acme (10.0 %, lost)"


def test_money_of_several_currencies_is_never_added() -> None:
    """50 of 1,000,000 yen and all of the dollars: the dollars are the finding, the yen are told beside them."""
    problems = [
        ("b", Problem("b.csv", "invalid-tags", "x", row=name, money=text)) for name, text in (("1", "50"), ("2", "9"))
    ]
    money = {("b", "JPY"): Decimal(1_000_000), ("b", "EUR"): Decimal(1)}
    (found,) = findings_of(problems, Taken(money=money, currencies={"1": "JPY", "2": "USD"}))
    assert (found.money, found.currency, found.share) == (Decimal(9), "USD", Decimal(1))
    assert found.message.endswith("(also 50 JPY)")


def test_money_in_one_of_several_currencies_is_no_amount_and_as_much_as_it_may_be() -> None:
    money = {("b", "JPY"): Decimal(1_000_000), ("b", "USD"): Decimal(91)}
    (found,) = findings_of([("b", Problem("b.csv", "invalid-tags", "x", money="9"))], Taken(money=money))
    assert (found.money, found.currency, found.share) == (Decimal(0), "", Decimal("0.09"))


def test_rows_count_where_neither_hours_nor_money_are_known() -> None:
    problems = [("log", Problem("a:1", "malformed-row", "x")), ("log", Problem("a", "malformed-row", "more", row="+9"))]
    (found,) = findings_of(problems, Taken(rows={"log": 90}))
    assert (found.rows, found.hours, found.share) == (10, Decimal(0), Decimal("0.1"))


def test_other_meters_are_told_beside_the_one_that_is_touched_most() -> None:
    taken = Taken(quantities={("log", "gpu"): 10 * HOUR, ("log", "cpu"): 10**12})
    (found,) = findings_of([row("possible-repeats", 5), row("possible-repeats", 1, "cpu")], taken)
    assert found.unit == "GPU"
    assert found.message.endswith("(also 504.0 core hours)")


def test_the_share_is_of_what_the_policy_counts() -> None:
    """All of the cores and half of the GPUs: a policy that counts GPUs, or both, is not told of cores alone."""
    taken = Taken(quantities={("log", "gpu"): 5 * HOUR, ("log", "cpu"): 0})
    problems = [row("conflicting-rows", 5), row("conflicting-rows", 1, "cpu")]
    assert [(one.unit, one.share) for one in findings_of(problems, taken)] == [("core", Decimal(1))]
    (found,) = findings_of(problems, taken, {"GPU"})
    assert (found.unit, found.share, found.hours) == ("GPU", Decimal("0.5"), Decimal(5))
    assert "core hours" in found.message
    assert findings_of(problems, taken, {"GPU", "core"})[0].share == 1
    assert findings_of(problems, taken, {"GiB"})[0].share == 1, "of none that counts: it stays as it is"


def test_a_note_is_no_finding_and_an_unknown_code_is_a_lost_one() -> None:
    assert findings_of([row("estimated", 5)], Taken()) == ()
    (found,) = findings_of([row("of-somebody-else", 5)], Taken())
    assert (found.lost, found.share) == (True, Decimal(1))


def test_every_code_says_why_or_what_mends_it() -> None:
    assert all(one.remedy and one.kind in (LOST, GUESSED, NOTED) for one in TREATMENTS.values())
    assert treatment_of("attempts-missing").whole


def test_what_nobody_can_measure_counts_as_all_of_its_source() -> None:
    (found,) = findings_of([("s", Problem("sacct", "attempts-missing", "x"))], Taken(rows={"s": 10_000}))
    assert found.share == 1


FOUND = Finding(
    "possible-repeats", "m", "r", source="slurm", rows=12, hours=Decimal(12), unit="GPU", share=Decimal("0.002")
)


def test_the_bound_is_in_percent() -> None:
    assert [judge([FOUND], Fraction(bound))[0].stops for bound in ("0.1", "0.2", "0.3")] == [True, False, False]


def test_an_acceptance_covers_the_same_finding_up_to_twice_as_large() -> None:
    held = Acceptance("2026-10", FOUND, "ann", "one row per board", 0)
    assert accepted_text(held) == "possible-repeats, 12.0 GPU hours of source slurm; accepted by ann: one row per board"
    same = (FOUND, replace(FOUND, hours=Decimal(24), rows=24), replace(FOUND, hours=Decimal(1), rows=1))
    larger = (replace(FOUND, hours=Decimal("24.1")), replace(FOUND, rows=25), replace(FOUND, money=Decimal(1)))
    others = (replace(FOUND, source="other"), replace(FOUND, pool="gpu"), replace(FOUND, code="no-rows"))
    assert [held.covers(one) for one in (*same, *larger, *others)] == [True] * 3 + [False] * 6


def test_of_rows_alone_an_acceptance_covers_those_that_it_began_with() -> None:
    """Nobody knows how large another row is."""
    rows = replace(FOUND, rows=2, hours=Decimal(0), unit="", message="jobs.csv:5: the row ends before it starts")
    held = Acceptance("2026-10", rows, "ann", "the clock was set back", 0)
    others = (replace(rows, message="jobs.csv:9: the row ends before it starts"), replace(rows, rows=5))
    assert [held.covers(one) for one in (rows, replace(rows, rows=3), *others)] == [True, True, False, False]


def test_a_finding_that_several_parts_meet_is_told_once_by_the_larger() -> None:
    larger = replace(FOUND, share=Decimal("0.5"))
    assert list(merge([FOUND, larger, FOUND])) == [larger]
