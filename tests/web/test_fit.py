"""Whether a job fits, asked before it is submitted: posted months and the estimate of the running one, counted by hand."""

import json
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.fit import Fit, Need, fit_report
from apportion.reports.quotas import Limit, Used
from apportion.reports.sums import grouped
from apportion.verbs import standing as counting
from apportion.verbs.fit import Where, fit, needed
from apportion.verbs.live import live
from apportion.verbs.project import Project
from apportion.verbs.standing import standing
from tests.snippets import shell
from tests.web import world
from tests.web.test_live import RAN, TODAY, as_received

HELD = Fraction("20.5")  # vision holds one GPU so long on each of seven days


@pytest.fixture(scope="module")
def running(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return as_received(world.copied(small, tmp_path_factory.mktemp("fit") / "project"))


@pytest.fixture
def mine(running: Project, tmp_path: Path) -> Project:
    return world.copied(running, tmp_path / "mine")


def with_quotas(project: Project, *lines: str) -> Project:
    policy = project.folder / "policy.yaml"
    head, _, _ = policy.read_text("utf-8").partition("quotas:")
    policy.write_text(head + "quotas:\n" + "".join(f"  - {line}\n" for line in lines), "utf-8")
    return apportion.open_project(project.folder)


def test_the_running_month_counts_as_it_is_estimated(running: Project) -> None:
    hours, money = standing(running, TODAY)
    assert (hours.limit.team, hours.window, hours.used) == ("vision", "2026-11", HELD * len(RAN))
    spent = grouped(live(running, TODAY).rows, ("team", "currency"))["zebra", "USD"]
    assert (money.limit.team, money.used) == ("zebra", Fraction(spent))


def test_only_what_ran_until_today_counts(running: Project) -> None:
    hours, _ = standing(running, date(2026, 11, 4))
    assert hours.used == HELD * len([day for day in RAN if day <= 4])


@pytest.mark.parametrize(("need", "fits"), [("0", True), ("256.5", True), ("256.500001", False), ("512", False)])
def test_it_fits_to_the_last_second(running: Project, need: str, fits: bool) -> None:
    """400 hours less 7 times 20.5."""
    made = fit(running, "vision", need, TODAY)
    assert made.fits is fits
    assert "256.50 of 400 GPU-hours are left in 2026-11" in made.sentence
    assert ("which fits" in made.sentence) is fits


def test_posted_months_and_the_estimate_add_up(mine: Project) -> None:
    """September is closed, October is posted, November runs: a year has all three, a quarter two, a week none of its days."""
    project = with_quotas(
        mine, *(f"{{team: vision, meter: gpu, hours: 500, per: {per}}}" for per in ("year", "quarter", "month", "week"))
    )
    used = {one.limit.per: one.used for one in standing(project, TODAY)}
    month = HELD * len(RAN)
    assert used == {"year": 3 * month, "quarter": 2 * month, "month": month, "week": 0}
    assert fit(project, "vision", 69, TODAY).fits  # 500 - 430.5
    assert [one.limit.per for one in fit(project, "vision", 70, TODAY).against] == ["year"]


def test_hours_are_known_before_any_price_is(mine: Project) -> None:
    """A pool of which nothing was ever posted has no price. What was held of it is counted all the same, and it has no money."""
    text = (
        (mine.folder / "policy.yaml")
        .read_text("utf-8")
        .replace("  gpus:\n", "  boards:\n", 1)
        .replace("pool: gpus", "pool: boards")
    )
    (mine.folder / "policy.yaml").write_text(text.replace("effective: 2026-01-01", "effective: 2026-11-01"), "utf-8")
    project = apportion.open_project(mine.folder)
    hours, money = standing(project, TODAY)
    assert hours.used == HELD * len(RAN)
    assert money.used == Fraction(grouped(live(project, TODAY).rows, ("team", "currency")).get(("zebra", "USD"), 0))


def test_a_month_of_which_nothing_is_known(running: Project) -> None:
    made = fit(running, "vision", 400, date(2027, 1, 5))
    assert made.fits
    assert made.quotas[0].through is None
    assert "nothing is known of it yet" in made.sentence


def test_no_quota_limits_nothing(running: Project) -> None:
    made = fit(running, "speech", 10**6, TODAY)
    assert made.fits
    assert "no quota of gpu holds for it on 2026-11-16: nothing limits it" in made.sentence


def test_money(running: Project) -> None:
    left = next(one.left for one in standing(running, TODAY) if one.limit.team == "zebra")
    whole = int(left)
    assert fit(running, "zebra", needed(running, str(whole), "money"), TODAY).fits
    assert not fit(running, "zebra", needed(running, str(whole + 1), "money"), TODAY).fits


def used(of: str, size: int, gone: int, **more: str) -> Used:
    meter, unit = ("", "USD") if of == "money" else (of, f"{of}-hours")
    limit = Limit("vision", more.get("project", ""), meter, more.get("pool", ""), unit, Fraction(size), "month")
    return Used(limit, date(2026, 11, 1), date(2026, 11, 30), TODAY, Fraction(gone))


@pytest.mark.parametrize(
    ("quotas", "need", "fits"),
    [
        ((used("gpu", 10, 2), used("gpu", 100, 95)), Need(Fraction(6)), False),  # every one must hold it
        ((used("gpu", 10, 2), used("gpu", 100, 95)), Need(Fraction(5)), True),
        ((used("gpu", 10, 12),), Need(Fraction(0)), False),
        ((used("cpu", 10, 12),), Need(Fraction(6)), True),  # not of cores
        ((used("money", 10, 10),), Need(Fraction(6)), False),  # hours cost money, and none is left
        ((used("money", 10, 9),), Need(Fraction(6)), True),
        ((used("gpu", 10, 10, pool="h100"),), Need(Fraction(6)), False),  # it may go there
        ((used("gpu", 10, 10, pool="h100"),), Need(Fraction(6), pool="a100"), True),
        ((used("gpu", 10, 10, project="folding"),), Need(Fraction(6), project="folding"), False),
        ((used("gpu", 10, 10, project="folding"),), Need(Fraction(6), project="other"), True),
    ],
)
def test_which_quotas_are_asked(quotas: tuple[Used, ...], need: Need, fits: bool) -> None:
    made = Fit("vision", need, TODAY, quotas)
    assert made.fits is fits
    report = fit_report(made, "")
    assert (report.more["fits"], report.title) == (fits, made.sentence)
    assert any(row[-1] == "no" for section in report.sections for row in section.rows) is not fits


@pytest.mark.parametrize(
    ("team", "words", "code"),
    [("visoin", ("5",), "unknown-owner"), ("vision", ("5", "gpus"), "unknown-meter"), ("vision", ("5", "gpu", "disk"), "unknown-pool"),
     ("vision", ("many",), "invalid-number"), ("vision", ("-5",), "negative-amount")],
)  # fmt: skip
def test_what_is_wrong_is_said(running: Project, team: str, words: tuple[str, ...], code: str) -> None:
    amount, of, pool = (*words, *("", "gpu", "")[len(words) :])
    with pytest.raises(ApportionError) as found:
        fit(running, team, needed(running, amount, of, Where(pool)), TODAY)
    assert found.value.code == code
    assert found.value.hint


def test_the_count_is_kept_until_something_moved(mine: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = standing(mine, TODAY)
    with monkeypatch.context() as patch:
        patch.delattr(counting, "running_month")  # nothing is estimated again
        assert standing(mine, TODAY) == before
        with pytest.raises(NameError):
            standing(mine, date(2026, 11, 15))
    file = mine.folder / ".apportion" / "quotas.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "counts": [["", "many"], ["", "1"]]}))
    assert standing(mine, TODAY) == before  # what cannot be read is counted anew
    jobs = mine.folder / "usage" / "jobs-2026-11.csv"
    header, first, *rest = jobs.read_text("utf-8").splitlines()
    jobs.write_text("\n".join([header, first, *[row for row in rest if ",vis-" not in row]]) + "\n", "utf-8")
    apportion.ingest(apportion.open_project(mine.folder))
    moved = standing(apportion.open_project(mine.folder), TODAY)
    assert moved[0].used < before[0].used


FILTER = Path(__file__).resolve().parents[2] / "examples" / "submit-filter" / "fits.sh"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("vision 8 10", 0, ""),
        ("vision 8 60000", 4, "vision needs 8,000 GPU-hours, which does not fit"),
        ("speech 8 60000", 0, ""),  # it has no quota
        ("visoin 8 10", 0, "the job is let through"),
        ("vision eight 10", 2, "whole numbers"),
        ("'vision;id' 8 10", 2, "TEAM GPUS MINUTES"),
    ],
)
def test_the_filter_lets_through_what_fits(running: Project, words: str, code: int, said: str) -> None:
    """As it is copied. Whatever today is, 400 hours are enough for a short job and too few for a thousand hours of 8 GPUs."""
    done = shell(f"APPORTION_WAIT=60 {FILTER} {words}", running.folder)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout


def test_a_strict_filter_holds_what_nobody_can_answer(running: Project) -> None:
    assert shell(f"APPORTION_WAIT=60 APPORTION_STRICT=1 {FILTER} visoin 8 10", running.folder).returncode == 1


def test_words_of_the_command_line(running: Project) -> None:
    for words, code, said in (
        ("vision --need many", 2, "'many' is not a number"),
        ("--need 5", 2, "--need is about one team"),
        ("vision --need 5 --period 2026-10", 2, "about today"),
        ("visoin --need 5", 1, "did you mean 'vision'?"),
    ):
        done = shell(f"apportion quota {words}", running.folder)
        assert (done.returncode, said in done.stdout) == (code, True), done.stdout
    done = shell("apportion quota vision --need 5000 --quiet -o json", running.folder)
    assert (done.returncode, json.loads(done.stdout)["fits"]) == (4, False)
