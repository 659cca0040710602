"""A real Prometheus on a folder of blocks, on loopback, stopped when done."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx

MISSING = "no Prometheus server is installed"


def cannot_start() -> str:
    """Why there will be no server, or nothing."""
    return "" if shutil.which("prometheus") and shutil.which("promtool") else MISSING


def backfill(text: Path, data: Path, hours: int = 72) -> None:
    """Blocks of `hours`: promtool reads the whole file once for each."""
    command = ["promtool", "tsdb", "create-blocks-from", f"--max-block-duration={hours}h", "openmetrics", str(text), str(data)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)


def served(data: Path, *flags: str) -> AbstractContextManager[str]:
    """Its address. It scrapes nothing."""
    return scraping(data, "global: {scrape_interval: 1m}\n", *flags)


@contextmanager
def scraping(data: Path, settings: str, *flags: str) -> Iterator[str]:
    """One with settings of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data.mkdir(parents=True, exist_ok=True)
    config = data.with_suffix(".yml")
    config.write_text(settings, encoding="utf-8")
    command: Sequence[str] = [
        "prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address=127.0.0.1:{port}",
        "--storage.tsdb.retention.time=100y", "--log.level=error", *flags,
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(1200):
        if server.poll() is not None:
            raise RuntimeError(f"Prometheus ended with {server.returncode}")
        try:
            if httpx.get(f"{url}/-/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError("Prometheus did not start")
