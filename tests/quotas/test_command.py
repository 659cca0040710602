"""The command line: answers by exit code, words for what is wrong, and the same rows as JSON."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.quotas.world import SPEECH, VISION, opened

__all__ = ["run"]
HUGE = "{team: vision, meter: gpu, hours: 1000000, per: year}"


@pytest.fixture
def folder(ingested: Path, tmp_path: Path) -> Path:
    """Whatever day it is: October's hours count in a year's quota of 2026, and later none do."""
    return opened(ingested, tmp_path / "p", VISION, SPEECH, HUGE).folder


def test_need_answers_by_exit_code(run: Run, folder: Path) -> None:
    fits = run("--project", folder, "quota", "vision", "--need", "5", "gpu-hours")
    assert (fits.code, fits.out.startswith("vision needs 5 GPU-hours, which fits")) == (0, True)
    assert run("--project", folder, "quota", "vision", "--need", "200", "gpu-hours").code == 4
    assert run("--project", folder, "quota", "vision", "--need", "5", "gpu-days").code == 1
    assert run("--project", folder, "quota", "visoin", "--need", "5").code == 1
    wrong = run("--project", folder, "quota", "vision", "--need", "lots")
    assert (wrong.code, wrong.out) == (2, "")
    assert run("--project", folder, "quota", "vision", "gpu-hours").code == 2


def test_reserve_lend_and_back(run: Run, folder: Path) -> None:
    made = run("--project", folder, "quota", "reserve", "vision", "5", "gpu-hours", "--for", "4711", "--expires", "24h")
    assert (made.code, made.out.splitlines()[0]) == (0, "Reserved for 4711: 1.")
    again = run("--project", folder, "quota", "reserve", "vision", "5", "--for", "4711", "--expires", "24h")
    assert again.out.startswith("Reserved for 4711 before: 1.")
    assert run("--project", folder, "quota", "reserve", "vision", "300", "--for", "4712").code == 4
    lent = run(
        "--project",
        folder,
        "quota",
        "lend",
        "vision",
        "--to",
        "speech",
        "7",
        "gpu-hours",
        "--why",
        "a paper",
        "-o",
        "json",
    )
    assert lent.code == 0, lent.err
    assert lent.value()["title"] == "Loan 2: vision lends to speech."
    (row,) = lent.value()["rows"]
    assert (row["owner"], row["other"], row["amount"], row["why"]) == ("vision", "speech", "7", "a paper")
    listed = run("--project", folder, "quota", "pledges", "speech", "-o", "json").value()["rows"]
    assert [one["kind"] for one in listed] == ["lend"]
    assert run("--project", folder, "quota", "return", "2").out.startswith("Loan 2 is returned.")
    assert run("--project", folder, "quota", "post", "1", "--actual", "4").out.startswith("Reservation 1 is posted.")
    refused = run("--project", folder, "quota", "void", "1")
    assert (refused.code, "is posted already" in refused.err) == (1, True)
    everything = run("--project", folder, "quota", "pledges", "--all", "-o", "json").value()["rows"]
    assert [(one["kind"], one["status"]) for one in everything] == [("reserve", "posted"), ("lend", "returned")]


def test_what_is_no_word_of_ours_is_a_team(run: Run, folder: Path) -> None:
    shown = run("--project", folder, "quota", "show", "speech", "--period", "2026-10")
    assert run("--project", folder, "quota", "speech", "--period", "2026-10").out == shown.out
    assert "reserve" in run("quota", "--help").out
