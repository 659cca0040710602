"""A policy on history: its own figures to the last digit, causes that add up, and sums made in plain Python."""

import shutil
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.model.times import Period, parse_periods
from apportion.policy.edit import NewOwner
from apportion.policy.load import load_policy
from apportion.reports.backtest import Row, Variant
from apportion.verbs import backtest as backtests
from apportion.verbs.backtest import Wanted, older, runs_posted
from apportion.verbs.draft import owner_edit, policy_text, setting_edit
from apportion.verbs.periods import today
from apportion.verbs.project import Project
from tests.web import world

BOTH = "2026-09..2026-10"
DISKS = 'usage: {resource: "fs-*"}, meter: storage, method: proportional'
OTHER_IDLE = (("pools", "gpus", "idle"), "proportional")


def tried(project: Project, text: str = "", *prices: str, months: str = BOTH) -> Variant:
    (variant,) = apportion.backtest(project, months, Wanted({"new": text} if text else {}, prices)).variants
    return variant


@pytest.fixture(scope="module")
def shared_idle(small: Project) -> Variant:
    """Both months with idle shared by use."""
    return tried(small, setting_edit(small, [OTHER_IDLE]).text)


def posted(project: Project, month: str, *keys: str) -> dict[tuple[str, ...], Fraction]:
    sums: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for row in project.books.believed(month).to_pylist():
        sums[tuple(row[key] for key in keys)] += Fraction(row["amount"])
    return dict(sums)


def adds_up(rows: tuple[Row, ...]) -> bool:
    return all(
        sum(map(Fraction, row.causes.values())) == Fraction(row.change) == Fraction(row.instead) - Fraction(row.posted)
        for row in rows
    )


def noop(text: str) -> str:
    """The same policy: a remark, blank lines, and keys in another order."""
    swaps = (
        (
            "policy: small\neffective: 2026-01-01\ncurrency: USD\n",
            "currency: USD   # a remark\n\neffective: 2026-01-01\npolicy: small\n",
        ),
        ("    meter: gpu\n    method: capacity_rate\n", "    method: capacity_rate\n\n    meter: gpu\n"),
        ("meter: storage, method: proportional", "method: proportional, meter: storage"),
    )
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    return text


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("edit", [str, noop], ids=["as it is", "rewritten"])
def test_under_its_own_policy_history_is_what_is_posted(small: Project, tmp_path: Path, edit: type[str]) -> None:
    text = edit(policy_text(small))
    assert edit is str or text != policy_text(small)
    shutil.copytree(small.folder, tmp_path / "own", ignore=shutil.ignore_patterns("cache", "__pycache__", "*.tmp"))
    own = apportion.open_project(tmp_path / "own")  # nothing that another has read or computed
    before = files(own.folder / "bills") | files(own.folder / "usage")
    state = own.books.state()
    variant = tried(own, text)
    assert not variant.clauses
    assert not [row for row in (*variant.owners, *variant.months, *variant.pools) if row.change or row.causes]
    for month in world.BILLED:
        mine = {(row.owner,): Fraction(row.instead) for row in variant.months if row.month == month}
        assert mine == posted(small, month, "team")
    assert variant.title == "Nobody would owe another amount for 2026-09..2026-10."
    assert {one.owner: one.instead for one in variant.swings} == {one.owner: one.posted for one in variant.swings}
    assert (files(own.folder / "bills") | files(own.folder / "usage"), own.books.state()) == (before, state)


def test_over_several_months_it_is_the_sum_of_what_if_over_each(small: Project, shared_idle: Variant) -> None:
    text, variant = setting_edit(small, [OTHER_IDLE]).text, shared_idle
    for month in world.BILLED:
        alone = {row.owner: (row.before, row.after) for row in apportion.whatif(small, month, text).rows}
        mine = {row.owner: (row.posted, row.instead) for row in variant.months if row.month == month}
        assert mine.keys() == alone.keys()
        for name, amounts in mine.items():  # a what-if is in whole cents, a back-test is exact
            assert all(abs(one - other) < Decimal("0.01") for one, other in zip(amounts, alone[name], strict=True))
    for owner in variant.owners:
        own = [row for row in variant.months if row.owner == owner.owner]
        assert Fraction(owner.change) == sum(Fraction(row.change) for row in own)
    assert adds_up((*variant.owners, *variant.months, *variant.pools))
    assert sum(Fraction(row.change) for row in variant.owners) == 0
    idle = next(row for row in variant.owners if row.owner == "_idle")
    assert set(idle.causes) == {"idle"}
    assert idle.why.startswith("gpus idle -")
    assert [clause.split(" ", 1)[0] for clause in variant.clauses] == ["pools.gpus.idle"]


def test_one_pool_that_changes_moves_only_what_it_charges(small: Project) -> None:
    text = policy_text(small).replace(DISKS, "method: even, members: [vision, speech]")
    variant = tried(small, text, months="2026-10")
    moved = {row.pool for row in variant.pools if row.change}
    assert moved == {"disks", "rest"}  # what is shared by cost follows what else is owed
    assert {cause for row in variant.pools if row.pool == "rest" for cause in row.causes} == {"overhead"}
    alone = text.replace("rest: {costs: otherwise, by: cost, over: all}", "rest: {costs: otherwise, method: direct}")
    direct = policy_text(small).replace(
        "rest: {costs: otherwise, by: cost, over: all}", "rest: {costs: otherwise, method: direct}"
    )
    two = apportion.backtest(small, "2026-10", Wanted({"direct": direct, "alone": alone})).variants
    figures = [{(row.owner, row.pool): row.instead for row in variant.pools} for variant in two]
    assert {
        pool
        for owner, pool in figures[0] | figures[1]
        if figures[0].get((owner, pool), 0) != figures[1].get((owner, pool), 0)
    } == {"disks"}
    assert adds_up(variant.pools)


def test_a_dearer_pool_is_a_price(small: Project) -> None:
    variant = tried(small, "", "disks=+10%")
    disks = [row for row in variant.pools if row.pool == "disks"]
    assert disks
    for row in disks:
        assert row.causes == {"price": row.change}
        assert abs(Fraction(row.change) - Fraction(row.posted) / 10) < Fraction(1, 10**6)
    assert len(variant.bills) == 2
    assert {row.pool for row in variant.pools if row.change} == {"disks", "rest"}
    assert adds_up((*variant.owners, *variant.months, *variant.pools))


def test_use_that_gets_an_owner_is_volume(small: Project) -> None:
    text = owner_edit(small, NewOwner("slurm.account", "odd-*", "vision")).text
    variant = tried(small, text, months="2026-10")
    gpus = {row.owner: row for row in variant.pools if row.pool == "gpus"}
    charges = small.books.scan("charges").to_pylist()
    mine = [row for row in charges if (row["period"], row["pool"]) == ("2026-10", "gpus")]
    units, money = (
        sum(int(row["unit_seconds"]) for row in mine),
        sum((Fraction(row["amount"]) for row in mine), Fraction(0)),
    )
    nobodys = sum(int(row["unit_seconds"]) for row in mine if row["team"] == "_unallocated")
    expected: Fraction = Fraction(nobodys, units) * money
    assert expected > 0
    assert abs(Fraction(gpus["vision"].causes["volume"]) - expected) < Fraction(1, 10**6)
    assert abs(Fraction(gpus["_unallocated"].causes["volume"]) + expected) < Fraction(1, 10**6)
    assert not gpus["zebra"].change
    assert adds_up(variant.pools)


def test_swings_are_the_average_step_over_the_average_month(small: Project, shared_idle: Variant) -> None:
    past = [posted(small, month, "team") for month in world.BILLED]
    for one in shared_idle.swings:
        first, second = (month.get((one.owner,), Fraction(0)) for month in past)
        expected = abs(second - first) / ((first + second) / 2) if first + second > 0 else None
        assert (
            one.posted is None if expected is None else abs(Fraction(one.posted or 0) - expected) <= Fraction(1, 10**6)
        )
    one_month = tried(small, "", "disks=+1%", months="2026-10")
    assert all(one.posted is None for one in one_month.swings)
    assert one_month.policy == "as it is"


def test_a_rule_that_smooths_looks_at_the_month_before_as_it_would_have_been(small: Project) -> None:
    rule = "adjustments:\n  - {team: vision, smooth: 1, sponsor: platform, why: no jumps}\n"
    text = policy_text(small).replace("adjustments:\n", rule).replace(DISKS, "method: fixed, shares: {vision: 100}")
    variant = tried(small, text)
    first, second = (
        next(Fraction(row.instead) for row in variant.months if (row.owner, row.month) == ("vision", month))
        for month in world.BILLED
    )
    assert abs(second - first * Fraction(101, 100)) < Fraction(1, 10**6)
    assert adds_up(variant.months)


def test_policies_side_by_side_are_each_alone(small: Project, shared_idle: Variant) -> None:
    texts = {"idle": setting_edit(small, [OTHER_IDLE]).text, "same": policy_text(small)}
    said: list[tuple[str, int, int]] = []
    made = apportion.backtest(small, parse_periods(BOTH, today()), Wanted(texts), lambda *step: said.append(step))
    assert [(done, total) for _, done, total in said] == [(n, 4) for n in range(4)]
    assert said[1][0] == "computing 2026-09 by same"
    assert [variant.name for variant in made.variants] == ["idle", "same"]
    assert made.variants[0].owners == shared_idle.owners
    assert all(row.posted == row.instead for row in made.variants[1].owners)
    assert made.months == world.BILLED


def test_fairness_is_that_of_the_report(small: Project) -> None:
    made = apportion.backtest(small, BOTH, Wanted({"same": policy_text(small)}, fairness=True))
    (past,) = made.fairness
    reports = [apportion.fairness(small, month) for month in world.BILLED]
    rows = [
        dict(zip([column.name for column in one.columns], row, strict=True))
        for one in reports
        for row in one.sections[0].rows
    ]
    changes = [Fraction(row["change"]) for row in rows if isinstance(row["change"], Decimal)]
    assert Fraction(past.moved) == sum(change for change in changes if change > 0) > 0
    assert Fraction(past.compared) == sum(Fraction(row["posted"]) for row in rows if isinstance(row["posted"], Decimal))
    assert made.variants[0].fairness == made.fairness


@pytest.mark.parametrize(
    ("months", "wanted", "code", "said"),
    [
        ("2026-08..2026-10", {"same": ""}, "nothing-posted", "2026-08"),
        ("2026-11", {"same": ""}, "nothing-posted", "2026-11"),
        (BOTH, {"good": "", "bad.yaml": "policy: ["}, "policy-yaml", "bad.yaml"),
        (BOTH, {"bad.yaml": "magic"}, "policy-value", "bad.yaml:23"),
        (BOTH, {}, "nothing-asked", "neither"),
        ("2026-10..2026-09", {"same": ""}, "invalid-period", "ends before it begins"),
        ("0001-01..9999-12", {"same": ""}, "invalid-period", "120 months"),
    ],
)
def test_what_cannot_be_computed_is_told_before_anything_is(
    small: Project, months: str, wanted: dict[str, str], code: str, said: str
) -> None:
    text, state = policy_text(small), small.books.state()
    texts = {
        name: text.replace("capacity_rate", "magic") if one == "magic" else one or text for name, one in wanted.items()
    }
    steps: list[str] = []
    with pytest.raises(ApportionError) as told:
        apportion.backtest(small, months, Wanted(texts), lambda what, *_: steps.append(what))
    assert told.value.code == code
    assert said in f"{told.value.where} {told.value.message}"
    assert not steps
    assert small.books.state() == state


def test_the_rewritten_policy_is_the_same_policy(small: Project) -> None:
    text = policy_text(small)
    assert load_policy(noop(text), "x").version == load_policy(text, "x").version


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("2026-11..2027-02", ["2026-11", "2026-12", "2027-01", "2027-02"]),
        ("2026-10..2026-10", ["2026-10"]),
        ("2026-Q1", ["2026-01", "2026-02", "2026-03"]),
    ],
)
def test_several_months_are_written_from_to(text: str, months: list[str]) -> None:
    assert [str(month) for month in parse_periods(text, today())] == months
    assert isinstance(parse_periods(text, today())[0], Period)


def test_what_nobody_counts_grows_by_price_and_is_shared_anew_by_rule(small: Project) -> None:
    text = policy_text(small).replace(DISKS, "method: even, members: [vision, speech]")
    variant = tried(small, text, "disks=+10%", months="2026-10")
    rows = {row.owner: row for row in variant.pools if row.pool == "disks"}
    for owner in ("vision", "speech", "zebra"):
        grown = Fraction(rows[owner].posted) / 10
        half = Fraction(0) if owner == "zebra" else 31 * Fraction("41.13") * Fraction(11, 20)
        assert abs(Fraction(rows[owner].causes["price"]) - grown) < Fraction(1, 10**6)
        anew = half - Fraction(rows[owner].posted) - grown
        assert abs(Fraction(rows[owner].causes.get("rule", 0)) - anew) < Fraction(1, 10**6)
    assert rows["zebra"].causes["rule"] < 0 < rows["speech"].causes["rule"]
    assert adds_up(variant.pools)


def test_months_of_an_older_engine_are_named(small: Project) -> None:
    runs = runs_posted(small, parse_periods(BOTH, today()))
    assert older(runs) == []
    first = min(runs)
    (note,) = older({**runs, first: replace(runs[first], engine="duckdb/1")})
    assert note.startswith("2026-09 was posted by the rules of engine 1; ")


def test_months_that_go_abreast_are_those_one_after_the_other(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Wanted({"same": policy_text(small)}, ["disks=+10%"])
    alone = apportion.backtest(small, BOTH, wanted)
    monkeypatch.setattr(backtests, "MANY", 2)
    said: list[tuple[str, int, int]] = []
    abreast = apportion.backtest(small, BOTH, replace(wanted, workers=2), lambda *step: said.append(step))
    assert abreast == alone
    assert said[0] == ("computing 2026-09..2026-10 abreast", 0, 2)
    assert sorted(what for what, _, _ in said[1:]) == ["computed 2026-09", "computed 2026-10"]
