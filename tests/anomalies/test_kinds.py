"""Five things that change in a world, each found as what it is: whose, since when, what it meant, and why. Sums are made here again from the postings."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from apportion.reports.anomaly.found import Anomaly
from apportion.reports.anomaly.report import anomaly_report, cause_report
from apportion.reports.sums import total
from apportion.verbs.anomalies import anomalies
from tests.anomalies import world
from tests.anomalies.conftest import Both

DAYS = 28


def of(found: Sequence[Anomaly], kind: str, owner: str) -> Anomaly:
    [one] = [one for one in found if (one.kind, one.owner) == (kind, owner)]
    return one


def posted_by_day(both: Both, **where: str) -> dict[date, Fraction]:
    sums: dict[date, Fraction] = {}
    for month in world.MONTHS:
        for row in both[1].books.posted(month).to_pylist():
            if all(row[name] in value.split("|") for name, value in where.items()):
                sums[row["day"]] = sums.get(row["day"], Fraction(0)) + Fraction(row["amount"])
    return sums


def against(sums: dict[date, Fraction], began: date, until: date) -> tuple[Fraction, Fraction]:
    """What the same weekdays of the four weeks before come to on average, and what is."""
    before = [began - timedelta(days=n) for n in range(1, DAYS + 1)]
    now = [began + timedelta(days=n) for n in range((until - began).days + 1)]
    same = {day: [sums.get(one, Fraction(0)) for one in before if one.weekday() == day.weekday()] for day in now}
    usual = sum((sum(same[day], Fraction(0)) / len(same[day]) for day in now), Fraction(0))
    return usual, sum((sums.get(day, Fraction(0)) for day in now), Fraction(0))


def exact(amount: Fraction) -> Decimal:
    return Decimal(round(amount * 10**18)).scaleb(-18)


def test_each_is_told_once_and_nothing_else(found: Sequence[Anomaly]) -> None:
    """What speech and zebra left is idle, too."""
    told = {(one.kind, one.owner): one.began for one in found}
    assert told == {
        ("spend", "vision"): world.SPEND,
        ("price", "l40s"): date(2026, 10, 1),  # a month has one price: that of its whole bill over its whole use
        ("spend", "speech"): world.IDLE,
        ("idle", "a100"): world.IDLE,
        ("idle", "t4"): world.UNIT_COST,
        ("failures", "zebra"): world.FAILURES,
        ("unit cost", "zebra"): world.UNIT_COST,
    }
    assert len(found) == len(told)
    assert len({one.id for one in found}) == len(found)
    assert {one.until for one in found} == {world.LAST}


def test_causes_add_up_to_the_last_digit(found: Sequence[Anomaly]) -> None:
    for one in found:
        assert total(one.causes.values()) == one.meant, one.kind
        [section] = cause_report(one).sections
        assert section.bill == total(row[2] for row in section.rows if isinstance(row[2], Decimal)) == one.meant


def test_what_more_spending_meant_is_the_difference_to_the_same_weekdays(found: Sequence[Anomaly], both: Both) -> None:
    one = of(found, "spend", "vision")
    usual, now = against(posted_by_day(both, team="vision"), world.SPEND, world.LAST)
    assert one.meant == exact(now - usual)
    assert (one.before, one.now) == (usual / 20, now / 20)
    assert next(iter(one.causes)) == "volume"
    assert one.causes["volume"] > one.meant * Decimal("0.9")
    leaders = {lead.what: lead for lead in one.leaders}
    own = against(posted_by_day(both, team="vision", pool="h100"), world.SPEND, world.LAST)
    assert (leaders["pool"].name, leaders["pool"].above) == ("h100", exact(own[1] - own[0]))
    assert leaders["run"].command.startswith("apportion explain 'job:vh100-10")
    assert one.sentence.startswith("vision spends ")
    assert f"a day since {world.SPEND}, against" in one.sentence


def test_less_spending_is_a_fall_with_what_it_lies_in(found: Sequence[Anomaly], both: Both) -> None:
    one = of(found, "spend", "speech")
    usual, now = against(posted_by_day(both, team="speech"), world.IDLE, world.LAST)
    assert one.meant == exact(now - usual) < 0
    assert (one.is_fall, next(iter(one.causes))) == (True, "volume")
    assert one.causes["volume"] < one.meant * Decimal("0.9")
    leaders = {lead.what: lead for lead in one.leaders}
    own = against(posted_by_day(both, team="speech", pool="a100"), world.IDLE, world.LAST)
    assert (leaders["pool"].name, leaders["pool"].above) == ("a100", exact(own[1] - own[0]))
    assert leaders["run"].above < 0
    assert one.sentence.startswith("speech's spending fell to ")
    assert " USD less, most of it volume (-" in one.sentence


def test_a_price_is_the_bill_where_the_bill_grew(found: Sequence[Anomaly]) -> None:
    one = of(found, "price", "l40s")
    assert next(iter(one.causes)) == "bill"
    assert 1.1 < one.now / one.before < 1.25
    assert one.sentence.startswith("A GPU-hour of l40s costs ")
    assert "vision" not in one.sentence
    assert one.leaders == ()


def test_idle_is_a_share_of_the_pool(found: Sequence[Anomaly], both: Both) -> None:
    one = of(found, "idle", "a100")
    idle = against(posted_by_day(both, pool="a100", reason="idle"), world.IDLE, world.LAST)
    whole = against(posted_by_day(both, pool="a100", reason="idle|usage"), world.IDLE, world.LAST)
    assert (one.before, one.now) == (idle[0] / whole[0], idle[1] / whole[1])
    assert one.meant == exact(idle[1] - idle[0] * whole[1] / whole[0])
    assert one.causes == {"unsold": one.meant}


def test_failures_are_those_of_attempts_that_failed(found: Sequence[Anomaly]) -> None:
    one = of(found, "failures", "zebra")
    assert 0.4 < one.now < 0.6
    assert one.before < 0.12
    assert one.causes == {"failed": one.meant}


def test_an_hour_costs_more_where_it_is_of_a_dearer_pool(found: Sequence[Anomaly]) -> None:
    one = of(found, "unit cost", "zebra")
    assert next(iter(one.causes)) == "mix"
    assert one.unit == "GPU-hour"
    assert one.now > 4 * one.before


def test_the_running_month_is_estimated_and_says_so(both: Both) -> None:
    """On the 26th: the same step has the same name as later, and prices are those of September."""
    told = anomalies(both[0], date(2026, 10, 26))
    one = of(told, "spend", "vision")
    assert one.estimated
    assert one.sentence.endswith("(estimated).")
    assert one.began == world.SPEND
    assert total(one.causes.values()) == one.meant
    assert next(iter(one.causes)) == "volume"
    assert abs(one.causes.get("price", Decimal(0))) < one.meant / 20
    assert {(other.kind, other.owner) for other in told} >= {("idle", "a100")}
    assert not [other for other in told if other.kind in ("price", "unit cost", "failures")]
    later = of(anomalies(both[1], world.TODAY), "spend", "vision")
    assert one.id == later.id


def test_the_report_has_a_row_each_and_says_what_to_do(found: Sequence[Anomaly]) -> None:
    made = anomaly_report(found)
    assert made.title == "7 things are not as usual."
    assert len(made.sections[0].rows) == 7
    assert made.notes[-1].endswith("`apportion anomalies ack ID --why REASON`.")
    assert anomaly_report([]).title == "Nothing stands out."


@pytest.mark.parametrize("kind", ["price", "idle"])
def test_what_is_of_a_pool_names_no_team(found: Sequence[Anomaly], kind: str) -> None:
    for one in (one for one in found if one.kind == kind):
        assert one.team == ""
        assert not [team for team in ("vision", "speech", "zebra") if team in repr(one)]
