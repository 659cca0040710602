"""One log of two clusters that count their jobs alike: `1` of east is another job than `1` of west, in every verb that is given a job's name."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.model.times import parse_period
from apportion.reports.report import Report
from apportion.verbs.apply import apply
from apportion.verbs.charged import charged_runs
from apportion.verbs.cost import cost
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from apportion.verbs.explain import explain
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from apportion.verbs.runs import runs
from apportion.verbs.search import catalogue, search
from apportion.verbs.transfers import EVERY
from tests.nodes.test_two_clusters import LOG, LOGS, logged

MONTH = "2026-10"
COMMANDS = "`apportion {0} {1}east/1{2}`, `apportion {0} {1}west/1{2}`"


@pytest.fixture
def posted(tmp_path: Path) -> Project:
    made = logged(tmp_path, LOG)
    ingest(made)
    plan(made, MONTH)
    apply(made, MONTH)
    return made


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ProjectError) as refused:
        call()
    assert refused.value.code == "ambiguous-job"
    return str(refused.value)


def test_cost_lists_both_with_their_commands_and_tells_each(posted: Project) -> None:
    told = refusal(lambda: cost(posted, "1"))
    assert "2 jobs end in '1': east/1 (2026-10-05), west/1 (2026-10-05)" in told
    assert COMMANDS.format("cost", "", "") in told
    for name, team, amount in (("east/1", "vision", 400), ("west/1", "speech", 80)):
        found = cost(posted, name)
        assert (found.run, found.teams, [one.direct for one in found.totals]) == (name, (team,), [Decimal(amount)])
        (attempt,) = found.attempts
        assert cost(posted, attempt.workload).run == name, "the id of its set of labels"


def test_explain_lists_both_and_tells_each(posted: Project) -> None:
    told = refusal(lambda: explain(posted, "job:1", MONTH))
    assert COMMANDS.format("explain", "job:", f" --period {MONTH}") in told
    found = explain(posted, "job:west/1", MONTH)
    assert found.title.startswith("west/1 was charged 80.00 USD")
    assert explain(posted, "east/1", MONTH).title.startswith("east/1 was charged 400.00 USD")


def test_a_dispute_is_about_one_of_them(posted: Project) -> None:
    told = refusal(lambda: open_dispute(posted, MONTH, Doubt("job:1", "too much")))
    assert "`apportion dispute open job:west/1 --period 2026-10 --why TEXT`" in told
    made = open_dispute(posted, MONTH, Doubt("job:west/1", "too much")).dispute
    assert (made.owner, made.amount) == ("speech", Decimal(80))
    given = settle(posted, made.number, Settlement("reclassed", "it was theirs", "vision"))
    assert given.posted is not None
    sums = posted.books.believed(MONTH, EVERY).group_by("team").aggregate([("amount", "sum")]).to_pylist()
    assert {row["team"]: row["amount_sum"] for row in sums if row["amount_sum"]} == {
        "vision": Decimal(480),
        "_idle": Decimal(400),
    }


def test_search_finds_both_and_shows_each_to_its_team(posted: Project) -> None:
    known = catalogue(posted)
    found = {hit.called: (hit.about, hit.rank) for hit in search(posted, known, "1", None).hits if hit.kind == "run"}
    assert found == {"east/1": ("vision", "exact"), "west/1": ("speech", "exact")}
    assert known.run_of("1") is None
    assert known.run_of("west/1") == "west/1"
    vision = known.within(frozenset({"vision"}))
    assert (vision.run_of("1"), vision.run_of("west/1")) == ("east/1", None)


def test_the_report_of_runs_has_a_row_for_each(posted: Project) -> None:
    """Pages lead from each row to the job's own."""
    assert runs_in(runs(posted, MONTH)) == ["(of no workload)", "east/1", "west/1"]
    charged = charged_runs(posted, parse_period(MONTH), bills_of(posted))
    assert {row["run"]: row["amount"] for row in charged.to_pylist()} == {"east/1": Decimal(400), "west/1": Decimal(80)}


def runs_in(found: Report) -> list[str]:
    place = [column.name for column in found.columns].index("run")
    return sorted(str(row[place]) for section in found.sections for row in section.rows)


def bills_of(made: Project) -> dict[str, str]:
    return dict.fromkeys(made.books.believed(MONTH, EVERY)["bill"].to_pylist(), "USD")


def test_ids_of_other_months_are_other_jobs(tmp_path: Path) -> None:
    """In October 1 is a job of east, in November one of west: neither plan knew of two."""
    november = LOG.splitlines()[2].replace("2026-10-", "2026-11-")
    made = logged(tmp_path, "\n".join([*LOG.splitlines()[:2], november]) + "\n")
    for name in ("apportion.toml", "bill.csv", "nodes.csv"):
        text = (tmp_path / name).read_text("utf-8").replace('window = "2026-10"\n', "")
        later = [line.replace("-11-", "-12-").replace("-10-", "-11-") for line in text.splitlines()[1:]]
        more = [] if name.endswith("toml") else later
        (tmp_path / name).write_text("\n".join([*text.splitlines(), *more]) + "\n", "utf-8")
    made = open_project(tmp_path)
    ingest(made)
    for month in (MONTH, "2026-11"):
        plan(made, month)
        apply(made, month)
    refusal(lambda: cost(made, "1"))
    for name, month, team, amount in (("east/1", MONTH, "vision", 400), ("west/1", "2026-11", "speech", 80)):
        found = cost(made, name)
        assert (found.teams, [one.direct for one in found.totals]) == ((team,), [Decimal(amount)])
        assert [share.period for share in found.shares] == [month]
        assert explain(made, "job:1", month).title.startswith(f"{name} was charged {amount}.00 USD")
        assert open_dispute(made, month, Doubt("job:1", "why?")).dispute.amount == amount
    teams = catalogue(made).teams.to_pylist()
    assert sorted((row["run"], row["team"]) for row in teams) == [("east/1", "vision"), ("west/1", "speech")]


def test_two_logs_that_each_state_their_cluster(tmp_path: Path) -> None:
    stanza = LOGS.split("[[sources]]")[1]
    made = logged(tmp_path, LOG)
    settings = (tmp_path / "apportion.toml").read_text("utf-8")
    each = ""
    for cluster in ("east", "west"):
        rows = [line for line in LOG.splitlines() if f",{cluster}," in line]
        (tmp_path / f"{cluster}.csv").write_text("\n".join([LOG.splitlines()[0], *rows]) + "\n", "utf-8")
        own = stanza.replace('"jobs"', f'"{cluster}"').replace("jobs.csv", f"{cluster}.csv")
        each += "[[sources]]" + own.replace(' cluster = "place",', "") + f'cluster = "{cluster}"\n'
    (tmp_path / "apportion.toml").write_text(settings.replace("[[sources]]" + stanza, each), "utf-8")
    made = open_project(tmp_path)
    ingest(made)
    assert COMMANDS.format("cost", "", "") in refusal(lambda: cost(made, "1"))
    assert [one.direct for one in cost(made, "west/1").totals] == [Decimal(80)]


def test_where_one_cluster_has_it_nothing_is_added_to_its_name(tmp_path: Path) -> None:
    made = logged(tmp_path, LOG.replace("\n1,g01,west", "\n2,g01,west"))
    ingest(made)
    plan(made, MONTH)
    apply(made, MONTH)
    assert (cost(made, "1").run, cost(made, "east/1").run) == ("1", "1")
    assert explain(made, "job:1", MONTH).title.startswith("1 was charged 400.00 USD")
    assert known_names(made) == ["1", "2"]


def known_names(made: Project) -> list[str]:
    return sorted(set(catalogue(made).runs["run"].to_pylist()))
