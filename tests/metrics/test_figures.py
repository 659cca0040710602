"""Metrics say what the reports say: the same sums, the same shares, exactly, until they are written out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import InvariantError, ProjectError
from apportion.render.exposition import exposed
from apportion.reports.live import live_report
from apportion.reports.metrics import families
from apportion.reports.metrics.family import Filled, Number
from apportion.verbs.live import live
from apportion.verbs.metrics import Figures, collected, metrics
from apportion.verbs.periods import today
from apportion.verbs.pools import pools
from apportion.verbs.prices import Wish, prices
from apportion.verbs.project import Project, open_project
from apportion.verbs.quota import quotas
from apportion.verbs.report import read_record
from tests import processes
from tests.metrics.scraping import MONTH, OPENMETRICS
from tests.prometheus.server import cannot_start
from tests.web import world

POSTED, ESTIMATED = "posted", "estimated"
NEVER = {"user", "users", "run", "job", "workload", "node", "resource"}


@pytest.fixture(scope="module")
def found(small: Project) -> dict[str, Filled]:
    return {one.family.name: one for one in metrics(small, "1.2.3", verify=True)}


def sums(filled: Filled, *labels: str, **wanted: str) -> dict[tuple[str, ...], Number]:
    """Over the other labels, of the samples that have some."""
    places = [filled.family.labels.index(label) for label in labels]
    made: dict[tuple[str, ...], Number] = {}
    for values, number in filled.samples.items():
        own = dict(zip(filled.family.labels, values, strict=True))
        if all(own[name] == value for name, value in wanted.items()):
            key = tuple(values[place] for place in places)
            made[key] = made.get(key, 0) + number  # type: ignore[operator]
    return made


def by_owner(rows: Sequence[tuple[object, ...]], names: Sequence[str], first: str, column: str) -> dict[str, object]:
    return {str(row[names.index(first)]): row[names.index(column)] for row in rows}


def test_posted_costs_are_the_showback_to_the_last_digit(small: Project, found: dict[str, Filled]) -> None:
    for by, first in (("team", "owner"), ("pool", "pool")):
        made = apportion.report(small, "showback", MONTH, by=by)
        wanted = by_owner(made.sections[0].rows, [column.name for column in made.columns], first, "amount")
        told = sums(found["apportion_month_cost"], by, state=POSTED, period=MONTH)
        assert {name: amount for (name,), amount in told.items()} == wanted


def test_all_of_a_month_is_its_bill(small: Project, found: dict[str, Filled]) -> None:
    bill = apportion.report(small, "showback", MONTH).sections[0].bill
    assert sums(found["apportion_month_cost"], state=POSTED) == {(): bill}


def test_estimates_are_the_live_report(small: Project, found: dict[str, Filled]) -> None:
    made = live_report(live(small, today()))
    names = [column.name for column in made.columns]
    told = sums(found["apportion_month_cost"], "team", state=ESTIMATED)
    assert {name: amount for (name,), amount in told.items()} == by_owner(
        made.sections[0].rows, names, "owner", "amount"
    )


def test_the_month_ends_where_the_forecast_says(small: Project, found: dict[str, Filled]) -> None:
    told = sums(found["apportion_month_projected_cost"], "team")
    made = {one.outlook.name: one.outlook.amount for one in apportion.forecast(small).groups}
    assert {name: amount for (name,), amount in told.items()} == made


def test_idle_and_coverage_are_their_reports(small: Project, found: dict[str, Filled]) -> None:
    idle = apportion.report(small, "idle", MONTH)
    assert sums(found["apportion_idle_cost"], state=POSTED) == {(): idle.sections[0].bill}
    covered = apportion.report(small, "coverage", MONTH)
    told = sums(found["apportion_coverage_ratio"], "side", state=POSTED)
    assert sum(told.values()) == 1
    shares: dict[str, Fraction] = {}
    for side, _cause, _pool, amount, _share in covered.sections[0].rows:
        shares[str(side)] = shares.get(str(side), Fraction(0)) + Fraction(str(amount)) / Fraction(
            covered.sections[0].bill
        )
    assert {side: share for (side,), share in told.items() if share} == {
        side: one for side, one in shares.items() if one
    }


def test_prices_and_capacity_are_their_reports(small: Project, found: dict[str, Filled]) -> None:
    made = pools(small, MONTH)
    names = [column.name for column in made.columns]
    rows = made.sections[0].rows
    told = sums(found["apportion_pool_month_price"], "pool", state=POSTED)
    wanted = {name: price for name, price in by_owner(rows, names, "pool", "price").items() if price is not None}
    assert {pool: price for (pool,), price in told.items()} == wanted
    hours = by_owner(rows, names, "pool", "capacity")
    seconds = sums(found["apportion_pool_capacity_seconds"], "pool")
    assert {pool: amount / 3600 for (pool,), amount in seconds.items()} == {
        pool: amount for pool, amount in hours.items() if amount is not None
    }
    listed = prices(small, Wish(days=1)).sections[0].rows
    now = found["apportion_pool_price"].samples
    assert {(pool, per) for pool, _with, per, *_ in now} == {(str(row[0]), str(row[2])) for row in listed}


def test_quotas_and_budgets_are_where_they_stand(small: Project, found: dict[str, Filled]) -> None:
    sizes = sums(found["apportion_quota_size"], "owner", "of")
    assert sizes == {(one.limit.owner, one.limit.meter or "money"): one.size for one in quotas(small, MONTH)}
    assert sums(found["apportion_budget_amount"], "team", "project", period=MONTH) == {
        ("vision", ""): 3000,
        ("speech", "asr"): 100,
    }
    spent = sums(found["apportion_budget_spent"], "team", state=POSTED, project="")
    assert spent == {("vision",): sums(found["apportion_month_cost"], "team", state=POSTED)[("vision",)]}


def test_freshness_and_ledger_are_what_the_books_say(small: Project, found: dict[str, Filled]) -> None:
    names = {source.name for source in small.sources}
    for family in ("reach_timestamp_seconds", "received_timestamp_seconds", "behind_seconds", "missing_seconds"):
        assert {key[0] for key in found[f"apportion_source_{family}"].samples} == names
    runs = small.books.runs()
    assert dict(found["apportion_ledger_info"].samples) == {(small.books.head(),): 1}
    assert sum(found["apportion_ledger_runs_total"].samples.values()) == len(runs)
    assert max(found["apportion_ledger_last_run_timestamp_seconds"].samples.values()) == max(
        run.posted_s for run in runs
    )
    assert found["apportion_ledger_verify_findings"].samples == {(): 0}
    assert dict(found["apportion_round_timestamp_seconds"].samples) == {("ok",): small.books.rounds.all()[-1].ended_s}


def test_every_kind_of_figure_is_told(found: dict[str, Filled]) -> None:
    assert set(found["apportion_collector_success"].samples.values()) == {1}
    untold = {one.name for one in families.FAMILIES} - found.keys()
    assert untold == {"apportion_source_problem_rows"}  # no row of this organisation has a problem


def test_names_keep_to_prometheus_conventions(found: dict[str, Filled]) -> None:
    assert len({one.name for one in families.FAMILIES}) == len(families.FAMILIES)
    for one in families.FAMILIES:
        assert re.fullmatch(r"apportion_[a-z_]+[a-z]", one.name)
        assert one.name.endswith("_total") == (one.kind == "counter")
        assert one.name.endswith("_info") == (one.kind == "info")
        assert not one.unit or one.name.endswith(f"_{one.unit}")
        assert one.says.endswith(".")
        assert not NEVER & set(one.labels), one.name
        assert all(len(values) == len(one.labels) for values in found[one.name].samples) if one.name in found else True


@pytest.mark.skipif(bool(cannot_start()), reason=cannot_start() or "there is one")
@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_promtool_finds_nothing_wrong(found: dict[str, Filled], accept: str) -> None:
    text, kind = exposed(list(found.values()), accept)
    assert ("openmetrics" in kind) == bool(accept)
    assert text.endswith(b"# EOF\n") == bool(accept)
    if not accept:
        done = processes.run(["promtool", "check", "metrics"], input=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_name_may_hold_anything() -> None:
    odd = 'a "b"\n\\c\u00e9'
    text = exposed([Filled(families.COST, {(MONTH, POSTED, odd, "gpus", "USD"): Decimal("1.10")})])[0].decode()
    line = next(line for line in text.splitlines() if line.startswith("apportion_month_cost"))
    assert 'team="a \\"b\\"\\n\\\\c\u00e9"' in line
    assert line.endswith(" 1.1")


def test_a_project_that_begins_is_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "apportion.toml").write_text("[project]\n", "utf-8")
    (folder / "policy.yaml").write_text(world.POLICY, "utf-8")
    made = {one.family.name: one for one in metrics(open_project(folder), "1")}
    assert set(made["apportion_collector_success"].samples.values()) == {1}
    assert "apportion_month_cost" not in made


def test_what_cannot_be_told_does_not_hide_the_rest(small: Project) -> None:
    def refuses(*_: object) -> "object":
        raise ProjectError("no-policy-file", "there is no policy file")

    def broken(*_: object) -> "object":
        raise InvariantError("sum", 1, 2)

    figures = Figures(
        read=read_record,
        estimate=refuses,  # type: ignore[arg-type]
        pools=broken,  # type: ignore[arg-type]
        prices=broken,  # type: ignore[arg-type]
        quotas=lambda: (),
        ends=lambda _: None,
        sees=lambda _: True,
        whole=False,
    )
    made = {one.family.name: one for one in collected(small, figures, "1")}
    success = {key[0]: number for key, number in made["apportion_collector_success"].samples.items()}
    assert success == {"posted": 1, "estimate": 0, "forecast": 0, "pools": 0, "prices": 0, "quotas": 1, "budgets": 1}
    assert made["apportion_month_cost"].samples
    assert "apportion_coverage_ratio" not in made  # of part of a bill no share can be told
    everything = {one.family.name for one in collected(small, replace(figures, whole=True), "1")}
    assert {"apportion_coverage_ratio", "apportion_ledger_info"} <= everything
