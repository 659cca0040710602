"""Projects whose [web] is another, a real OpenID provider, and a browser that follows its redirects."""

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
from fastapi.testclient import TestClient

import apportion
from apportion.verbs.project import Project
from tests import processes

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".servers/node/node_modules"
OURS = "http://127.0.0.1:8799"  # nothing listens there: our side is asked in this process
FAST = "requests_per_minute = 1000000"


def with_web(project: Project, folder: Path, section: str) -> Project:
    """A copy whose apportion.toml has this in place of its [web]."""
    shutil.copytree(project.folder, folder)
    file = folder / "apportion.toml"
    text = re.sub(r"^\[web\]\n.*\n\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
    file.write_text(f"{text}\n[web]\n{section}\n", "utf-8")
    return apportion.open_project(folder)


def no_provider() -> str:
    if not shutil.which("node") or not (MODULES / "oidc-provider").is_dir():
        return "no oidc-provider: Node and `python tests/servers.py` install it"
    return ""


@contextmanager
def provider() -> Iterator[str]:
    """Its issuer, for as long as it is needed."""
    command = ["node", "--no-warnings", str(Path(__file__).with_name("provider.mjs")), str(MODULES), OURS]
    with processes.Process(command, stdin=processes.PIPE, stdout=processes.PIPE, text=True) as process:
        late = threading.Timer(processes.PATIENCE_S, process.kill)
        late.start()
        issuer = process.stdout.readline().strip() if process.stdout else ""
        late.cancel()
        try:
            assert issuer, "the provider did not start"
            yield issuer
        finally:
            if process.stdin:
                process.stdin.close()  # it ends with its input
            process.wait(processes.PATIENCE_S)


class Browser:
    """One person's: what is ours is asked in this process, all else over the net, each with its own cookies."""

    def __init__(self, app: object) -> None:
        self.ours = TestClient(app, OURS, raise_server_exceptions=False, follow_redirects=False)  # type: ignore[arg-type]
        self.theirs = httpx.Client(timeout=processes.PATIENCE_S)
        self.seen: list[str] = []

    def get(self, url: str) -> Any:
        self.seen.append(url)
        if url.startswith(OURS):
            return self.ours.get(url.removeprefix(OURS))
        return self.theirs.get(url)

    def open(self, path: str, until: str = "\0") -> Any:
        """Follows redirects until there is a page, or one leads to an address with `until` in it, which is then the last of `seen`."""
        url, answer = OURS + path, self.get(OURS + path)
        while answer.has_redirect_location:
            url = urljoin(url, answer.headers["location"])
            if until in url:
                self.seen.append(url)
                return answer
            answer = self.get(url)
        return answer

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()
