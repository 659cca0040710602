"""Usage that is pushed: taken once, row by row, whatever comes twice, at once, or half."""

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from fastapi.testclient import TestClient

import apportion
from apportion.sources.pushed import ARROW, LINES, Welcome, read_rows
from apportion.verbs.findings import source_findings
from apportion.verbs.project import Project, open_project
from apportion.verbs.push import Push, delivery_of, push
from tests.web import world
from tests.web.conftest import clients_of
from tests.web.pushing import ROW, STANZA, START

URL = "/api/v1/usage?source=pushed"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Nothing was delivered yet."""
    folder = tmp_path_factory.mktemp("pushed") / "project"
    folder.mkdir()
    (folder / "apportion.toml").write_text(world.SETTINGS + STANZA, "utf-8")
    (folder / "policy.yaml").write_text(world.POLICY, "utf-8")
    made = apportion.open_project(folder)
    made.books.close()
    return made


@pytest.fixture
def project(empty: Project, tmp_path: Path) -> Iterator[Project]:
    made = world.copied(empty, tmp_path / "project")
    yield made
    made.books.close()


@pytest.fixture
def client(project: Project) -> TestClient:
    return clients_of(project.folder)("admin")


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def send(client: TestClient, body: bytes, key: str = "k", url: str = URL, **headers: str) -> Any:
    return client.post(
        url,
        content=body,
        headers={"Idempotency-Key": key, "Content-Type": LINES, "Sec-Fetch-Site": "same-origin", **headers},
    )


def usage(project: Project) -> list[tuple[str, int, int]]:
    rows = project.books.scan("usage").to_pylist()
    return sorted((row["workload"], row["end_s"] - row["start_s"], row["allocated"]) for row in rows)


def test_good_rows_are_taken_and_bad_ones_listed_with_their_line(client: TestClient, project: Project) -> None:
    bad = [
        b'{"workload": "w9"', lines({**ROW, "meter": "gpus"}), lines({**ROW, "allocated": -1}), lines({**ROW, "end_s": START - 1}),
        lines({**ROW, "allocated": 1.5}), lines({**ROW, "colour": "red"}), b"[" * 5000, b'"w1"', lines({**ROW, "source": "slurm"}), b"\xff",
        lines({**ROW, "start_s": 10**20}), lines({**ROW, "workload": ""}), lines({**ROW, "gpu": True}), lines({**ROW, "gpu": -1}),
        lines({**ROW, "gpu": "many"}), lines({**ROW, "gpu": 1e-9}), lines({**ROW, "gpu": 1e30}), lines({**ROW, "gpu": None}),
        lines({**ROW, "gpu": None, "node": "g01"}), lines({**ROW, "meter": "gpu", "allocated_base_units": 504_000}),
    ]  # fmt: skip
    answer = send(client, b"\n".join([lines(ROW), b"", *bad, lines({**ROW, "workload": "w2", "gpu_used": 0})]))
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["rows"], said["refused"]) == (2, len(bad))
    assert [one["where"] for one in said["problems"]] == [f"line {n}" for n in range(3, 3 + len(bad))]
    assert usage(project) == [("w1", 3600, 504_000), ("w2", 3600, 504_000)]
    assert len(project.books.problems("pushed")) == len(bad)
    assert project.books.verify() == []


def test_amounts_are_in_natural_units_and_several_meters_stand_on_one_row(client: TestClient, project: Project) -> None:
    whole = {**ROW, "gpu": 4, "gpu_used": 0.5, "cpu": 16, "memory": "3/2"}
    measured = {**{key: value for key, value in ROW.items() if key != "gpu"}, "workload": "w2", "gpu_used": 1}
    said = send(client, lines(whole, measured)).json()
    assert (said["rows"], said["refused"], said["problems"]) == (4, 0, [])
    rows = project.books.scan("usage").to_pylist()
    assert sorted((row["workload"], row["meter"], row["allocated"], row["used"]) for row in rows) == [
        ("w1", "cpu", 16_000, None),
        ("w1", "gpu", 2_016_000, 252_000),
        ("w1", "memory", 3 * 2**29, None),
        ("w2", "gpu", None, 504_000),
    ]


def test_an_amount_without_a_unit_is_refused_with_what_to_write(client: TestClient, project: Project) -> None:
    bare = {key: value for key, value in ROW.items() if key != "gpu"} | {"meter": "gpu", "allocated": 4}
    (problem,) = send(client, lines(ROW, bare)).json()["problems"]
    assert problem["message"] == (
        '"allocated" does not say its unit: write "gpu": 4 for 4 GPUs, or "allocated_base_units": 4 beside "meter": "gpu" '
        "if you count in base units"
    )
    named = bare | {"allocated": None, "allocated_base_units": 4, "workload": "w2"}
    said = send(client, lines(named), "b").json()
    assert (said["rows"], said["refused"], [one["code"] for one in said["problems"]]) == (1, 0, ["unusual-quantity"])
    assert ("w2", 3600, 4) in usage(project)
    assert "unusual-quantity" in [problem.code for problem in project.books.problems("pushed")]
    told = source_findings(project, "pushed", [one["delivery_id"] for one in project.books.deliveries()])
    remedies = [one.finding.remedy for one in told]
    assert remedies == [
        "mend the rows and push again",
        "set `units` or `used_units` in the stanza if the unit is another one, and push again",
    ], "nothing is there that could be ingested once more"


def test_strict_takes_all_or_nothing(client: TestClient, project: Project) -> None:
    answer = send(client, lines(ROW, {**ROW, "meter": "gpus"}), url=URL + "&strict=true")
    assert (answer.status_code, answer.json()["code"]) == (422, "push-refused")
    assert [one["where"] for one in answer.json()["problems"]] == ["line 2"]
    assert (usage(project), project.books.deliveries()) == ([], [])
    assert send(client, lines(ROW), url=URL + "&strict=true").status_code == 200, (
        "a refused push did not use up its key"
    )


def test_same_key_and_body_is_the_same_answer_and_one_delivery(client: TestClient, project: Project) -> None:
    first, second = send(client, lines(ROW)), send(client, lines(ROW))
    assert first.json() == second.json()
    assert len(project.books.deliveries()) == 1
    other = send(client, lines({**ROW, "workload": "w2"}))
    assert (other.status_code, other.json()["code"]) == (409, "push-conflict")
    assert send(client, lines(ROW), url=URL + "&strict=true").status_code == 409, "what the URL says counts, too"
    nothing = send(client, lines({**ROW, "meter": "gpus"}))
    assert (nothing.status_code, nothing.json()["code"]) == (409, "push-conflict"), "even without a row to take"
    assert [row[0] for row in usage(project)] == ["w1"]


def test_keys_are_each_callers_own(project: Project) -> None:
    push(project, "one", Push("pushed", "usage", LINES, lines(ROW), "k"))
    done = push(project, "other", Push("pushed", "usage", LINES, lines({**ROW, "workload": "w2"}), "k"))
    assert done.rows == 1


def test_rows_without_a_window_are_added_and_contradictions_kept_apart(client: TestClient, project: Project) -> None:
    send(client, lines(ROW), "a")
    again = send(
        client, lines(ROW, {**ROW, "workload": "w2"}, {**ROW, "workload": "w3", "start_s": START + 60}), "b"
    ).json()
    assert (again["rows"], again["known"], again["quarantined"]) == (2, 1, 0)
    other = send(client, lines({**ROW, "gpu": 2}), "c").json()
    assert (other["rows"], other["quarantined"]) == (0, 1)
    assert usage(project) == [("w1", 3600, 504_000), ("w2", 3600, 504_000), ("w3", 3540, 504_000)]
    assert [row["content"]["allocated"] for row in project.books.quarantine()] == [1_008_000]
    assert project.books.verify() == []


def test_rows_with_a_window_replace_it(client: TestClient, project: Project) -> None:
    send(client, lines(ROW, {**ROW, "workload": "w2"}), "a")
    window = f"{URL}&start_s={START}&end_s={START + 3600}"
    said = send(client, lines({**ROW, "gpu": "1/72"}, {**ROW, "end_s": START + 9999}), "b", window).json()
    assert (said["rows"], said["refused"]) == (1, 1)
    assert usage(project) == [("w1", 3600, 7_000)]
    assert send(client, lines(ROW), "c", f"{URL}&start_s=5").json()["code"] == "invalid-window"
    assert send(client, lines(ROW), "d", f"{URL}&start_s=5&end_s=5").json()["code"] == "invalid-window"


def test_workloads_are_renewed_and_other_tables_taken(client: TestClient, project: Project) -> None:
    life = {
        "workload": "w1",
        "start_s": START,
        "end_s": START + 60,
        "outcome": "running",
        "labels": {"slurm.account": "vis-core"},
    }
    url = URL + "&table=workloads"
    send(client, lines(life), "a", url)
    assert send(client, lines({**life, "end_s": START + 90, "outcome": "completed"}), "b", url).json()["rows"] == 1
    assert (
        send(client, lines({**life, "end_s": START + 90, "outcome": "completed"}), "c", url)
        .json()["delivery"]
        .startswith("d000002")
    )
    rows = project.books.scan("workloads").to_pylist()
    assert [(row["outcome"], row["end_s"] - START, row["run"], dict(row["labels"])) for row in rows] == [
        ("completed", 90, "w1", {"slurm.account": "vis-core"})
    ]
    held = {"start_s": START, "end_s": START + 60, "gpu": 8}
    assert send(client, lines({**held, "resource": "node-1"}), "d", URL + "&table=capacity").json()["rows"] == 1
    assert send(client, lines({**held, "reservation": "r"}), "e", URL + "&table=reservations").json()["rows"] == 1
    assert project.books.verify() == []


def arrow(*rows: dict[str, Any], schema: pa.Schema | None = None) -> bytes:
    table = pa.Table.from_pylist(list(rows), schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def test_an_arrow_stream_says_the_same_as_lines(client: TestClient, project: Project) -> None:
    rows = [
        {**ROW, "meter": None},
        {**ROW, "workload": "w2", "meter": "nothing"},
        {**ROW, "workload": "w3", "gpu": None},
    ]
    said = send(client, arrow(*rows), **{"Content-Type": ARROW}).json()
    assert (said["rows"], [one["where"] for one in said["problems"]]) == (1, ["row 2", "row 3"])
    same = send(client, lines(ROW), "other").json()
    assert (same["rows"], same["known"]) == (0, 1)
    own = {"allocated": "allocated_base_units", "used": "used_base_units"}
    kept = project.books.scan("usage").drop_columns("label_set")
    kept = kept.rename_columns([own.get(name, name) for name in kept.column_names])
    full = arrow(*kept.to_pylist(), schema=kept.schema)
    assert send(client, full, "third", **{"Content-Type": ARROW}).json()["refused"] == 0


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"no stream", {"Content-Type": ARROW}, 422, "push-unreadable"),
        (arrow(ROW)[:-90], {"Content-Type": ARROW}, 422, "push-unreadable"),
        (b"", {}, 422, "push-refused"),
        (lines(ROW), {"Content-Type": "text/csv"}, 415, "wrong-form"),
        (lines(ROW), {"Content-Encoding": "br"}, 415, "wrong-form"),
        (lines(ROW), {"Content-Encoding": "gzip"}, 422, "push-unreadable"),
        (gzip.compress(lines(ROW))[:-9], {"Content-Encoding": "gzip"}, 422, "push-unreadable"),
        (gzip.compress(b" " * (129 * 2**20), 1), {"Content-Encoding": "gzip"}, 413, "too-large"),
        (b" " * (17 * 2**20), {}, 413, "too-large"),
        (lines(ROW), {"Idempotency-Key": ""}, 422, "invalid-request"),
        (lines(ROW), {"Idempotency-Key": "x" * 201}, 422, "invalid-request"),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_read_change_nothing(
    project: Project, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = send(clients_of(project.folder)("admin"), body, **headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert project.books.deliveries() == []


def test_packed_bodies_are_read(client: TestClient, project: Project) -> None:
    send(client, gzip.compress(lines(ROW)), "a", **{"Content-Encoding": "gzip"})
    send(client, zstandard.compress(lines({**ROW, "workload": "w2"})), "b", **{"Content-Encoding": "zstd"})
    assert [row[0] for row in usage(project)] == ["w1", "w2"]


def test_only_sources_that_are_declared_for_it_take_a_push(client: TestClient) -> None:
    read = send(client, lines(ROW), url="/api/v1/usage?source=slurm")
    assert (read.status_code, read.json()["code"]) == (422, "not-pushed")
    none = send(client, lines(ROW), url="/api/v1/usage?source=nothing")
    assert (none.status_code, none.json()["code"]) == (404, "unknown-source")


def test_who_may_not_push_changes_nothing(project: Project) -> None:
    clients = clients_of(project.folder)
    for role in ("viewer", "lead", "finance"):
        assert send(clients(role), lines(ROW)).status_code == 403
    assert project.books.deliveries() == []


def test_pushes_at_once_are_all_taken_and_one_key_once(client: TestClient, project: Project) -> None:
    bodies = [(f"k{n % 4}", lines({**ROW, "workload": f"w{n % 4}"})) for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda given: send(client, given[1], given[0]), bodies))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert len({answer.json()["delivery"] for answer in answers}) == 4
    assert [row[0] for row in usage(project)] == ["w0", "w1", "w2", "w3"]
    assert len(project.books.deliveries()) == 4


def test_who_was_killed_before_the_answer_was_kept_changes_nothing_by_pushing_again(project: Project) -> None:
    given = Push("pushed", "usage", LINES, lines(ROW, {**ROW, "meter": "no"}), "k")
    assert project.books.pushes.claim("me", "k", given.sha256) == ""
    taken = read_rows(given.body, LINES, Welcome("pushed", "usage"))
    project.books.ingest(delivery_of(given, taken))  # and the power goes
    done = push(project, "me", given)
    assert (done.rows, done.known, done.refused) == (1, 0, 1)
    assert push(project, "me", given) == done
    assert (len(project.books.deliveries()), len(usage(project))) == (1, 1)


def test_a_pushed_source_is_not_read_and_check_says_when_it_last_came(project: Project) -> None:
    (done,) = apportion.ingest(project, ["pushed"])
    assert done.deliveries == 0
    before = [one.text for one in apportion.check(project).checks if one.what == "source pushed"]
    push(project, "me", Push("pushed", "usage", LINES, lines(ROW), "k"))
    after = [one.text for one in apportion.check(project).checks if one.what == "source pushed"]
    assert before == ["nothing was pushed yet"]
    assert after[0].startswith("1 push, the last at ")


def test_check_knows_the_cluster_of_a_pushed_source_and_nothing_else(project: Project) -> None:
    def said(setting: str) -> list[str]:
        path = project.folder / "apportion.toml"
        path.write_text(f'{before}\n[[sources]]\nname = "west"\nkind = "push"\n{setting} = "west"\n', "utf-8")
        found = apportion.check(open_project(project.folder)).checks
        return [f"{one.status}: {one.text}" for one in found if one.what == "source west"]

    before = (project.folder / "apportion.toml").read_text("utf-8")
    assert said("cluster") == ["note: nothing was pushed yet"]
    (wrong,) = said("clusters")
    assert wrong.startswith("wrong: a source of kind 'push' has no setting 'clusters'")


def test_who_pushed_is_in_the_audit_log(client: TestClient, project: Project) -> None:
    send(client, lines(ROW))
    assert [(note.who, note.what) for note in apportion.audit(project, ["delivery"])] == [("root", "delivery")]
