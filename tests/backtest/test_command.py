"""`apportion whatif` over several months and policies: what it prints is what the verb says."""

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.reports.backtest import Row
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import policy_text, setting_edit
from apportion.verbs.project import Project
from apportion.verbs.supposed import read_variation
from tests.cli.conftest import Result, Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture

BOTH = "2026-09..2026-10"


@pytest.fixture
def policies(small: Project, tmp_path: Path) -> list[Path]:
    """One that shares idle, and the one that is in force."""
    texts = {
        "idle": setting_edit(small, [(("pools", "gpus", "idle"), "proportional")]).text,
        "same": policy_text(small),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    return [tmp_path / f"{name}.yaml" for name in texts]


def read(result: Result) -> list[dict[str, str]]:
    assert result.code == 0, result.err
    return list(csv.DictReader(io.StringIO(result.out)))


def test_json_and_csv_are_what_the_verb_says(run: Run, small: Project, policies: list[Path]) -> None:
    ask = ["--project", small.folder, "whatif", "--period", BOTH, "--policy", policies[0]]
    (variant,) = apportion.backtest(small, BOTH, Wanted({"idle": policies[0].read_text("utf-8")})).variants
    told = run(*ask, "-o", "json").value()
    assert told["months"] == ["2026-09", "2026-10"]
    shown = [(row["owner"], Decimal(row["change"])) for row in told["variants"][0]["owners"]]
    assert shown == [(row.owner, row.change) for row in variant.owners]
    ask[4] = "2026-10"
    by_month = read(run(*ask, "--by", "month", "-o", "csv"))
    assert [(row["month"], row["owner"], Decimal(row["instead"])) for row in by_month] == [
        (row.month, row.owner, row.instead) for row in variant.months if row.month == "2026-10"
    ]
    causes = read(run(*ask, "--by", "cause", "-o", "csv"))
    for row in causes:
        parts = [Decimal(value) for name, value in row.items() if name not in ("currency", "owner", "change")]
        assert sum(parts) == Decimal(row["change"]) != 0
    assert len(causes) == sum(bool(row.change) for row in variant.months if row.month == "2026-10")


def test_policies_stand_side_by_side(run: Run, small: Project, policies: list[Path]) -> None:
    several = [part for file in policies for part in ("--policy", file)]
    rows = read(run("--project", small.folder, "whatif", "--period", BOTH, *several, "-o", "csv"))
    for row in rows:
        assert Decimal(row["posted"]) == Decimal(row["same_instead"])
        assert Decimal(row["idle_instead"]) - Decimal(row["posted"]) == Decimal(row["idle_change"])
        assert row["swing"] == row["same_swing_instead"]
    text = run("--project", small.folder, "whatif", "--period", "2026-10", *several, "--fairness").out
    assert "How far from peak Shapley" in text
    assert "same (small@" in text


def test_one_month_stays_what_it_was(run: Run, small: Project, policies: list[Path]) -> None:
    ask = ["--project", small.folder, "whatif", "--period", "2026-10", "--policy", policies[0], "-o", "json"]
    made = apportion.whatif(small, "2026-10", policies[0].read_text("utf-8"))
    told = run(*ask).value()
    assert (told["title"], told["posted"]) == (made.title, True)
    assert "variants" not in told


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("2026-08..2026-10", ""), (1, "nothing is posted for 2026-08")),
        (("2026-Q3", ""), (1, "nothing is posted for 2026-07, 2026-08")),
        (("2026-10..2026-09", ""), (2, "ends before it begins")),
        ((BOTH, "policy: ["), (1, "wrong")),
        ((BOTH, "no file"), (1, "wrong.yaml cannot be read")),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    run: Run, small: Project, tmp_path: Path, asked: tuple[str, str], told: tuple[int, str]
) -> None:
    (period, text), (code, said) = asked, told
    state, wrong = small.books.state(), tmp_path / "wrong.yaml"
    if text != "no file":
        wrong.write_text(text or policy_text(small), "utf-8")
    result = run("--project", small.folder, "whatif", "--period", period, "--policy", wrong)
    assert (result.code, result.out) == (code, "")
    assert said in " ".join(result.err.split())
    assert small.books.state() == state


def test_a_policy_that_is_wrong_is_named_by_its_file(run: Run, small: Project, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(policy_text(small) + "\ncolour: red\n", "utf-8")
    place = f"{wrong}:{wrong.read_text('utf-8').count(chr(10))}:1"
    for period in ("2026-10", BOTH):
        result = run("--project", small.folder, "whatif", "--period", period, "--policy", wrong)
        assert (result.code, place in result.err, "draft:" in result.err) == (1, True, False)


def test_changes_and_variants_are_what_the_verb_says(run: Run, small: Project) -> None:
    texts = ["lean: capacity gpus=-20%; idle gpus=proportional", "moved: move vision=stripes"]
    ask = ["--project", small.folder, "whatif", "--period", "2026-10"]
    made = apportion.backtest(small, "2026-10", Wanted(variants=[read_variation(small, text) for text in texts]))
    variants = [part for text in texts for part in ("--variant", text)]
    rows = read(run(*ask, *variants, "--by", "department", "-o", "csv"))
    assert [(row["department"], Decimal(row["moved_instead"])) for row in rows] == [
        (row.owner, row.instead) for row in in_order(made.variants[1].departments, [row["department"] for row in rows])
    ]
    text = run(*ask, "--move", "vision=stripes").out
    assert "of 2026-10 would move: stripes would owe more; research less." in text
    assert "department   difference" in text
    assert "pools.gpus" not in text


def in_order(rows: Iterable[Row], names: list[str]) -> list[Row]:
    return sorted(rows, key=lambda row: names.index(row.owner))


def test_incentives_alone_ask_about_what_is_posted(run: Run, small: Project) -> None:
    ask = ["--project", small.folder, "whatif", "--period", "2026-10", "--incentives", "--team", "zebra", "-o", "json"]
    told = run(*ask).value()
    assert {(row["policy"], row["team"]) for row in told["incentives"]} == {("posted", "zebra")}
    assert {row["verdict"] for row in told["incentives"]} == {"costs", "no difference"}
    refused = run("--project", small.folder, "whatif", "--team", "zebra", "--price", "disks=+1%")
    assert (refused.code, refused.out) == (2, "")
    assert "--team goes with --incentives" in refused.err
