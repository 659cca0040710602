"""Edges of time and money: the last second of grace, months that hold nothing, and amounts of every size, sign and number of digits."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import apportion
from apportion.books.shapes import PLAN, Close
from apportion.errors import BooksError
from apportion.model.minor import minor_units
from tests.sequences.hands import POLICY, ByVerbs, OnBooks, bill_days, decided, postings
from tests.sequences.judging import Judge, in_minor
from tests.sequences.model import EXACT, MONTHS, Model, whole
from tests.sequences.steps import Step, take

MARCH, APRIL, MAY, JUNE = MONTHS[:4]


def told(hand: ByVerbs, *some: Step) -> Model:
    model, judge = Model(), Judge(hand.books)
    for step in some:
        take(hand, model, step)
        judge.look(model)
    judge.verify()
    return model


def restated(month: str, amount: str, team: str = "vision") -> Step:
    return Step("restate", month, (team, ""), Decimal(amount))


@pytest.mark.parametrize("zone", [pytest.param("Pacific/Kiritimati", marks=pytest.mark.long), "Europe/Berlin"])
def test_a_month_may_be_closed_from_the_second_after_its_days_of_grace(
    zone: str, by_verbs: Callable[[], ByVerbs], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The days are those of the policy's zone; Berlin's clocks changed in between."""
    hand = by_verbs()
    said = POLICY.replace("time_zone: UTC", f"time_zone: {zone}") + "close: {grace_days: 5}\n"
    (hand.project.folder / "policy.yaml").write_text(said, "utf-8")
    hand = ByVerbs(apportion.open_project(hand.project.folder))
    first = datetime(2025, 4, 6, tzinfo=ZoneInfo(zone))
    monkeypatch.setattr("time.time", lambda: first.timestamp() - 2)
    told(hand, restated(MARCH, "10"))
    for early, refused in ((1, ["over"]), (0, [])):
        now = first.timestamp() - early
        monkeypatch.setattr("time.time", lambda now=now: now)
        assert [look.name for look in apportion.close(hand.project, MARCH).against] == refused
    closed = hand.books.closed(MARCH)
    assert closed is not None
    assert closed.closed_s == first.timestamp()
    before, day = (str((first - timedelta(days=days)).date()) for days in (1, 0))
    assert apportion.report(hand.project, "showback", MARCH, as_of=day).head == closed.head
    assert apportion.report(hand.project, "showback", MARCH, as_of=before).head == hand.books.runs(PLAN)[-1].head_after


def test_months_without_postings_between_closed_ones(by_verbs: Callable[[], ByVerbs]) -> None:
    """April and May have no bill: what is late for March is booked after June, which is closed, and that month can be closed."""
    hand = by_verbs()
    july = "2025-07"
    told(
        hand, restated(MARCH, "10"), Step("close", MARCH), restated(JUNE, "20"), Step("close", JUNE), Step("close", APRIL),
        restated(MARCH, "7.5"), Step("close", july), restated(MAY, "3"), restated(JUNE, "20.004"),
    )  # fmt: skip
    assert {run.period for run in hand.books.runs("correction")} == {july, "2025-08"}
    closed = hand.books.closed(july)
    assert closed is not None
    assert in_minor(closed.minor) == {MARCH: -250}


def test_what_is_late_for_an_open_month_before_closed_ones_is_booked_in_it(by_verbs: Callable[[], ByVerbs]) -> None:
    hand = by_verbs()
    model = told(hand, restated(MARCH, "10"), restated(APRIL, "20"), Step("close", APRIL), restated(MARCH, "12"))
    assert model.bills(MARCH) == {MARCH: Decimal(12)}
    assert hand.books.runs("correction") == []


@pytest.mark.parametrize("amounts", [pytest.param(("0", "0"), marks=pytest.mark.long), ("-5.005", "5")])
def test_a_month_that_comes_to_nothing_is_closed_as_nothing(
    amounts: tuple[str, str], by_verbs: Callable[[], ByVerbs]
) -> None:
    hand = by_verbs()
    told(
        hand, restated(MARCH, amounts[0]), restated(MARCH, amounts[1], "speech"), Step("close", MARCH),
        restated(MARCH, "1.005", "bio"), restated(APRIL, "0"), Step("close", APRIL),
    )  # fmt: skip
    march = hand.books.closed(MARCH)
    assert march is not None
    assert sum(march.minor["amount"].to_pylist()) == 0


def test_negative_months(by_verbs: Callable[[], ByVerbs]) -> None:
    """More credits than charges, then a correction that takes it further down, and one that turns it round."""
    told(
        by_verbs(), restated(MARCH, "-100.005"), restated(MARCH, "0.335", "bio"), Step("close", MARCH),
        restated(MARCH, "-200"), Step("close", APRIL), restated(MARCH, "300"), Step("close", MAY),
    )  # fmt: skip


DIGITS = {"JPY": 0, "USD": 2, "KWD": 3}


@pytest.mark.parametrize(
    "size", ["0.5", "1.005", "-2.5005", "33.333333333", "1000000000000000.000000001", "-999999999999999.9995"]
)
def test_currencies_of_no_two_and_three_digits(size: str, on_books: Callable[[], OnBooks]) -> None:
    """Each is rounded by itself to its own minor units, half to even, and they are never added."""
    books = on_books().books
    amount = Decimal(size)
    shares = {"vision": EXACT.multiply(amount, Decimal("0.5")), "speech": EXACT.multiply(amount, Decimal("0.5"))}
    tables = [
        (postings(MARCH, MARCH, shares, currency), bill_days(MARCH, {"all": amount}, currency)) for currency in DIGITS
    ]
    run = decided(books, MARCH, pa.concat_tables(table for table, _ in tables), "run")
    days = pa.concat_tables(table for _, table in tables)
    books.post(replace(run, kind=PLAN, cause="", bill_days=days))
    done = books.close_period(Close(MARCH, "v1", minor_units(books.posted(MARCH)), {}, books.head()))
    found = dict.fromkeys(DIGITS, 0)
    for row in done.minor.to_pylist():
        found[row["currency"]] += row["amount"]
        exact = EXACT.scaleb(shares[row["team"]], DIGITS[row["currency"]])
        assert abs(row["amount"] - exact) < 1
    assert found == {currency: whole(EXACT.scaleb(amount, digits)) for currency, digits in DIGITS.items()}
    assert books.verify(done.head) == []


def test_a_month_too_large_for_statements_is_refused_before_anything_is_written(
    by_verbs: Callable[[], ByVerbs],
) -> None:
    hand = by_verbs()
    hand.deliver(MARCH, {"vision": Decimal("1E18")})
    hand.apply(Model(), MARCH)
    before = hand.books.head(), len(hand.books.audit())
    with pytest.raises(BooksError, match="smallest units of USD") as refused:
        hand.close(MARCH)
    assert refused.value.code == "month-too-large"
    assert (hand.books.head(), len(hand.books.audit()), hand.books.closed_periods()) == (*before, [])


def test_the_largest_month() -> None:
    """Cents in 64 bits; one more, of either sign, is too much."""
    amounts = {"vision": Decimal("92233720368547758.06"), "speech": Decimal("-0.01")}
    assert minor_units(postings(MARCH, MARCH, amounts))["amount"].to_pylist() == [2**63 - 2, -1]
    for more in ("0.01", "-0.01"):
        with pytest.raises(BooksError, match=f"{2**63} of the smallest units"):
            minor_units(postings(MARCH, MARCH, {**amounts, "bio": Decimal(more)}))
