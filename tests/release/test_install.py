"""The wheel in an environment of its own, away from this folder: the main job, the pages, and what it says where an extra is missing."""

import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from apportion import __version__
from tests import processes
from tests.release.conftest import Clean, alone, run

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S*")


def test_the_environment_is_its_own(clean: Clean) -> None:
    script = "import apportion, sys; print(apportion.__file__); print([path for path in sys.path if 'tests' in path])"
    file, paths = run(clean.command("python"), "-c", script).stdout.splitlines()
    assert file.startswith(str(clean.folder))
    assert paths == "[]"


def test_the_command_says_its_version(clean: Clean) -> None:
    assert run(clean.command("apportion"), "--version").stdout == f"apportion {__version__}\n"


def test_the_main_job_is_done_from_the_wheel(clean: Clean) -> None:
    owed = dict(line.split(",")[1:14:12] for line in clean.said.splitlines() if line.startswith("USD,"))
    assert owed == {"vision": "75", "speech": "75", "_idle": "117.5", "_unallocated": "2.5"}
    assert "The books are whole." in clean.said


@contextmanager
def served(clean: Clean) -> Iterator[str]:
    """The address that it prints; nothing waits for a clock."""
    command = [clean.command("apportion"), "--project", str(clean.project), "serve", "--port", "0"]
    with processes.Process(command, cwd="/", env=alone(), stderr=processes.PIPE, text=True) as process:
        try:
            found = (LINK.search(line) for line in process.stderr or ())
            yield next(link[0] for link in found if link)
        finally:
            process.terminate()


def test_a_page_is_served_from_the_wheel(clean: Clean) -> None:
    with served(clean) as link:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(link, timeout=60) as answer:
            page = answer.read().decode()
        with opener.open("/".join([*link.split("/")[:3], "static/vega.js"]), timeout=60) as answer:
            script = answer.read()
    assert "<title>" in page
    assert script.startswith(b"/* Vega-Lite")
