"""Each rule on made-up months: found when planted, silent when not, silent just below its bound."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from apportion.policy.match import Glob
from apportion.reports.capacity import Measured, Stretch
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.bursts import bursts
from apportion.reports.review.dominant import dominant
from apportion.reports.review.drift import Worked, drift
from apportion.reports.review.finding import Edit, said_number, together
from apportion.reports.review.idle import idle
from apportion.reports.review.owners import Unmapped, owners, unmapped
from apportion.reports.review.pool import Pool
from apportion.reports.review.profile import Profile, profile
from apportion.reports.review.review import told_apart
from apportion.reports.review.season import season
from apportion.reports.review.weights import Claim, Evidence, Pair, weights
from apportion.verbs.reviewing.drafting import literally

BOUNDS, MONTHS = Bounds(), ("2026-10", "2026-09")
MONDAY = datetime(2026, 10, 5, tzinfo=UTC)


def held(level: Callable[[datetime], int], there: int = 10, days: int = 14, start: datetime = MONDAY) -> Profile:
    hours = [start + timedelta(hours=n) for n in range(24 * days)]
    stretches = tuple(
        Stretch(hour, {"used": Fraction(level(hour)), "unsold": Fraction(there - level(hour))}, {}) for hour in hours
    )
    return profile(Measured("gpus", "GPU", "GPU-hour", stretches, is_stated=True))


def steady(level: int) -> Callable[[datetime], int]:
    return lambda _: level


def pool(own: Profile, method: str = "proportional", **teams: int) -> Pool:
    each = {team: (Fraction(hours), Decimal(hours)) for team, hours in (teams or {"a": 1, "b": 1}).items()}
    there = sum((hour.there for hour in own.hours), Fraction(0))
    return Pool(own.pool, method, own, "USD", Decimal(100), each, {"used": own.held, "unsold": there - own.held})


def by_team(**hours: int) -> list[Worked]:
    return [Worked("USD", {"team": team}, Fraction(amount), Decimal(2 * amount)) for team, amount in hours.items()]


def test_drift_is_told_with_both_months_and_nothing_else() -> None:
    (found,) = drift(by_team(a=60, b=40), by_team(a=49, b=51), MONTHS, BOUNDS)
    assert found.key == "drift:team"
    assert found.sentence.startswith(
        "By team, of the GPU-hours a has 60.0 % (49.0 % in 2026-09) and b has 40.0 % (51.0 % in 2026-09);"
    )
    assert found.rows[0] == ("a", 60, 49, Decimal("0.6"), Decimal("0.49"), 120, 98, Decimal("0.6"), Decimal("0.49"))
    assert [list(map(int, row)) for row in found.drawn] == [[49, 60], [51, 40]]
    assert found.ticks == ("2026-09", "2026-10")
    assert found.edit is None


@pytest.mark.parametrize(("share", "told"), [(59, False), (60, True), (41, False), (40, True)])
def test_drift_below_its_bound_is_not_told(share: int, told: bool) -> None:
    assert bool(list(drift(by_team(a=share, b=100 - share), by_team(a=50, b=50), MONTHS, BOUNDS))) is told


def test_a_bound_may_be_another() -> None:
    now, before = by_team(a=53, b=47), by_team(a=50, b=50)
    assert not list(drift(now, before, MONTHS, BOUNDS))
    assert list(drift(now, before, MONTHS, replace(BOUNDS, drift=3)))


def test_drift_of_money_alone_and_of_no_hours() -> None:
    now = [
        Worked("USD", {"phase": name}, Fraction(50), Decimal(money))
        for name, money in (("training", 80), ("tuning", 20))
    ]
    before = [replace(one, amount=Decimal(50)) for one in now]
    (found,) = drift(now, before, MONTHS, BOUNDS)
    assert "of the money training has 80.0 % (50.0 % in 2026-09)" in found.sentence
    (found,) = drift([replace(one, held=Fraction(0)) for one in now], before, MONTHS, BOUNDS)
    assert "GPU-hours became" not in found.sentence


def test_currencies_are_told_apart() -> None:
    now, before = by_team(a=60, b=40), by_team(a=40, b=60)
    both = (
        [*now, *(replace(one, currency="EUR") for one in now)],
        [*before, *(replace(one, currency="EUR") for one in before)],
    )
    found = told_apart(list(drift(*both, MONTHS, BOUNDS)))
    assert [one.key for one in found] == ["drift:team", "drift:team:USD"]
    assert found[0].currency == "EUR"


def test_owners_that_come_and_go() -> None:
    before = {("a", "x"): Decimal(50), ("b", ""): Decimal(50)}
    now = {("a", "x"): Decimal(40), ("a", "y"): Decimal(30), ("c", "z"): Decimal(30), ("a", "tiny"): Decimal("0.5")}
    new, vanished = owners(now, before, "USD", MONTHS, BOUNDS)
    assert (new.key, new.amount) == ("owners:new", Decimal(60))
    assert [row[:2] for row in new.rows] == [("a/y", Decimal(30)), ("c", Decimal(30))]
    assert new.sentence == "2 owners of 2026-10 are not in 2026-09: a/y (30.00 USD) and c (30.00 USD)."
    assert (vanished.key, vanished.rows[0][:2], vanished.amount) == ("owners:vanished", ("b", Decimal(50)), Decimal(50))
    assert not list(owners(before, before, "USD", MONTHS, BOUNDS))


def test_work_that_is_nobodys() -> None:
    gaps = [
        Unmapped({"account": "vision-x"}, 3, "USD", Decimal(20), "account", "vision"),
        Unmapped({"account": "q"}, 1, "USD", Decimal(5), "account"),
        Unmapped({}, 1, "USD", Decimal(4)),
        Unmapped({"account": "small"}, 1, "USD", Decimal("0.9"), "account", "vision"),
    ]
    first, second, third = unmapped(gaps, {"USD": Decimal(100)}, BOUNDS)
    assert first.edit == Edit(owner=("account", "vision-x", "vision"))
    assert (first.key, first.amount, first.rows[1][1]) == ("unmapped:account=vision-x", Decimal(20), Decimal("29.9"))
    assert second.edit == Edit(owner=("account", "q", ""))
    assert "--team" in second.do
    assert third.edit is None
    assert "scheduler" in third.do


def test_a_pool_that_nobody_holds_at_night_or_at_weekends() -> None:
    (found,) = season([held(lambda hour: 8 if 7 <= hour.hour < 20 else 2)], BOUNDS)
    assert found.key == "season:gpus"
    share = Fraction(2 * 11, 8 * 13 + 2 * 11)
    assert found.sentence == (
        f"Pool gpus is not held evenly: 2 GPU at night (20:00 to 07:00) against 8 by day, {float(100 * share):.1f} % of its GPU-hours."
    )
    assert [len(found.rows), len(found.drawn[0]), found.drawn[0][12], found.drawn[6][3]] == [7, 24, 8, 2]
    (found,) = season([held(lambda hour: 2 if hour.weekday() >= 5 else 8)], BOUNDS)
    assert "2 GPU at weekends against 8 on working days" in found.sentence
    assert "at night" not in found.sentence


@pytest.mark.parametrize(
    "level", [steady(6), lambda hour: 8 if 7 <= hour.hour < 20 else 5], ids=["even", "a little less"]
)
def test_an_even_pool_has_no_season(level: Callable[[datetime], int]) -> None:
    assert not list(season([held(level)], BOUNDS))


def test_a_pool_known_for_some_days_has_no_season() -> None:
    assert not list(season([held(lambda hour: 8 if hour.hour == 12 else 0, days=6)], BOUNDS))


def test_bursts_are_counted_as_they_are() -> None:
    own = held(lambda hour: 10 if 9 <= hour.hour < 12 else 2)
    levels = sorted(10 if 9 <= hour % 24 < 12 else 2 for hour in range(24 * 14))
    assert (own.mean, own.peak, own.p95) == (
        Fraction(sum(levels), len(levels)),
        Fraction(levels[-1]),
        Fraction(levels[319]),  # 95 % of 336 are 319.2
    )
    assert [len(burst) for burst in own.bursts] == [3] * 14
    (found,) = bursts([pool(own)], BOUNDS)
    assert found.key == "peaky:gpus"
    assert "14 bursts above 4.50 of mostly 3 h and at most 3 h; the method proportional" in found.sentence
    assert found.edit == Edit(((("pools", "gpus", "method"), "temporal_shapley"),))
    assert found.drawn == ((Fraction(10),) * 14, (own.mean,) * 14)


def test_a_low_bound_tells_of_peaks_without_a_burst() -> None:
    (found,) = bursts([pool(held(lambda hour: 10 if hour.hour < 12 else 8), "peak_shapley")], replace(BOUNDS, peak=110))
    assert found.sentence == "Pool gpus peaks at 10 GPU, 1.11 times its mean of 9 (95 % of its hours: 10 or less)."


def test_peaks_under_a_method_that_charges_them_ask_for_no_change() -> None:
    own = held(lambda hour: 10 if 9 <= hour.hour < 12 else 2)
    for other in (pool(own, "peak_shapley"), pool(own, "proportional", a=5)):
        (found,) = bursts([other], BOUNDS)
        assert (found.kind, found.edit) == ("burst", None)
    assert not list(bursts([pool(held(lambda hour: 10 if hour.hour < 12 else 6))], BOUNDS))
    assert next(bursts([replace(pool(own), slot_written=True)], BOUNDS)).edit == Edit(
        ((("pools", "gpus", "slot"), "hour"), (("pools", "gpus", "method"), "temporal_shapley"))
    )


def test_idle_above_its_bound() -> None:
    (found,) = idle([pool(held(steady(6)))], BOUNDS)
    assert found.sentence.startswith(
        "40.0 % of pool gpus stood idle (1,344 of 3,360 GPU-hours); at its peak 6 of 10 GPU were held;"
    )
    assert found.do.startswith("4 GPU were never needed")
    assert found.edit == Edit(((("pools", "gpus", "method"), "capacity_rate"),))
    shows = replace(pool(held(steady(6)), "capacity_rate"), idle=Decimal(40), shows_idle=True)
    (found,) = idle([shows], BOUNDS)
    assert (found.amount, found.edit, found.where) == (Decimal(40), None, ("pool=gpus", "reason=idle"))
    assert not list(idle([pool(held(steady(7)))], BOUNDS))
    assert not list(idle([replace(pool(held(steady(1))), parts={})], BOUNDS))


def test_one_team_over_half_of_a_pool() -> None:
    own = replace(pool(held(steady(6)), a=51 * 14 * 24, b=49 * 14 * 24), may_reserve="gpu")
    (found,) = dominant([own], BOUNDS)
    assert found.key == "dominant:gpus:a"
    assert found.sentence.startswith("a held 51.0 % of what teams held of pool gpus")
    assert "- {team: a, pool: gpus, meter: gpu, amount: 51}" in found.do
    assert (found.amount, found.where) == (Decimal(51 * 14 * 24), ("pool=gpus", "team=a"))
    assert not list(dominant([pool(held(steady(6)), a=50, b=50), pool(held(steady(6)), a=50)], BOUNDS))


def pairs(ratios: Sequence[Fraction]) -> tuple[Pair, ...]:
    """Of runs that held as many hours as their place."""
    return tuple((ratio * n, Fraction(n)) for n, ratio in enumerate(ratios, 1))


def alternating(low: str, high: str, count: int = 40) -> tuple[Pair, ...]:
    return pairs([Fraction(low if n % 2 else high) for n in range(count)])


def claim(*evidence: Evidence, weight: str = "1.25") -> Claim:
    return Claim("gpus", "phase", "inference", Fraction(weight), evidence, 40, "USD", Decimal(100))


def test_a_weight_that_was_measured_otherwise() -> None:
    own, others = alternating("0.1", "0.3"), alternating("0.7", "0.9")
    (found,) = weights([claim(Evidence("activity", own, others))], BOUNDS)
    ratio = (
        sum(used for used, _ in own)
        / sum(held for _, held in own)
        / (sum(used for used, _ in others) / sum(held for _, held in others))
    )
    assert found.key == "weight:gpus:phase:inference"
    assert found.rows[0][:2] == ("the policy", Decimal("1.25"))
    assert found.rows[1][:2] == ("activity", Decimal(f"{float(ratio):.6f}"))
    low, high = (Decimal(str(cell)) for cell in found.rows[1][2:4])
    assert low < Decimal(f"{float(ratio):.6f}") < high < Decimal("0.4")
    value = f"{float(ratio):.2f}".rstrip("0")
    assert found.edit == Edit(((("pools", "gpus", "weights", "phase", "inference"), value),))
    assert "40 workloads against 40" in found.sentence


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("activity", alternating("0.9", "1.1"), alternating("0.7", "0.9")),  # 1.25, as the policy says
        Evidence("activity", alternating("0.1", "0.3", 19), alternating("0.7", "0.9")),  # too few
        Evidence("activity", alternating("0", "3.2", 20), alternating("0", "1.6", 20)),  # too wide to say
        Evidence("activity", alternating("0", "0"), alternating("0.7", "0.9")),  # nothing measured
        Evidence("price", (), alternating("1", "1")),
    ],
)
def test_a_weight_that_nothing_contradicts_stays(evidence: Evidence) -> None:
    assert not list(weights([claim(evidence)], BOUNDS))


def test_evidence_that_disagrees_says_nothing_and_the_nearest_suggests() -> None:
    low, agrees = (
        Evidence("activity", alternating("0.1", "0.3"), alternating("0.7", "0.9")),
        Evidence("energy", alternating("1", "1"), alternating("0.8", "0.8")),
    )
    assert not list(weights([claim(low, agrees)], BOUNDS))
    above = Evidence("energy", alternating("3", "3"), alternating("1", "1"))
    assert not list(weights([claim(low, above)], BOUNDS))
    half = Evidence("energy", alternating("1", "1"), alternating("2", "2"))
    (found,) = weights([claim(low, half)], BOUNDS)
    assert found.edit == Edit(((("pools", "gpus", "weights", "phase", "inference"), "0.5"),))
    assert found.sentence.endswith("its activity.")


def test_others_that_are_weighed_themselves_count_so() -> None:
    node = ((Fraction(30), Fraction(10)),)
    (found,) = weights(
        [claim(Evidence("price", node, ((Fraction(10), Fraction(10)),), Fraction(2)), weight="1.5")], BOUNDS
    )
    assert found.edit == Edit(((("pools", "gpus", "weights", "phase", "inference"), "6"),))
    assert "cost 3 times what others cost by the bills (1 node against 1): 6 would" in found.sentence


def test_words() -> None:
    assert [together(list("abcd"[:n])) for n in range(5)] == ["", "a", "a and b", "a, b and c", "a, b, c and 1 more"]
    assert [said_number(Fraction(n)) for n in ("1234.5", "12.34", "0.456", "7")] == ["1,234", "12.3", "0.46", "7"]


@pytest.mark.parametrize("value", ["a[1]", "a*", "what?", "plain", "]["])
def test_a_rule_is_about_that_value_alone(value: str) -> None:
    glob = Glob(literally(value))
    assert glob.matches(value)
    assert not [other for other in ("a1", "ab", "whatx", "plainer", "a") if glob.matches(other)]
