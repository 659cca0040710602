"""What a job would cost: what jobs that ran did cost, by sums made by hand."""

from decimal import Decimal
from typing import Any

import pytest

import apportion
from apportion.verbs.project import Project

NANO = Decimal("0.00000001")


def close(one: Decimal, other: object) -> bool:
    return abs(one - Decimal(str(other))) < NANO


@pytest.mark.parametrize(
    ("job", "team", "asked"),
    [
        ("j1", "vision", {"gpus": 4, "model": "h100", "start": "2026-10-01T06:00", "hours": 12}),
        ("s1", "vision", {"gpus": 4, "model": "h100", "start": "2026-09-01T00:00:00Z", "hours": 12}),
        ("j2", "speech", {"gpus": 4, "model": "l40s", "start": "2026-10-01T00:00", "hours": 6}),
        (
            "j3",
            "speech",
            {"cpus": 10, "memory": 20, "start": "2026-10-01T00:00", "hours": 5, "labels": ["class=batch"]},
        ),
        ("j4", "vision", {"cpus": 10, "memory": 20, "start": "2026-10-01T00:00", "hours": 5}),
    ],
)
def test_a_job_that_ran_is_estimated_at_what_it_cost(
    small: Project, job: str, team: str, asked: dict[str, Any]
) -> None:
    line = apportion.cost(small, job).totals[0]
    price = apportion.estimate(small, team=team, **asked).asked.price
    assert close(price.direct, line.direct)
    assert close(price.idle, line.idle)
    assert abs(price.overhead - line.overhead) < Decimal("0.0000001")


def test_by_hand(small: Project) -> None:
    found = apportion.estimate(small, team="vision", gpus=4, model="h100", start="2026-10-01T06:00", hours=12)
    assert (found.asked.price.direct, found.asked.price.idle) == (Decimal(72), Decimal(216))
    assert (found.asked.kind, found.asked.range) == ("settled", None)


def test_an_hour_to_come_costs_what_such_hours_did(small: Project) -> None:
    """2026-11-05 is a Thursday, as 2026-10-01 is; on a Friday nothing ran."""
    thursday = apportion.estimate(small, team="vision", gpus=4, model="H100", start="2026-11-05T13:30", hours=6)
    assert (thursday.asked.price.direct, thursday.asked.kind) == (Decimal(4 * 6 * 2), "such hours")
    friday = apportion.estimate(small, team="vision", gpus=4, model="H100", start="2026-11-06T13:30", hours=6)
    assert (friday.asked.price.direct, friday.asked.kind) == (4 * 6 * Decimal("1.5"), "mean")


def test_the_range_is_what_such_jobs_came_to(small: Project) -> None:
    """At any of 19 starts from 24.00 to 48.00, in September 24.00; 36.00 on average. The parts beside it grow with it."""
    found = apportion.estimate(small, team="vision", gpus=4, model="h100", hours=6).asked
    assert found.price.direct == 36
    assert found.range is not None
    assert (found.range.starts, found.range.months) == (19, 1)
    assert close(found.range.low / found.price.owed, Decimal(24) / 36)
    assert close(found.range.high / found.price.owed, Decimal(48) / 36)


def test_another_hour_is_cheaper(small: Project) -> None:
    found = apportion.estimate(small, team="vision", gpus=4, model="h100", hours=6, start="2026-11-05T13:00")
    ways = {way.what: way for way in found.cheaper}
    early = ways["starting Thu 00:00"]
    assert early.price.direct == 24
    assert early.saves is not None
    assert close(early.saves, found.asked.price.owed / 2)
    assert close(early.saves + early.price.owed, found.asked.price.owed)
    again = apportion.estimate(small, team="vision", gpus=4, model="h100", hours=6, start="2026-11-05T00:00")
    assert not [way for way in again.cheaper if way.what.startswith("starting")]


def test_preemptible_work_is_cheaper_by_what_the_policy_says(small: Project) -> None:
    found = apportion.estimate(small, team="vision", gpus=4, model="h100", hours=6)
    way = next(way for way in found.cheaper if way.what == "with qos=preemptible")
    assert way.price.adjustments == Decimal("-0.6") * 36
    assert way.saves == Decimal("0.6") * 36
    asked = apportion.estimate(small, team="vision", gpus=4, model="h100", hours=6, labels=["qos=preemptible"])
    assert asked.asked.price == way.price
    assert not [way for way in asked.cheaper if "qos" in way.what]


def test_another_model_is_cheaper_while_it_does_not_take_too_long(small: Project) -> None:
    found = apportion.estimate(small, team="speech", gpus=4, model="h100", hours=6)
    way = next(way for way in found.cheaper if way.what == "on L40S")
    assert (way.pools, way.price.direct, way.kind) == (("small",), 4 * 6 * Decimal("0.5"), "listed")
    assert way.until is not None
    assert close(way.until, 6 * found.asked.price.owed / way.price.owed)
    assert not [
        way
        for way in apportion.estimate(small, team="speech", gpus=1, model="l40s", hours=1).cheaper
        if "H100" in way.what
    ]


def test_the_price_list_has_a_cheaper_class(small: Project) -> None:
    found = apportion.estimate(small, team="speech", gpus=4, model="l40s", hours=6)
    low = next(way for way in found.cheaper if way.what == "with qos=low")
    assert (found.asked.price.direct, low.price.direct) == (Decimal(12), Decimal(6))
    assert found.asked.range is None


def test_lighter_work_is_cheaper_by_its_weight(small: Project) -> None:
    found = apportion.estimate(small, team="vision", cpus=10, memory=20, hours=5)
    batch = next(way for way in found.cheaper if way.what == "with class=batch")
    assert close(found.asked.price.direct, 2 * batch.price.direct)


def test_tax_is_in_the_direct_price(small: Project) -> None:
    """11 weighted units at 0.01 for 5 hours, twice; batch pays a third of that and other work two; and a tenth more."""
    found = apportion.estimate(small, team="vision", cpus=10, memory=20, hours=5)
    assert close(found.asked.price.direct, Decimal("1.1") * 2 / 3 * Decimal("1.1"))
    assert "Tax, credits and fees that follow cpu are in the direct price: +10.0 % in 2026-10." in found.notes


def test_a_team_that_never_used_a_pool_bears_what_all_did(small: Project) -> None:
    found = apportion.estimate(small, team="robots", gpus=4, model="h100", hours=6)
    assert found.asked.price.idle == 3 * found.asked.price.direct
    assert "robots used nothing of big in 2026-10: idle is what all teams bore on average." in found.notes
