"""What only a real server shows: staleness markers, answers in parts, saved answers, the recipe's truth, and what `check` says."""

import json
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import cramjam
import httpx
import pytest

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.prometheus import read, reading
from apportion.sources.prometheus.probe import probe
from tests import processes
from tests.prometheus.conftest import SEEDS
from tests.prometheus.exposition import series, write_text
from tests.prometheus.server import backfill, cannot_start, served
from tests.prometheus.test_truth import delivery, settings
from tests.prometheus.world import make_world

RECIPE = Path(__file__).parents[2] / ".." / "shared" / "recipes" / "monitoring" / "prometheus" / "gen_openmetrics.py"
STALE = struct.pack("<Q", 0x7FF0000000000002)


def test_answers_in_parts_say_the_same(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(SEEDS[0])
    whole = delivery(url, world)
    monkeypatch.setattr(reading, "MOST_SAMPLES", 20_000)
    parts = delivery(url, world)
    assert parts.tables["usage"].equals(whole.tables["usage"])
    assert parts.tables["workloads"].equals(whole.tables["workloads"])


def test_saved_answers_say_what_the_server_says(url: str, tmp_path: Path) -> None:
    world = make_world(SEEDS[0])
    window = Interval(world.start, world.start + 86_400)
    span = window.seconds + 3600
    with (tmp_path / "saved.jsonl").open("wb") as out:
        for name in ("kube_.+", "container_.+", "DCGM_.+", "kubelet_.+"):
            query = f'{{__name__=~"{name}",cluster="{world.cluster}"}}[{span}s]'
            asked = {"query": query, "time": f"{window.end_s + 1799}.999"}
            out.write(httpx.post(f"{url}/api/v1/query", data=asked, timeout=60).content.strip() + b"\n")
    stanza = {"name": "k8s", "kind": "prometheus", "path": "saved.jsonl", "cluster": "c"}
    (saved,) = (one for one in read(stanza, tmp_path, window) if isinstance(one, Delivery))
    live = delivery(url, world, window)
    for table in ("usage", "capacity", "workloads"):
        assert saved.tables[table].equals(live.tables[table])


@pytest.mark.parametrize(
    ("match", "code"),
    [("cluster=", "invalid-setting"), ('cluster=~"["', "invalid-setting"), ('a=~"(?=b)"', "bad-response")],
)
def test_wrong_matchers(url: str, match: str, code: str) -> None:
    """What is no matcher is refused here; what only the server can judge, there."""
    world = make_world(SEEDS[0])
    with pytest.raises(ApportionError) as refused:
        list(read(settings(url, "x", match=match), Path(), Interval(world.start, world.end)))
    assert refused.value.code == code


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def written(labels: dict[str, str], samples: list[tuple[int, bytes]]) -> bytes:
    """One series of a remote write request."""
    names = b"".join(field(1, field(1, key.encode()) + field(2, labels[key].encode())) for key in sorted(labels))
    points = b"".join(field(2, varint(9) + value + varint(16) + varint(at * 1000)) for at, value in samples)
    return field(1, names + points)


def test_staleness_markers_change_nothing(tmp_path: Path) -> None:
    """Prometheus writes one when a series ends; data that was filled in later has none."""
    if reason := cannot_start():
        pytest.skip(reason)
    start = 1_790_812_800
    times = range(start + 60, start + 3600, 60)
    body = b""
    for pod, ending in (("marked", [(start + 3600, STALE)]), ("plain", [])):
        labels = {"namespace": "ml", "pod": pod, "uid": f"uid-{pod}"}
        for name, more, value in (
            ("kube_pod_status_phase", {"phase": "Running"}, 1.0),
            ("kube_pod_info", {"node": "n0"}, 1.0),
            ("kube_pod_container_resource_requests", {"container": "a", "resource": "nvidia_com_gpu"}, 2.0),
        ):
            samples = [(at, struct.pack("<d", value)) for at in times]
            body += written({"__name__": name, **labels, **more}, samples + ending)
    with served(tmp_path / "data", "--web.enable-remote-write-receiver") as address:
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
        packed = bytes(cramjam.snappy.compress_raw(body))
        assert httpx.post(f"{address}/api/v1/write", content=packed, headers=headers).status_code == 204
        stanza = {"name": "k8s", "kind": "prometheus", "url": address, "cluster": "c"}
        (found,) = (one for one in read(stanza, Path(), Interval(start, start + 7200)) if isinstance(one, Delivery))
    assert run_seconds(found, "gpu") == {"uid-marked": 3540, "uid-plain": 3540}


def run_seconds(found: Delivery, meter: str) -> dict[str, int]:
    seconds: dict[str, int] = {}
    for row in found.tables["usage"].to_pylist():
        if row["meter"] == meter:
            uid = row["workload"].rpartition("/")[2]
            seconds[uid] = seconds.get(uid, 0) + row["end_s"] - row["start_s"]
    return seconds


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Delivery]:
    """Its truth, and three days of it in one delivery."""
    if reason := cannot_start():
        pytest.skip(reason)
    if not RECIPE.exists():
        pytest.skip("no ../shared/recipes beside this checkout")
    folder = tmp_path_factory.mktemp("recipe")
    names = [str(folder / name) for name in ("k8s.om", "truth.json")]
    processes.run([sys.executable, str(RECIPE), *names, "3", "60"], check=True)
    truth = json.loads(Path(names[1]).read_text(encoding="utf-8"))
    backfill(Path(names[0]), folder / "data")
    with served(folder / "data") as address:
        stanza = {"name": "k8s", "kind": "prometheus", "url": address, "cluster": "c"}
        (found,) = (
            one for one in read(stanza, Path(), Interval(truth["t0"], truth["t1"])) if isinstance(one, Delivery)
        )
    return truth, found


def test_the_recipes_truth(recipe: tuple[dict[str, Any], Delivery], record_property: Any) -> None:
    """All that its samples can tell: one pod ran before the first scrape, one started while Prometheus was down."""
    truth, found = recipe
    first_scrape, after_gap = 13, truth["gap"][1] - truth["gap"][0]
    unseen = {"uid-c1": first_scrape, "uid-d1": after_gap}
    expected = {uid: pod["run_s"] - unseen.get(uid, 0) for uid, pod in truth["pods"].items() if pod["run_s"]}
    assert run_seconds(found, "cpu") == expected
    assert run_seconds(found, "gpu") == expected
    record_property("pods of the recipe, run seconds exact", len(expected))


def test_the_recipes_gpus(recipe: tuple[dict[str, Any], Delivery]) -> None:
    _, found = recipe
    held = {
        row["workload"].rpartition("/")[2]: row["allocated"]
        for row in found.tables["usage"].to_pylist()
        if row["meter"] == "gpu"
    }
    board = 504_000
    assert held == {
        "uid-a0-v1": 4 * board, "uid-a0-v2": 4 * board, "uid-a1": 3 * board, "uid-b0": board * 3 // 7, "uid-b1": board // 7,
        "uid-c1": board // 4, "uid-c2": board // 4, "uid-c3": board // 4, "uid-d1": board,
    }  # fmt: skip


def test_check_tells_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    if reason := cannot_start():
        pytest.skip(reason)
    world = make_world(SEEDS[0])
    now = int(time.time())
    shift = now - 3600 - world.end
    moved = (
        (name, labels, [(at + shift, value) for at, value in samples])
        for name, labels, samples in series(world)
        if name not in ("kube_namespace_labels", "container_memory_working_set_bytes")
    )
    with (tmp_path / "now.om").open("w", encoding="utf-8") as out:
        write_text(out, moved)
        out.write("# EOF\n")
    backfill(tmp_path / "now.om", tmp_path / "data")
    with served(tmp_path / "data") as address:
        signs = list(probe({"name": "k8s", "kind": "prometheus", "url": address, "cluster": "c"}, tmp_path))
    texts = [(sign.status, sign.text) for sign in signs]
    assert ("ok", f"{address.removeprefix('http://')} answers") in texts
    assert any(
        status == "ok" and "labels of pods: jobset.sigs.k8s.io/jobset-name, team" in text for status, text in texts
    )
    assert any(
        status == "ok" and "use by DCGM_FI_PROF_GR_ENGINE_ACTIVE, energy by DCGM_FI_DEV_TOTAL" in text
        for status, text in texts
    )
    assert any(status == "note" and "no container_memory_working_set_bytes" in text for status, text in texts)
    assert any(sign.fix == "add namespaces=[*] to --metric-labels-allowlist of kube-state-metrics" for sign in signs)
    gap = world.gap[1] - world.gap[0]
    (scraped,) = (text for _, text in texts if text.startswith("kube_node_status_capacity is scraped"))
    assert f"every {world.step} s, with" in scraped
    assert any(abs(int(word) - gap) <= 2 * world.step for word in scraped.split() if word.isdecimal())


def test_check_says_that_nobody_answers(tmp_path: Path) -> None:
    stanza = {"name": "k8s", "kind": "prometheus", "url": "http://127.0.0.1:9", "cluster": "c", "retries": 0}
    (sign,) = probe(stanza, tmp_path)
    assert sign.status == "wrong"
    assert "127.0.0.1:9" in sign.text


class Partial(BaseHTTPRequestHandler):
    """A VictoriaMetrics of which one store is down."""

    def do_GET(self) -> None:
        self.answer(b'{"status":"success","isPartial":true,"data":["kube_pod_info"]}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b'{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}')

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def test_a_part_of_an_answer_is_none() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Partial) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        stanza = {"name": "k8s", "kind": "prometheus", "cluster": "c", "url": f"http://127.0.0.1:{server.server_port}"}
        with pytest.raises(ApportionError) as refused:
            list(read(stanza, Path(), Interval(0, 3600)))
        server.shutdown()
    assert refused.value.code == "half-response"
