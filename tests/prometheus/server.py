"""A real Prometheus on a folder of blocks, on loopback, stopped when done."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx

from tests import processes
from tests.loopback import free_port

MISSING = "no Prometheus server is installed"


def cannot_start() -> str:
    """Why there will be no server, or nothing."""
    return "" if shutil.which("prometheus") and shutil.which("promtool") else MISSING


def backfill(text: Path, data: Path, hours: int = 72) -> None:
    """Blocks of `hours`: promtool reads the whole file once for each."""
    command = ["promtool", "tsdb", "create-blocks-from", f"--max-block-duration={hours}h", "openmetrics", str(text), str(data)]  # fmt: skip
    done = processes.run(command, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


def served(data: Path, *flags: str) -> AbstractContextManager[str]:
    """Its address. It scrapes nothing."""
    return scraping(data, "global: {scrape_interval: 1m}\n", *flags)


@contextmanager
def scraping(data: Path, settings: str, *flags: str) -> Iterator[str]:
    """One with settings of its own; its address."""
    port = free_port()
    data.mkdir(parents=True, exist_ok=True)
    config = data.with_suffix(".yml")
    config.write_text(settings, encoding="utf-8")
    command: Sequence[str] = [
        "prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address=127.0.0.1:{port}",
        "--storage.tsdb.retention.time=100y", "--log.level=error", *flags,
    ]  # fmt: skip
    server = processes.Process(command)
    try:
        url = f"http://127.0.0.1:{port}"
        server.wait_until(lambda: is_ready(url), "it is ready")
        yield url
    finally:
        server.terminate()
        server.wait(processes.PATIENCE_S)


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/-/ready").status_code == 200
    except httpx.TransportError:
        return False
