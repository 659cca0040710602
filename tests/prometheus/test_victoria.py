"""VictoriaMetrics says what Prometheus says: the same world in both, the same rows of it. Where it is installed; Debian has it since 14."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import processes
from tests.loopback import free_port
from tests.prometheus.conftest import SEEDS
from tests.prometheus.exposition import series, write_text
from tests.prometheus.server import is_ready
from tests.prometheus.test_truth import delivery
from tests.prometheus.world import World, make_world


@contextmanager
def victoria(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [
        "victoria-metrics", f"-storageDataPath={folder}", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=100y",
        "-search.latencyOffset=0s", "-loggerLevel=ERROR",
    ]  # fmt: skip
    server = processes.Process(command)
    try:
        server.wait_until(lambda: is_ready(f"http://127.0.0.1:{port}"), "it is ready")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(processes.PATIENCE_S)


def put(url: str, made: World, folder: Path) -> None:
    """Its import takes milliseconds, and no comments."""
    text = folder / "world.om"
    with text.open("w", encoding="utf-8") as out:
        write_text(out, series(made))
    with text.open(encoding="utf-8") as source:
        lines = (f"{line.rstrip()}000\n".encode() for line in source)
        assert httpx.post(f"{url}/api/v1/import/prometheus", content=lines, timeout=120).status_code == 204
    httpx.get(f"{url}/internal/force_flush", timeout=60)


def test_the_same_world_gives_the_same_rows(url: str, tmp_path: Path) -> None:
    if not shutil.which("victoria-metrics"):
        pytest.skip("no VictoriaMetrics is installed")
    made = make_world(SEEDS[1])
    with victoria(tmp_path / "data") as other:
        put(other, made, tmp_path)
        theirs, ours = delivery(other, made), delivery(url, made)
    for name, table in ours.tables.items():
        assert sorted(map(str, theirs.tables[name].to_pylist())) == sorted(map(str, table.to_pylist())), name
    assert sorted(map(str, theirs.problems)) == sorted(map(str, ours.problems))
