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
from apportion.verbs.project import Project
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
        lines({**ROW, "start_s": 10**20}), lines({**ROW, "workload": ""}), lines({**ROW, "allocated": True}),
    ]  # fmt: skip
    answer = send(client, b"\n".join([lines(ROW), b"", *bad, lines({**ROW, "workload": "w2", "used": 0})]))
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["rows"], said["refused"]) == (2, len(bad))
    assert [one["where"] for one in said["problems"]] == [f"line {n}" for n in range(3, 3 + len(bad))]
    assert usage(project) == [("w1", 3600, 504_000), ("w2", 3600, 504_000)]
    assert len(project.books.problems("pushed")) == len(bad)
    assert project.books.verify() == []


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
    other = send(client, lines({**ROW, "allocated": 1}), "c").json()
    assert (other["rows"], other["quarantined"]) == (0, 1)
    assert usage(project) == [("w1", 3600, 504_000), ("w2", 3600, 504_000), ("w3", 3540, 504_000)]
    assert [row["content"]["allocated"] for row in project.books.quarantine()] == [1]
    assert project.books.verify() == []


def test_rows_with_a_window_replace_it(client: TestClient, project: Project) -> None:
    send(client, lines(ROW, {**ROW, "workload": "w2"}), "a")
    window = f"{URL}&start_s={START}&end_s={START + 3600}"
    said = send(client, lines({**ROW, "allocated": 7}, {**ROW, "end_s": START + 9999}), "b", window).json()
    assert (said["rows"], said["refused"]) == (1, 1)
    assert usage(project) == [("w1", 3600, 7)]
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
    held = {"start_s": START, "end_s": START + 60, "meter": "gpu", "amount": 8}
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
    rows = [ROW, {**ROW, "workload": "w2", "meter": "nothing"}, {**ROW, "workload": "w3", "allocated": None}]
    said = send(client, arrow(*rows), **{"Content-Type": ARROW}).json()
    assert (said["rows"], [one["where"] for one in said["problems"]]) == (1, ["row 2", "row 3"])
    same = send(client, lines(ROW), "other").json()
    assert (same["rows"], same["known"]) == (0, 1)
    full = arrow(*project.books.scan("usage").to_pylist(), schema=project.books.scan("usage").schema)
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
    project.books.ingest(delivery_of(given, taken.table, taken.problems))  # and the power goes
    done = push(project, "me", given)
    assert (done.rows, done.known, done.refused) == (1, 0, 1)
    assert push(project, "me", given) == done
    assert (len(project.books.deliveries()), len(usage(project))) == (1, 1)


def test_a_pushed_source_is_not_read_and_check_says_when_it_last_came(project: Project) -> None:
    (done,) = apportion.ingest(project, ["pushed"])
    assert done.deliveries == 0
    before = [one.text for one in apportion.check(project).findings if one.what == "source pushed"]
    push(project, "me", Push("pushed", "usage", LINES, lines(ROW), "k"))
    after = [one.text for one in apportion.check(project).findings if one.what == "source pushed"]
    assert before == ["nothing was pushed yet"]
    assert after[0].startswith("1 push, the last at ")


def test_who_pushed_is_in_the_audit_log(client: TestClient, project: Project) -> None:
    send(client, lines(ROW))
    assert [(note.who, note.what) for note in apportion.audit(project, ["delivery"])] == [("root", "delivery")]
