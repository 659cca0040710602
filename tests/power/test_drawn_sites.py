"""Drawn sites against a reading of their own, quarter of an hour by quarter of an hour."""

from collections import defaultdict
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from apportion.model.currencies import CARBON, ENERGY, ESTIMATED
from apportion.model.money import NANO
from apportion.sources.tco.facility.month import energy_of
from tests.power.making import World, day_of, site_of

SEEDS = (2, 4, 8, 10, 12, 13, 15, 16, 20, 21, 23, 24)
KINDS = {"EUR": 1, ENERGY: 0}


def in_nanos(exact: dict[tuple[str, date], list[Fraction]]) -> dict[tuple[str, date], list[Fraction]]:
    """Day after day, what the month so far comes to in whole nanos, less what it came to the day before."""
    out: dict[tuple[str, date], list[Fraction]] = {}
    for name in {name for name, _ in exact}:
        so_far, shown = [Fraction(0)] * 4, [Fraction(0)] * 4
        for key in sorted(key for key in exact if key[0] == name):
            so_far = [old + new for old, new in zip(so_far, exact[key], strict=True)]
            now = [Fraction(round(total * NANO), NANO) for total in so_far]
            out[key], shown = [new - old for new, old in zip(now, shown, strict=True)], now
    return {key: parts for key, parts in out.items() if any(parts)}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_node_and_day_costs_and_emits_what_a_reading_of_every_quarter_says(seed: int, tmp_path: Path) -> None:
    world = World(seed, tmp_path)
    site = site_of(world.document, tmp_path)
    found: dict[tuple[str, date], list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 4)
    modelled = "modelled" in world.document["energy"]
    items = energy_of(site, world.nodes, world.month).items
    for item in items:
        guessed = "by the fallback" in item.explanation
        place = KINDS.get(item.currency, 3 if guessed else 2)
        found[item.resource, day_of(item.start_s, world.zone)][place] += Fraction(item.amount)
        assert (item.service, item.component, item.tags["site"]) == ("Electricity", "energy", "hall")
        assert item.issuer.endswith(ESTIMATED) == (item.currency != "EUR" and (modelled or guessed))
    expected = in_nanos(world.expected())
    assert {key: parts for key, parts in found.items() if any(parts)} == expected
    assert CARBON in {item.currency for item in items} or not expected


def test_the_seeds_draw_every_kind(tmp_path: Path) -> None:
    """Else the comparison would prove less than it says."""
    worlds = [World(seed, tmp_path) for seed in SEEDS]
    assert {world.kind for world in worlds} == {"readings", "counters", "factor", "hours"}
    assert {type(world.document["pue"]) for world in worlds} == {str, list}
    assert {str(world.zone) for world in worlds} >= {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}
    assert {type(world.document["tariff"]) for world in worlds} == {str, dict}
    lengths = {(world.month.end_s - world.month.start_s) % 86400 for world in worlds}
    assert {3600, 86400 - 3600} <= lengths, "months with a day of 25 and of 23 hours"
