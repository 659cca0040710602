"""The runner itself: what fails must be seen to fail, and a skip needs a reason that is listed."""

import os
import re
from pathlib import Path

import pytest

from tests import run

SPEAKING = """
import pytest, sys
from tests import processes

@pytest.fixture(scope="module")
def going():
    with processes.Process(["sh", "-c", "echo from afar; exec cat"], stdin=processes.PIPE) as process:
        yield process

def test_good(going):
    processes.run(["echo", "of another test"])

def test_bad(going):
    script = "import sys; print('on the way'); sys.stdout.flush(); print('to the end', file=sys.stderr); sys.exit(7)"
    with processes.Process([sys.executable, "-c", script], stdout=processes.PIPE, text=True) as process:
        assert process.stdout.readline() == "on the way\\n"
    processes.run(["sh", "-c", "seq 100000; echo at last"])
    assert process.returncode == 0

def test_checked():
    processes.run(["sh", "-c", "echo no way >&2; exit 3"], check=True)
"""
TESTS = {
    "good/test_good.py": "def test_good(record_property):\n    record_property('points hit', 12)",
    "bad/test_bad.py": "def test_bad():\n    assert 1 == 2\ndef test_good(): ...",
    "torn/test_torn.py": "import pytest\n@pytest.fixture\ndef torn():\n    yield\n    raise OSError\ndef test_torn(torn): ...",
    "unread/test_unread.py": "import not_there",
    "empty/test_empty.py": "",
    "skipping/test_skipping.py": "import pytest\ndef test_one():\n    pytest.skip('no PostgreSQL here')",
    "module/test_module.py": "import pytest\npytest.skip('just so', allow_module_level=True)",
    "expected/test_expected.py": "import pytest\n@pytest.mark.xfail(reason='later')\ndef test_one():\n    assert False",
    "speaking/conftest.py": "from tests.conftest import pytest_runtest_makereport, pytest_runtest_setup",
    "speaking/test_speaking.py": SPEAKING,
    "text/notes.md": "no tests here",
    "test_loose.py": "def test_loose(): ...",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, run.Result]:
    folder = tmp_path_factory.mktemp("blocks")
    for name, text in TESTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    blocks = list(run.discover_tests(folder))
    folders = {Path(name).parent.name for name in TESTS} - {"", "text"}
    assert [block.name for block in blocks] == ["loose", *sorted(folders)]
    return {block.name: run.run_block(block, dict(os.environ)) for block in blocks}


@pytest.mark.parametrize(
    ("block", "passed", "failed", "skipped"),
    [
        ("loose", 1, 0, []),
        ("good", 1, 0, []),
        ("bad", 1, 1, []),
        ("speaking", 1, 2, []),
        ("torn", 0, 1, []),
        ("unread", 0, 1, []),
        ("empty", 0, 1, []),
        ("skipping", 0, 0, ["no PostgreSQL here"]),
        ("module", 0, 0, ["just so"]),
        ("expected", 0, 0, ["expected to fail: later"]),
    ],
)
def test_a_block_is_counted(
    results: dict[str, run.Result], block: str, passed: int, failed: int, skipped: list[str]
) -> None:
    result = results[block]
    assert (result.passed, result.failed, list(result.skipped.values())) == (passed, failed, skipped), result.output


def test_a_failure_shows_the_last_words_of_its_processes(results: dict[str, run.Result]) -> None:
    said = results["speaking"].output
    assert {" ended with 7 ", " runs "} <= set(re.findall(r"process \d+( ended with 7 | runs )", said))
    for words in (
        "stdout: on the way",
        "stderr: to the end",
        "stdout: from afar",
        "at last",
        "ended with 3\nE +stderr: no way",
    ):
        assert re.search(words, said), words
    assert "of another test" not in said
    assert "\n50000\n" not in said, "no more than the end of it"


def test_what_a_test_records_is_kept(results: dict[str, run.Result]) -> None:
    assert results["good"].properties == [("points hit", "12")]


def test_a_listed_reason_is_allowed(results: dict[str, run.Result], capsys: pytest.CaptureFixture[str]) -> None:
    assert run.summarize([results["good"], results["skipping"]], ["no PostgreSQL*"])
    assert capsys.readouterr().out.endswith("1 passed, 0 failed, 1 skipped\n")


def test_a_reason_that_is_not_listed_fails(results: dict[str, run.Result], capsys: pytest.CaptureFixture[str]) -> None:
    assert not run.summarize([results["good"], results["module"]], ["no PostgreSQL*"])
    assert capsys.readouterr().out.endswith("1 passed, 1 failed, 1 skipped\n")


def test_a_failure_fails_the_run(results: dict[str, run.Result], capsys: pytest.CaptureFixture[str]) -> None:
    assert not run.summarize([results["bad"]], [])
    assert capsys.readouterr().out.endswith("1 passed, 1 failed, 0 skipped\n")


def test_a_check_that_fails_is_counted() -> None:
    assert run.run_block(run.Block("lint", (("true",), ("false",))), dict(os.environ)).failed == 1
    assert run.run_block(run.Block("lint", (("true",), ("true",))), dict(os.environ)).passed == 1


def test_a_pattern_needs_its_why() -> None:
    assert run.allowed_skips("# why\nno strace*\nno gdb*\n") == ["no strace*", "no gdb*"]
    with pytest.raises(SystemExit, match="no comment"):
        run.allowed_skips("# why\nno strace*\n\nno gdb*\n")
