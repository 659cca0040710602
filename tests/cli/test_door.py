"""The door: help, versions, typos, streams and exit codes, before any project is opened."""

import sys

import pytest

from apportion import __version__
from apportion.cli import main as door
from apportion.errors import ApportionError, InvariantError
from tests import processes
from tests.cli.conftest import Run

VERBS = (  # noqa: SIM905 - reads as typed
    "demo init check ingest plan apply sync schedule whatif draft close statement export adjust dispute budget quota enforce estimate prices forecast "
    "explain cost report anomalies advise review ledger serve token webhooks notify methods split audit views backup verify erase gc agent mcp "
).split()


def test_help_lists_the_verbs_in_the_order_of_use(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    listed = shown.out.split("Commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == VERBS
    assert "..." not in listed  # nothing is cut off
    assert "5 integrity broken" in " ".join(shown.out.split())


def test_no_arguments_show_help_as_wrong_usage(run: Run) -> None:
    assert run().code == 2


@pytest.mark.parametrize(
    "verb",
    [*VERBS, "report showback", "report trend", "report idle", "report coverage", "report fairness", "export journal"],
)
def test_every_verb_has_help(run: Run, verb: str) -> None:
    shown = run(*verb.split(), "-h")
    assert shown.code == 0
    assert shown.out.startswith(f"Usage: apportion {verb} ")


def test_version(run: Run) -> None:
    assert run("--version").out == f"apportion {__version__}\n"


def test_a_typo_in_a_verb_is_wrong_usage_with_the_nearest_word(run: Run) -> None:
    shown = run("plam")
    assert (shown.code, shown.out) == (2, "")
    assert "Did you mean 'plan'?" in shown.err
    assert "Did you mean 'showback'?" in run("report", "showbak").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["plan", "--period", "2026-13"],
            "'2026-13' is not a month; write it as 2026-10, 2026-Q4, 2026-04..2026-10 or last-month",
        ),
        (
            ["plan", "--period", "2026-10..2026-09"],
            "'2026-10..2026-09' ends before it begins; write it as 2026-04..2026-10\n",
        ),
        (["plan", "-o", "xml"], "'xml' is not one of"),
        (["report", "showback", "--by", "colour"], "'colour' is not one of"),
        (["cost"], "Missing argument 'JOBID|RUN'"),
        (["gc", "--older-than", "-1"], "Invalid value for '--older-than'"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_right(run: Run, arguments: list[str], said: str) -> None:
    shown = run(*arguments)
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            ApportionError("some-code", "a sentence", hint="do this"),
            1,
            "error[some-code]: a sentence\n  hint: do this\n",
        ),
        (InvariantError("the sum", 1, 2), 5, "error[integrity-broken]: the sum: expected 1, found 2\n"),
        (OSError(28, "No space left on device"), 1, "error[system]: [Errno 28] No space left on device\n"),
        (
            RuntimeError("two\nlines"),
            1,
            "error[unexpected]: RuntimeError: two lines\n  This is a defect. APPORTION_DEBUG=1 shows the traceback.\n",
        ),
    ],
)
def test_errors_are_sentences_with_an_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, said: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(door, "app", fail)
    shown = run("verify")
    assert (shown.code, shown.out) == (code, "")
    assert shown.err.startswith(said)


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("inside")

    monkeypatch.setattr(door, "app", fail)
    monkeypatch.setenv("APPORTION_DEBUG", "1")
    with pytest.raises(RuntimeError, match="inside"):
        door.main([])


def test_split_answers_in_json_and_by_exit_code(run: Run) -> None:
    problem = '{"method": "even", "currency": "USD", "bill_minor": 100, "inputs": {"members": ["a", "b", "c"]}}'
    done = piped(["split"], problem.encode())
    assert done.returncode == 0
    assert b'"shares"' in done.stdout
    wrong = piped(["split"], b"\xff\xfe")
    assert wrong.returncode == 1
    assert b'"error": "invalid_json"' in wrong.stdout
    assert run("split", "no-such-file.json").err.startswith("error[unreadable-file]")


def piped(arguments: list[str], given: bytes) -> processes.CompletedProcess[bytes]:
    return processes.run(
        [sys.executable, "-c", "from apportion.cli.main import main; main()", *arguments],
        input=given,
    )


def test_methods_are_listed_and_explained(run: Run) -> None:
    assert "capacity_rate" in run("methods").out
    assert run("methods", "proportional", "-o", "json").value()["Formula"] == "x_i = C * u_i / sum(u)"
    shown = run("methods", "propotional")
    assert shown.code == 1
    assert "did you mean proportional?" in shown.err
