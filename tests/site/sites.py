"""Builds of the site: the real one, and small ones to plant a mistake in."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests import processes

ROOT = Path(__file__).resolve().parents[2]
BROUGHT = ("mkdocs.yml", "docs/hooks", "docs/assets", "src/apportion/web/static/icon.svg")
SMALL = {
    "docs/README.md": "# All\n\n**Begin**\n\n- [first](how-to/first.md)\n\n- Explanation: [why](explanation/why.md), [code](../ARCHITECTURE.md)\n",
    "docs/index.md": "# Home\n\nThe first page. [All](README.md)\n",
    "docs/how-to/first.md": "# First\n\nA page about *one* thing. [Why](../explanation/why.md#because), and [copy](../../examples/).\n",
    "docs/explanation/why.md": "# Why\n\n## Because\n\nOf that. [Folder](../how-to/)\n",
    "ARCHITECTURE.md": "# Code\n\nFor [readers](docs/how-to/first.md).\n",
    "examples/README.md": "# Examples\n\n[One](one/), [two](two/README.md).\n",
    "examples/one/policy.yaml": "policy: one\n",
    "examples/two/README.md": "# Two\n",
    "examples/two/policy.yaml": "policy: two\n",
}


def build(root: Path, site: Path) -> processes.CompletedProcess[str]:
    """As `make site` builds it."""
    return processes.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=processes.PIPE,
        stderr=processes.STDOUT,
        text=True,
    )


def small(root: Path, changes: dict[str, str]) -> Path:
    """A project with few pages, and the real site's settings and hooks."""
    for name in BROUGHT:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    for name, text in {**SMALL, **changes}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: what was asked is the browser's to tell."""


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """A built site on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
