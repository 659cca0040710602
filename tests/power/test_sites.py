"""Sites worked out by hand: sentences, days of 23 and 25 hours, counters, meters of a whole site, bills, demand, and what is refused."""

import re
from collections import defaultdict
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError
from apportion.model.currencies import CARBON, ENERGY
from apportion.model.times import Interval, Period
from apportion.sources.tco.facility.drawn import Node
from apportion.sources.tco.facility.month import Month, energy_of
from apportion.sources.tco.facility.site import site_of as site_at
from apportion.sources.tco.items import Item
from tests.power.making import site_of

OCTOBER = Interval(1_790_805_600, 1_793_487_600)  # 2026-10 in Berlin: 31 days and an hour
HOUR = 3600


def second(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def site(**more: Any) -> dict[str, Any]:
    usual = {"name": "hall", "time_zone": "Europe/Berlin", "nodes": ["n*"], "tariff": "0.20"}
    found = usual | {"energy": {"modelled": {"idle_watts": 0, "full_watts": 1000}}} | more
    return {key: value for key, value in found.items() if value is not None}


def node(name: str, start: str = "", end: str = "") -> Node:
    span = Interval(second(start) if start else OCTOBER.start_s, second(end) if end else OCTOBER.end_s)
    return Node(name, span)


def month(document: dict[str, Any], base: Path, *nodes: Node) -> Month:
    return energy_of(site_of(document, base), nodes or (node("n1"),), OCTOBER)


def paid(items: tuple[Item, ...], currency: str = "EUR") -> dict[str, Fraction]:
    found: dict[str, Fraction] = defaultdict(Fraction)
    for item in items:
        if item.currency == currency:
            found[item.resource] += Fraction(item.amount)
    return dict(found)


def write(base: Path, name: str, *lines: str) -> str:
    (base / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def refused(document: dict[str, Any], base: Path, *nodes: Node) -> str:
    with pytest.raises(ApportionError) as error:
        month(document, base, *nodes)
    return f"{error.value.code}: {error.value}"


def test_a_line_says_its_arithmetic(tmp_path: Path) -> None:
    tariff = [{"days": "mon-sun", "hours": "7-20", "price": "0.34"}, {"price": "0.21"}]
    document = site(pue="1.35", tariff=tariff, energy={"modelled": {"idle_watts": 6200, "full_watts": 6200}})
    line = next(item for item in month(document, tmp_path).items if item.start_s == second("2026-10-04T00:00+02:00"))
    assert line.explanation == (
        "Electricity of n1 on 2026-10-04: 148.8 kWh modelled x PUE 1.35 at 0.21 to 0.34 per kWh, time of use"
    )
    assert Fraction(line.amount) == Fraction("6.2") * Fraction("1.35") * (13 * Fraction("0.34") + 11 * Fraction("0.21"))
    assert (line.quantity, line.unit, line.sku) == (Fraction("148.8") * Fraction("1.35"), "kWh", "hall")


def test_days_on_which_clocks_change_have_their_own_hours(tmp_path: Path) -> None:
    tariff = [{"hours": "2-3", "price": "1"}, {"price": "0"}]  # one hour a day: none in March, two in October
    days = {item.start_s: item for item in month(site(tariff=tariff), tmp_path).items}
    assert len(days) == 31
    back = days[second("2026-10-25T00:00+02:00")]
    assert [Fraction(back.quantity), Fraction(back.amount)] == [25, 2]
    march = Period(2026, 3).interval(site_of(site(), tmp_path).zone)
    found = energy_of(site_of(site(tariff=tariff), tmp_path), [Node("n1", march)], march).items
    forth = next(item for item in found if item.start_s == second("2026-03-29T00:00+01:00"))
    assert [Fraction(forth.quantity), Fraction(forth.amount)] == [23, 0]


def test_a_pue_that_changes_counts_from_its_day(tmp_path: Path) -> None:
    document = site(pue=[{"value": "1.5"}, {"value": "1.2", "from": "2026-10-15"}], tariff="1")
    assert paid(month(document, tmp_path).items) == {"n1": 14 * 24 * Fraction("1.5") + (17 * 24 + 1) * Fraction("1.2")}
    months = site(pue={"2026-09": "9", "2026-10": "1.5"}, tariff="1")
    assert paid(month(months, tmp_path).items) == {"n1": 745 * Fraction("1.5")}


def test_a_node_counts_while_it_is_there(tmp_path: Path) -> None:
    parts = [node("n1", "2026-10-10T00:00+02:00", "2026-10-12T00:00+02:00")]
    parts += [node("n1", "2026-10-11T00:00+02:00", "2026-10-13T00:00+02:00")]  # a second part of it, a day of both
    parts += [node("n1", "2026-10-20T00:00+02:00", "2026-10-21T00:00+02:00"), node("x1")]
    assert paid(month(site(tariff="1"), tmp_path, *parts).items) == {"n1": 4 * 24}


def test_a_counter_that_falls_was_reset(tmp_path: Path) -> None:
    rows = ["n1,2026-10-01T00:00:00+02:00,900", "n1,2026-10-11T00:00:00+02:00,1000", "n1,2026-10-21T00:00:00+02:00,30",
            "n1,2026-11-01T00:00:00+01:00,31.5"]  # fmt: skip
    path = write(tmp_path, "meters.csv", "node,at,KWH", *rows)
    found = month(site(tariff="1", energy={"measured": {"path": path}}), tmp_path)
    assert paid(found.items) == {"n1": Fraction("131.5")}
    assert [(problem.code, problem.where) for problem in found.problems] == [("counter-reset", "meters.csv:4")]


def test_hours_without_a_reading_are_listed(tmp_path: Path) -> None:
    path = write(
        tmp_path, "m.csv", "node,start,end,joules", "n1,2026-10-01T00:00:00+02:00,2026-10-31T00:00:00+01:00,36000000"
    )
    found = month(site(tariff="2", energy={"measured": {"path": path}}), tmp_path)
    assert paid(found.items) == {"n1": 20}
    assert [problem.code for problem in found.problems] == ["energy-not-measured"]
    assert "24.0 h, first from 2026-10-30T23:00:00Z" in found.problems[0].message


def test_the_meter_of_a_site_sees_the_cooling_and_is_shared_by_weight(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", "site,start,end,kWh", "hall,2026-10-01T00:00:00+02:00,2026-10-02T00:00:00+02:00,90",
                 "other,2026-10-01T00:00:00+02:00,2026-10-02T00:00:00+02:00,5000")  # fmt: skip
    energy = {"measured": {"path": path, "weights": {"n1": "2", "n*": "1"}}}
    nodes = (node("n1"), node("n2"), node("n3", "2026-10-01T12:00+02:00"))
    found = month(site(pue="1.9", tariff="1", energy=energy), tmp_path, *nodes).items
    sevenths = {"n1": 4, "n2": 2, "n3": 1}  # n3 came at noon
    assert all(abs(paid(found)[name] - Fraction(90 * part, 7)) < Fraction(1, 10**9) for name, part in sevenths.items())
    assert sum(paid(found).values()) == 90
    assert "of what hall drew, by weight and time at 1 per kWh" in found[0].explanation


def test_a_bill_of_the_utility_comes_out_to_the_last_digit_whatever_months_are_read(tmp_path: Path) -> None:
    amounts = ("1234.57", "1000.00", "0.123456789012345678")
    spans = (("2026-08-20", "2026-09-20", 7000), ("2026-09-20", "2026-10-20", 6900), ("2026-10-20", "2026-11-19", 7100))
    rows = [f"{start},{end},{kwh},{amount}" for (start, end, kwh), amount in zip(spans, amounts, strict=True)]
    path = write(tmp_path, "utility.csv", "start,end,kWh,amount", *rows)
    document = site(tariff=None, energy={"bill": {"path": path, "weights": {"*": 3}}}, carbon={"g_per_kwh": "100"})
    there = Interval(second("2026-09-10T00:00+02:00"), second("2026-12-01T00:00+01:00"))
    nodes = [Node(f"n{n}", there) for n in range(7)]
    read = site_of(document, tmp_path)
    months = [Period(2026, month).interval(read.zone) for month in (8, 9, 10, 11)]
    items = [item for span in months for item in energy_of(read, nodes, span).items]
    money = [item for item in items if item.currency == "EUR"]
    assert sum(Fraction(item.amount) for item in money) == sum(map(Fraction, amounts))
    assert {item.resource for item in money if item.end_s <= there.start_s} == {"hall"}, "nobody was there yet"
    for unit, whole in ((CARBON, 2_100_000), (ENERGY, 21_000)):
        counted = sum((Fraction(item.amount) for item in items if item.currency == unit), Fraction(0))
        assert abs(counted - whole) < len(months) * Fraction(1, 10**9), "each month is within half a nano of exact"


def test_the_highest_load_is_paid_by_those_who_draw_it_and_the_fee_by_energy(tmp_path: Path) -> None:
    rows = ["n1,2026-10-05T10:00:00Z,2026-10-05T10:15:00Z,2", "n2,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,4",
            "n1,2026-10-06T00:00:00Z,2026-10-08T00:00:00Z,94"]  # fmt: skip
    path = write(tmp_path, "m.csv", "node,start,end,kwh", *rows)
    tariff = {"prices": "0", "demand": "10", "fee": "300"}
    document = site(pue="1.5", tariff=tariff, energy={"measured": {"path": path}})
    found = month(document, tmp_path, node("n1"), node("n2")).items
    extra = {(item.unit, item.resource): Fraction(item.amount) for item in found if item.unit != "kWh"}
    peak = (8 + 4) * Fraction("1.5")  # 2 kWh in a quarter are 8 kW
    assert extra == {
        ("kW", "n1"): peak * 10 * 8 / 12,
        ("kW", "n2"): peak * 10 * 4 / 12,
        ("Months", "n1"): 288,
        ("Months", "n2"): 12,
    }
    told = next(item.explanation for item in found if (item.unit, item.resource) == ("kW", "n1"))
    assert (
        told == "Demand charge of hall in 2026-10: 18 kW from 2026-10-05T10:00:00Z x 10 per kW; n1 drew 66.667 % of it"
    )


def test_intensities_by_year_month_and_hour(tmp_path: Path) -> None:
    years = write(tmp_path, "years.csv", "region,start,g_per_kwh", "DE,2025,900", "DE,2026,400", "FR,2026,50")
    months = write(tmp_path, "months.csv", "start,kg_per_kWh", "2026-09,9", "2026-10,0.4")
    for path in (years, months):
        document = site(tariff=None, region="DE", carbon={"path": path, **({} if path == years else {"region": ""})})
        items = month(document, tmp_path).items
        assert paid(items, CARBON) == {"n1": 745 * 400}
        assert {item.currency for item in items} == {CARBON, ENERGY}, "without a tariff there is no money"


def test_modelled_energy_and_fallbacks_are_estimates(tmp_path: Path) -> None:
    grid = write(tmp_path, "grid.csv", "start,end,DE", "2026-10-01T00:00:00+02:00,2026-10-02T00:00:00+02:00,100")
    meter = write(tmp_path, "m.csv", "node,start,end,kWh", "n1,2026-10-01T00:00:00+02:00,2026-11-01T00:00:00+01:00,745")
    carbon = {"path": grid, "fallback": "300"}
    measured = month(site(region="DE", carbon=carbon, energy={"measured": {"path": meter}}), tmp_path)
    issuers = {(item.currency, item.issuer): 0 for item in measured.items}
    assert set(issuers) == {("EUR", ""), ("kWh", "hall"), ("gCO2e", "hall"), ("gCO2e", "hall (estimated)")}
    assert paid(measured.items, CARBON) == {"n1": 24 * 100 + 721 * 300}
    assert [problem.code for problem in measured.problems] == ["estimated"]
    modelled = month(site(region="DE", carbon=carbon), tmp_path)
    assert {item.issuer for item in modelled.items if item.currency != "EUR"} == {"hall (estimated)"}


def test_an_hour_without_a_price_is_named(tmp_path: Path) -> None:
    rows = [
        f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ},0.2"
        for at in range(OCTOBER.start_s, OCTOBER.end_s, HOUR)
    ]
    path = write(tmp_path, "prices.csv", "start,price", *rows[:100], *rows[102:])
    assert "hours-missing" in refused(site(tariff={"path": path}), tmp_path)
    assert "no price of a kWh from 2026-10-05T02:00:00Z to 2026-10-05T04:00:00Z" in refused(
        site(tariff={"path": path}), tmp_path
    )
    write(tmp_path, "prices.csv", "start,price", *rows)
    assert paid(month(site(tariff={"path": path}), tmp_path).items) == {"n1": 149}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"energy": {"modelled": {"idle_watts": 1, "full_watts": 2}, "bill": {"path": "b.csv"}}}, "energy-priced-twice"),
        ({"energy": {"bill": {"path": "b.csv", "weights": {"*": 1}}}}, "energy-priced-twice: .* a utility bill and a tariff"),
        ({"energy": {}}, "missing-setting: .* measured, modelled or bill"),
        ({"tarif": "1"}, "unknown-setting: .* did you mean 'tariff'"),
        ({"pue": "0.9"}, "invalid-setting: .* less than 1"),
        ({"pue": [{"value": "1.2", "from": "2026-10-02"}]}, "hours-missing: .* no PUE from 2026-09-30T22:00:00Z"),
        ({"tariff": [{"price": "1", "hours": "7-22:10"}]}, "invalid-setting: .* quarters of an hour"),
        ({"tariff": [{"price": "1", "days": "monday"}]}, "invalid-setting: .* a list of days"),
        ({"tariff": {"prices": "1", "path": "b.csv"}}, "invalid-setting: .* not both"),
        ({"tariff": {"path": "twice.csv"}}, "rows-overlap: .* speak for 2026-10-24T00:00:00Z.*twice.csv:3.*offset"),
        ({"tariff": {"path": "clock.csv"}}, "ambiguous-time: .* comes twice.*clock.csv:2.*offset"),
        ({"tariff": {"path": "b.csv"}}, "missing-columns: .* must give the price in one column"),
        ({"energy": {"modelled": {"idle_watts": {"x*": 5}, "full_watts": 9}}}, "no-weight: .* node n1"),
        ({"energy": {"modelled": {"idle_watts": 5, "full_watts": 9, "utilisation": "60"}}}, "a part of 1"),
        ({"energy": {"measured": {"path": "less.csv"}}}, "negative-amount: .*less.csv:2"),
        ({"energy": {"measured": {"path": "b.csv"}}}, "missing-columns: .*lacks node"),
        ({"tariff": None, "energy": {"bill": {"path": "b.csv"}}}, "no-weight: .* known as a whole"),
        ({"carbon": {"path": "grid.csv"}, "region": "DK"}, "unknown-region: .* valid: DE, FR"),
        ({"carbon": {"path": "grid.csv"}, "region": "DE"}, "hours-missing: .* no carbon intensity"),
        ({"carbon": {"fallback": 5}}, "invalid-setting: .* g_per_kwh"),
        ({"tariff": {"path": "../prices.csv"}}, "path-outside|no-such-file"),
        ({"time_zone": "Europe/Berln"}, "unknown-time-zone"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    write(tmp_path, "b.csv", "start,end,kWh,amount", "2026-10-01,2026-11-01,7000,1234.57")
    write(tmp_path, "less.csv", "node,start,end,kWh", "n1,2026-10-01,2026-11-01,-1")
    write(tmp_path, "twice.csv", "start,price", "2026-10-24T02:00,1", "2026-10-24T02:00,2")
    write(tmp_path, "clock.csv", "start,price", "2026-10-25T02:00,1", "2026-10-25T02:00,2")
    write(
        tmp_path, "grid.csv", "region,start,end,g_per_kwh", "DE,2026-10-01,2026-10-05,1", "FR,2026-10-01,2026-10-05,1"
    )
    found = refused(site(**changes), tmp_path)
    assert re.search(words, found.replace("\n", " ")), found


def test_a_node_at_two_sites_is_refused(tmp_path: Path) -> None:
    both = [site_of(site(name=name), tmp_path) for name in ("hall", "annex")]
    with pytest.raises(ApportionError) as error:
        site_at(both, "n1")
    assert error.value.code == "node-at-two-sites"
    assert site_at(both, "x") is None
