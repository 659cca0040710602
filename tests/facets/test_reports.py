"""Money by facets and runs is the posted money, digit for digit; what is known and how sure is what plain sums say."""

import json
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import apportion
from apportion.errors import ProjectError
from apportion.model.facets import KNOWN, SURENESS
from apportion.model.times import parse_period
from apportion.reports.report import Report
from apportion.reports.runs import BY
from apportion.verbs.facets import facets
from apportion.verbs.project import Project
from apportion.verbs.report import report
from apportion.verbs.runs import runs
from tests.cli.conftest import Run
from tests.facets import world

MONTH = [parse_period("2026-10")]
REST = "(of no workload)"
KINDS = {  # what a person would say of each job: family, phase, trial, size
    "1": ("llama", "training", "", "2 to 8 GPUs"), "2": ("llama", "training", "", "2 to 8 GPUs"),
    "3": ("qwen", "training", "", "9 to 64 GPUs"), "4": ("qwen", "training", "", "9 to 64 GPUs"),
    "5": ("", "", "", "1 GPU"), "9_1": ("", "tuning", "slurm/hpc/9_1@1", "1 GPU"), "9_2": ("", "tuning", "slurm/hpc/9_2@1", "1 GPU"),
    "9_3": ("", "tuning", "slurm/hpc/9_3@1", "1 GPU"), "7": ("", "interactive", "", "part of a GPU"), "8": ("resnet", "", "", "2 to 8 GPUs"),
}  # fmt: skip
FACETS = ("family", "phase", "trial", "size")


def cells(made: Report) -> list[dict[str, Any]]:
    (section,) = made.sections
    return [dict(zip((column.name for column in made.columns), row, strict=True)) for row in section.rows]


def charged(project: Project) -> dict[str, Fraction]:
    """What each job was charged, by its number."""
    found: dict[str, Fraction] = defaultdict(Fraction)
    for row in project.books.scan("charges").to_pylist():
        found[row["workload"].removeprefix("slurm/hpc/").removesuffix("@1")] += Fraction(row["amount"])
    return found


def whole(rows: list[dict[str, Any]]) -> Fraction:
    return sum((Fraction(row["amount"]) for row in rows), Fraction(0))


def owed(project: Project, team: str = "") -> Fraction:
    rows = cells(report(project, "showback", "2026-10"))
    return whole([row for row in rows if not team or row["owner"] == team])


@pytest.mark.parametrize("team", ["", "vision", "language"])
@pytest.mark.parametrize("facet", KNOWN)
def test_money_by_a_facet_is_all_that_its_team_owes(project: Project, facet: str, team: str) -> None:
    made = facets(project, MONTH, facet, [f"team={team}"] if team else [])
    assert whole(cells(made)) == owed(project, team) == Fraction(made.sections[0].bill)
    named = [row[facet] for row in cells(made)]
    assert len(set(named)) == len(named)
    assert named[-1] == REST


@pytest.mark.parametrize("by", BY)
def test_money_by_runs_is_all_that_was_posted(project: Project, by: str) -> None:
    made = runs(project, MONTH, by)
    assert whole(cells(made)) == owed(project)
    for row in cells(made):
        if row[by] != REST:
            ends = ("completed", "running", "failed", "restarted", "cancelled", "other_ends")
            assert sum(Fraction(row[end] or 0) for end in ends) == Fraction(row["amount"])


@pytest.mark.parametrize("facet", FACETS)
def test_every_value_has_what_its_jobs_were_charged(project: Project, facet: str) -> None:
    expected: dict[str, Fraction] = defaultdict(Fraction)
    for number, amount in charged(project).items():
        if number in KINDS:
            expected[KINDS[number][FACETS.index(facet)] or "(not set)"] += amount
    found = {row[facet]: Fraction(row["amount"]) for row in cells(facets(project, MONTH, facet))}
    assert {name: amount for name, amount in found.items() if name != REST} == expected
    assert abs(found[REST] - Fraction("100.01")) < Fraction(1, 200), (
        "support is shared over what teams owe, not over jobs"
    )


def test_coverage_says_how_much_is_known_and_how_sure(project: Project) -> None:
    money = charged(project)
    all_money = sum(money.values())
    rows = {row["facet"]: row for row in cells(facets(project, MONTH))}
    assert list(rows) == list(KNOWN)
    by_tracker, by_command = money["1"] + money["2"] + money["8"], money["3"] + money["4"]
    family = rows["family"]
    assert (family["values"], family["runs"], family["run_share"]) == (3, 4, Decimal("0.571429"))
    assert Fraction(family["amount"]) == by_tracker + by_command
    assert Fraction(family["not_set"]) == all_money - by_tracker - by_command
    assert [family[sure] for sure in ("stated", "guessed")] == [None, None]
    for sure, part in (("tracked", by_tracker), ("derived", by_command)):
        assert abs(Fraction(family[sure]) - part / all_money) < Fraction(1, 10**6)
    assert abs(Fraction(rows["framework"]["stated"]) - money["5"] / all_money) < Fraction(1, 10**6)
    guessed = money["1"] + money["2"] + money["7"] + sum(money[task] for task in ("9_1", "9_2", "9_3"))
    assert abs(Fraction(rows["phase"]["guessed"]) - guessed / all_money) < Fraction(1, 10**6)
    for row in rows.values():
        assert abs(sum(Fraction(row[sure] or 0) for sure in SURENESS) - Fraction(row["share"])) < Fraction(1, 10**5)


def test_a_run_is_all_its_attempts_and_what_failed_is_paid_by_what_succeeded(project: Project) -> None:
    money = charged(project)
    rows = {row["run"]: row for row in cells(runs(project, MONTH))}
    llama = rows["slurm/hpc/1"]
    assert (llama["attempts"], llama["succeeded"], llama["name"], llama["owner"]) == (2, 1, "train-llama", "language")
    assert (Fraction(llama["failed"]), Fraction(llama["completed"])) == (money["1"], money["2"])
    sweep = rows["slurm/hpc/9"]
    assert (Fraction(sweep["restarted"]), sweep["trials"]) == (money["9_2"], 3)
    assert sweep["per_trial"] == nanos((money["9_1"] + money["9_2"] + money["9_3"]) / 3)
    training = next(row for row in cells(runs(project, MONTH, "phase")) if row["phase"] == "training")
    spent = money["1"] + money["2"] + money["3"] + money["4"]
    assert (training["runs"], training["succeeded"]) == (3, 3)
    assert training["per_success"] == training["per_run"] == nanos(spent / 3)
    made = runs(project, MONTH, where=["team=vision"])
    vision = sum(money[number] for number, _, _, team, *_ in world.JOBS if team == "vision")
    assert f"{float(vision / 2):.2f} USD per successful run" in made.title, "the sweep and the classifier; x3 failed"


def nanos(amount: Fraction) -> Decimal:
    return Decimal(round(amount * 10**9)).scaleb(-9)


def test_tokens_and_samples_are_divided_where_all_of_a_run_is_known(project: Project) -> None:
    money = charged(project)
    made = runs(project, MONTH, "experiment")
    rows = {row["experiment"]: row for row in cells(made)}
    chat, boxes = rows["chat"], rows["boxes"]
    assert (chat["tokens"], chat["tokens_by"]) == (3_000_000, 1), "one run in two jobs counts once"
    assert chat["per_million_tokens"] == nanos((money["1"] + money["2"]) / 3)
    assert (boxes["samples"], boxes["samples_by"], boxes["tokens"]) == (3000, 2, None), "two runs in one job add up"
    assert boxes["per_thousand_samples"] == nanos(money["8"] / 3)
    assert any(
        note.startswith("Of 5 runs that trackers know, 1 counts tokens and 2 count samples.") for note in made.notes
    )
    alone = {row["run"]: row for row in cells(runs(project, MONTH))}
    assert alone["slurm/hpc/3"]["tokens"] is None, "0 tokens are none"
    assert alone["slurm/hpc/4"]["tokens"] is None, "a run that began in September is half paid for"


def test_where_narrows_by_facets_and_by_owners(project: Project) -> None:
    money = charged(project)
    made = facets(project, MONTH, "size", ["phase=training", "phase=tuning", "team=language"])
    spent = sum(money[number] for number in ("1", "2", "3", "4"))
    assert whole(cells(made)) == Fraction(made.sections[0].bill) == spent
    assert REST not in [row["size"] for row in cells(made)]
    assert "Only phase training or tuning: what is of no workload is left out." in made.notes
    assert facets(project, MONTH, "size", ["phase=data"]).title.startswith("No work was charged")


@pytest.mark.parametrize(
    ("by", "where", "code"),
    [("colour", [], "unknown-facet"), ("", ["cause=(none)"], "invalid-filter"), ("", ["colour=red"], "invalid-filter"),
     ("", ["team=nobody"], "nothing-matches")],
)  # fmt: skip
def test_what_cannot_be_asked(project: Project, by: str, where: list[str], code: str) -> None:
    with pytest.raises(ProjectError) as refused:
        facets(project, MONTH, by, where)
    assert refused.value.code == code


def test_the_command_line_says_the_same_in_every_form(project: Project, run: Run) -> None:
    for words, made in (
        (("facets", "--by", "family"), facets(project, MONTH, "family")),
        (("runs", "--by", "experiment"), runs(project, MONTH, "experiment")),
        (("facets",), facets(project, MONTH)),
    ):
        asked = ("--project", project.folder, "report", *words, "--period", "2026-10")
        told = json.loads(run(*asked, "-o", "json").out)
        assert told["title"] == made.title
        assert [row["amount"] for row in told["rows"]] == [
            f"{row['amount']:f}".rstrip("0").rstrip(".") for row in cells(made)
        ]
        assert len(run(*asked, "-o", "csv").out.splitlines()) == len(cells(made)) + 1
        assert run(*asked, "-o", "md").out.count("\n|") >= len(cells(made))
        assert made.title.split(";")[0] in " ".join(run(*asked).out.split())


def test_other_rules_tell_other_facets_without_a_new_plan(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Facets that no price asks about move no money: the same digest under any rules for them."""
    other = world.make(
        tmp_path_factory.mktemp("other"),
        "facets: [{when: {name: 'x*'}, family: secret, sure: stated}]\nsizes: {any: 0}\n",
    )
    assert {row["family"] for row in cells(facets(other, MONTH, "family"))} == {"secret", "(not set)", REST}
    assert {row["size"] for row in cells(facets(other, MONTH, "size"))} == {"any", REST}
    posted = [apportion.report(one, "showback", "2026-10").sections[0].rows for one in (project, other)]
    assert posted[0] == posted[1]
