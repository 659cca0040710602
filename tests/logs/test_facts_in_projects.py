"""From a log to a plan: rows that repeat, ids that come again with other users, use without an allocation. Figures by hand."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.model.times import parse_period
from apportion.verbs.findings import month_findings
from apportion.verbs.project import Project, open_project
from tests.cli.conftest import Run, run
from tests.cli.tiny import HEAD
from tests.sources import making

__all__ = ["run"]
MONTH = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"
DAY = "2026-10-05T00:00:00Z,2026-10-06T00:00:00Z"
SETTINGS = """\
[project]
name = "small"

[[sources]]
name = "bill"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "log"
kind = "usage"
path = "log.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpu" }
used_meters = { gpu = "busy" }
labels = { account = "account" }
"""
POLICY = """\
policy: small
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {a: {}, b: {}, c: {}}
owners:
  - {when: {account: "*"}, team: "{account}"}
pools:
  g: {costs: {ServiceName: n}, usage: {node: "n*"}, meter: gpu, method: proportional}
"""
HEADER = "job,node,start,end,account,gpu,busy"


def row(job: str, hours: tuple[int, int], account: str, gpu: str = "1", busy: str = "") -> str:
    start, end = (f"2026-10-05T{hour:02d}:00:00Z" for hour in hours)
    return f"{job},n1,{start},{end},{account},{gpu},{busy}"


def write_project(folder: Path, amount: str, rows: list[str], more: str = "", **pool: str) -> Path:
    folder.mkdir()
    line = f"Acme,1,{MONTH},{DAY},Usage,{amount},{amount},{amount},{amount},USD,n,Compute,,a day,"
    (folder / "bill.csv").write_text(f"{HEAD}\n{line}\n", "utf-8")
    (folder / "log.csv").write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")
    (folder / "apportion.toml").write_text(SETTINGS + more, "utf-8")
    said = "".join(f", {name}: {value}" for name, value in pool.items())
    (folder / "policy.yaml").write_text(POLICY.replace("proportional}", f"proportional{said}}}"), "utf-8")
    return folder


def owed(run: Run, folder: Path) -> dict[str, Decimal]:
    ingested = run("--project", folder, "ingest")
    assert ingested.code == 0, ingested.err
    planned = run("--project", folder, "plan", "--period", "2026-10")
    assert planned.code == 0, planned.err
    applied = run("--project", folder, "apply", "--period", "2026-10")
    assert applied.code == 0, applied.err
    posted = open_project(folder).books.posted("2026-10")
    sums: dict[str, Decimal] = {}
    for team, amount in zip(posted["team"].to_pylist(), posted["amount"].to_pylist(), strict=True):
        sums[team] = sums.get(team, Decimal(0)) + amount
    return {team: round(amount, 2) for team, amount in sums.items() if amount}


SHARED = [row("1", (0, 2), "a"), row("1", (0, 3), "a"), row("2", (0, 1), "b")]


def test_rows_that_share_all_but_the_end_are_two_facts(run: Run, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", "600", SHARED, 'repeats = "count"\n')
    assert owed(run, folder) == {"a": Decimal(500), "b": Decimal(100)}


@pytest.mark.parametrize("verb", [["ingest", "log"], ["ingest", "log", "--try", "log.csv"]])
def test_both_ways_of_reading_tell_of_repeats(
    run: Run, tmp_path: Path, verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path / "p", "600", SHARED)
    monkeypatch.chdir(folder)
    shown = run("--project", folder, *verb, "-o", "json")
    assert shown.code == 0, shown.err
    assert "possible-repeats" in shown.out + shown.err


def test_repeats_stop_what_would_be_posted_until_somebody_says_what_they_are(run: Run, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", "600", SHARED)
    assert run("--project", folder, "ingest").code == 0
    assert run("--project", folder, "plan", "--period", "2026-10").code == 0
    stopped = run("--project", folder, "apply", "--period", "2026-10")
    assert (stopped.code, "possible-repeats: 1 row, 2.0 GPU hours" in stopped.err) == (1, True), stopped.err
    settings = folder / "apportion.toml"
    settings.write_text(settings.read_text("utf-8") + 'repeats = "count"\n', "utf-8")
    assert owed(run, folder) == {"a": Decimal(500), "b": Decimal(100)}


def test_a_finding_is_of_the_month_that_its_rows_lie_in(run: Run, tmp_path: Path) -> None:
    """One log of two months: in September 2 of 5 hours may be told twice, in October none."""
    september = [one.replace("2026-10-05", "2026-09-05") for one in (row("1", (0, 2), "a"), row("1", (0, 3), "a"))]
    folder = write_project(tmp_path / "p", "600", [*september, row("2", (0, 1), "b")])
    assert run("--project", folder, "ingest").code == 0
    project = open_project(folder)
    found = [
        [one for one in findings_of(project, month) if one[0] != "source-not-read"] for month in ("2026-09", "2026-10")
    ]
    assert found == [[("possible-repeats", 1, Decimal(2), Decimal("0.4"))], []]
    assert run("--project", folder, "plan", "--period", "2026-10").code == 0
    assert run("--project", folder, "apply", "--period", "2026-10").code == 0


def test_rows_without_an_amount_are_of_the_month_that_they_begin_in(run: Run, tmp_path: Path) -> None:
    """In September 1,200 of 1,500 rows say no amount, in October 1 of 5; a thousand are listed one by one. Of one nobody can read when it was."""
    silent = row("1", (0, 2), "a", gpu="")
    september = [one.replace("2026-10-05", "2026-09-05") for one in [silent] * 1200 + [row("2", (0, 1), "b")] * 300]
    october = [silent, *[row("2", (0, 1), "b")] * 4]
    folder = write_project(tmp_path / "p", "600", [*september, *october], 'repeats = "count"\n')
    assert run("--project", folder, "ingest").code == 0
    project = open_project(folder)
    lost = {
        month: [one for one in findings_of(project, month) if one[0] == "missing-amount"]
        for month in ("2026-09", "2026-10")
    }
    assert lost == {
        "2026-09": [("missing-amount", 1200, Decimal(0), Decimal("0.8"))],
        "2026-10": [("missing-amount", 1, Decimal(0), Decimal("0.2"))],
    }


def test_a_row_of_which_nobody_knows_the_month_is_beside_all_rows(run: Run, tmp_path: Path) -> None:
    """1 of 10 rows of two months has no time that can be read."""
    september = [row("2", (0, 1), "b").replace("2026-10-05", "2026-09-05")] * 5
    rows = [*september, *[row("2", (0, 1), "b")] * 4, row("3", (0, 1), "b").replace("2026-10-05", "soon")]
    folder = write_project(tmp_path / "p", "600", rows, 'repeats = "count"\n')
    assert run("--project", folder, "ingest").code == 0
    for month in ("2026-09", "2026-10"):
        (found,) = [one for one in findings_of(open_project(folder), month) if one[0] == "invalid-time"]
        assert found == ("invalid-time", 1, Decimal(0), Decimal("0.1"))


def findings_of(project: Project, month: str) -> list[tuple[str, int, Decimal, Decimal]]:
    judged = month_findings(project, project.policy, parse_period(month), ())
    return [(one.finding.code, one.finding.rows, one.finding.hours, one.finding.share) for one in judged]


def test_with_a_key_what_contradicts_itself_is_held_back(run: Run, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", "600", SHARED, 'key = ["job"]\n')
    assert run("--project", folder, "ingest").code == 0
    books = open_project(folder).books
    assert sorted(row["content"]["end_s"] for row in books.quarantine()) == [1_791_165_600, 1_791_169_200]
    assert [problem.code for problem in books.problems()] == ["conflicting-rows"]
    assert books.scan("usage")["workload"].to_pylist() == ["2"]
    tried = run("--project", folder, "ingest", "log", "--try", folder / "log.csv", "-o", "json").value()
    assert [(one["code"], one["count"]) for one in tried["refused"]] == [("conflicting-rows", 2)]
    assert tried["counts"]["usage"] == 1


TWICE = [row("1", (0, 2), "a"), row("1", (5, 6), "b")]


@pytest.mark.parametrize("kind", ["usage", "workloads"])
def test_a_stanzas_cluster_is_a_label_as_a_column_of_it_is(kind: str, tmp_path: Path) -> None:
    columns = {
        name: column for name, column in making.STANZA["columns"].items() if kind == "usage" or name != "resource"
    }
    meters = making.STANZA["meters"] if kind == "usage" else {}
    settings: dict[str, Any] = {"records": kind, "columns": columns, "meters": meters, "label_prefix": "lab."}
    found = making.read_log(tmp_path, making.log_text({}), **settings, cluster="o'hara")
    (life,) = found.tables["workloads"].to_pylist()
    assert dict(life["labels"]) == {"lab.cluster": "o'hara", "lab.slurm.account": "vision"}


def test_one_id_in_two_clusters_is_two_workloads_where_all_else_is_equal(run: Run, tmp_path: Path) -> None:
    """Job 1 of a in the east and job 1 of a in the west: what becomes of one is not the other's."""
    folder = write_project(tmp_path / "p", "300", [row("1", (0, 2), "a")], 'cluster = "east"\n')
    settings = folder / "apportion.toml"
    east = settings.read_text("utf-8")
    west = east[east.index('[[sources]]\nname = "log"') :].replace('"log"', '"west"').replace("log.csv", "west.csv")
    settings.write_text(f"{east}\n{west.replace('east', 'west')}", "utf-8")
    (folder / "west.csv").write_text(f"{HEADER}\n{row('1', (0, 1), 'a').replace('n1', 'n2')}\n", "utf-8")
    assert owed(run, folder) == {"a": Decimal(300)}
    charges = open_project(folder).books.scan("charges").to_pylist()
    assert sorted(round(one["amount"]) for one in charges) == [100, 200]
    assert len({one["workload"] for one in charges}) == 2


def test_one_id_of_two_users_is_two_workloads_of_one_run(run: Run, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", "300", TWICE)
    assert owed(run, folder) == {"a": Decimal(200), "b": Decimal(100)}
    project = open_project(folder)
    charged = project.books.scan("charges")["workload"].to_pylist()
    assert len(set(charged)) == 2
    assert all(re.fullmatch(r"1~[0-9a-f]{16}", name) for name in charged)
    cost = run("--project", folder, "cost", "1", "-o", "json")
    assert cost.code == 0, cost.err
    assert sum(Decimal(str(line["direct"])) for line in cost.value()["attempts"]) == 300
    part = run("--project", folder, "cost", charged[0], "-o", "json")
    assert part.code == 0, part.err
    opened = run("--project", folder, "dispute", "open", charged[0], "--period", "2026-10", "--why", "not ours")
    assert opened.code == 0, opened.err
    runs = run("--project", folder, "report", "runs", "--period", "2026-10", "-o", "json")
    assert runs.code == 0, runs.err
    explained = run("--project", folder, "explain", "job:1", "--period", "2026-10")
    assert explained.code == 0, explained.err
    for verb in (["report", "facets"], ["statement", "a"], ["report", "coverage"], ["report", "efficiency"], ["check"]):
        shown = run("--project", folder, *verb, *([] if verb == ["check"] else ["--period", "2026-10"]))
        assert shown.code in (0, 3), (verb, shown.err)


def test_delivered_again_with_other_labels_the_old_set_is_gone(run: Run, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", "300", TWICE)
    assert run("--project", folder, "ingest").code == 0
    (folder / "log.csv").write_text("\n".join([HEADER, row("1", (0, 2), "c"), row("1", (5, 6), "c")]) + "\n", "utf-8")
    assert owed(run, folder) == {"c": Decimal(300)}
    books = open_project(folder).books
    assert [dict(labels) for labels in books.scan("workloads")["labels"].to_pylist()] == [{"account": "c"}]
    assert set(books.scan("charges")["workload"].to_pylist()) == {"1"}


@pytest.mark.parametrize(
    ("driver", "a", "b"),
    [
        ("used", "66.67", "133.33"),
        ("max", "100", "100"),
        ("{blend: 0.5}", "85.71", "114.29"),
        ("allocated", "100", "100"),
    ],
)
def test_use_without_an_allocation_counts_by_the_use(run: Run, tmp_path: Path, driver: str, a: str, b: str) -> None:
    rows = [row("1", (0, 1), "a", "100", "50"), row("2", (0, 1), "b", "", "100")]
    folder = write_project(tmp_path / "p", "200", rows, driver=driver)
    assert owed(run, folder) == {"a": Decimal(a), "b": Decimal(b)}


@pytest.mark.parametrize("accounts", ["ab", "aa"])
def test_one_id_in_two_clusters_is_two_workloads(run: Run, tmp_path: Path, accounts: str) -> None:
    other = SETTINGS.partition('[[sources]]\nname = "log"')
    second = ('\n[[sources]]\nname = "log"' + other[2]).replace('"log"', '"more"').replace("log.csv", "more.csv")
    more = f'cluster = "east"\n{second}cluster = "west"\n'
    folder = write_project(tmp_path / "p", "300", [row("1", (0, 2), accounts[0])], more)
    (folder / "more.csv").write_text("\n".join([HEADER, row("1", (0, 1), accounts[1])]) + "\n", "utf-8")
    (folder / "policy.yaml").write_text(POLICY.replace('{node: "n*"}', '{node: "n*", cluster: "*"}'), "utf-8")
    expected = {"a": Decimal(200), "b": Decimal(100)} if accounts == "ab" else {"a": Decimal(300)}
    assert owed(run, folder) == expected
    held = open_project(folder).books.scan("charges")["held"].to_pylist()
    assert sum(int(units) for units in held) == 3 * 3600 * 504_000
