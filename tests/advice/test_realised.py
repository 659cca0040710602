"""What became of advice: by hand, over two posted months, and never more than was advised."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import apportion
from apportion.reports.advice.kinds import findings
from apportion.reports.advice.pieces import pieces
from apportion.reports.advice.realised import Outcome, month_of, outcomes
from apportion.reports.advice.work import Offer, Told, Work
from tests.advice.test_rules import UTC, work
from tests.advice.test_runs_together import family, store
from tests.cli.conftest import Run, run
from tests.cli.tiny import HEAD, NODES, edit, write_tiny
from tests.web.conftest import clients_of

__all__ = ["run"]


def followed(then: Sequence[Work], now: Sequence[Work]) -> list[Outcome]:
    before, after = findings(then, UTC), findings(now, UTC)
    return outcomes(pieces(before), month_of(then, before), month_of(now, after))


def states(then: Sequence[Work], now: Sequence[Work]) -> list[tuple[str, str, Decimal]]:
    return [(one.piece.kind, one.state, one.high) for one in followed(then, now)]


IDLE, BUSY = work([0.0] * 10, "idle"), work([0.9] * 10, "busy")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([BUSY], ("realised", 10)),
        ([BUSY, IDLE], ("not yet", 0)),
        ([BUSY, work([0.0] * 4, "idle")], ("partly", 6)),
        ([work([0.9] * 5, "busy")], ("realised", 5)),  # half as much work would have wasted half as much
        ([work([0.9] * 30, "busy")], ("realised", 10)),  # growth counts no more than was advised
        ([IDLE], ("not yet", 0)),
        ([], ("gone", 0)),
        ([work([0.9] * 10, name="another")], ("gone", 0)),
        ([work([0.9] * 10, user="bob")], ("gone", 0)),
        ([work([None] * 10)], ("cannot tell", 0)),
    ],
)
def test_what_became_of_idle_hours(now: list[Work], expected: tuple[str, int]) -> None:
    assert states([IDLE, BUSY], now) == [("idle", expected[0], Decimal(expected[1]))]


def test_each_kind_is_judged_by_what_would_show_it() -> None:
    spot = Offer({"qos": "spot"}, Fraction(6, 10))
    then = family(5, 5.2, offer=spot)
    dear = [replace(one, workload=f"n{one.workload}") for one in then if one.run == "1"]
    assert [one[:2] for one in states(then, dear)] == [("preemptible", "not yet")]  # nothing was cut short, and yet
    cheap = [replace(one, told=Told(experiment="e")) for one in then]
    assert states(then, cheap) == [
        ("preemptible", "realised", sum(Decimal(6 * int(one.amounts["USD"])) / 10 for one in then))
    ]
    lost = family(8, 10)
    assert [one[1] for one in states(lost, lost[:2])] == ["cannot tell"]  # nothing was cut short
    assert [one[1] for one in states(lost, family(5, 5.2))] == ["realised"]
    assert [one[1] for one in states(lost, family(8, 10))] == ["not yet"]
    volume = store(100, read_s=0)
    assert states([volume], []) == [("abandoned", "realised", Decimal(50))]  # to remove it is the saving
    assert states([volume], [volume]) == [("abandoned", "not yet", Decimal(0))]


looks = st.lists(st.sampled_from([0.0, 0.2, 0.9, None]), min_size=1, max_size=12)
months = st.lists(looks, max_size=5)


@settings(max_examples=30, deadline=None)
@given(months, months)
def test_never_more_than_was_advised(then: list[list[float | None]], now: list[list[float | None]]) -> None:
    before, after = ([work(one, f"w{n}") for n, one in enumerate(some)] for some in (then, now))
    for one in followed(before, after):
        assert 0 <= one.low <= one.high <= one.piece.high
        assert one.low <= one.piece.low
        assert one.high == 0 or one.state in ("realised", "partly")


LATER = "2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,2026-11-01T00:00:00Z,2026-11-02T00:00:00Z"
BILL = f"{HEAD}\nAcme,1,{LATER},Usage,480.00,480.00,480.00,480.00,USD,GPU Compute,Compute,n1,one day of a node,\n"
JOBS = """\
job,run,team,user,node,start,end,gpus,state,used
j1,j1,vision,ann,n1,2026-10-01T00:00:00Z,2026-10-01T12:00:00Z,4,COMPLETED,0
j2,j2,vision,ann,n1,2026-10-01T12:00:00Z,2026-10-01T18:00:00Z,4,COMPLETED,4
j3,j3,vision,ann,n1,2026-11-01T00:00:00Z,2026-11-01T03:00:00Z,4,COMPLETED,0
j4,j4,vision,ann,n1,2026-11-01T12:00:00Z,2026-11-01T18:00:00Z,4,COMPLETED,4
"""


@pytest.fixture
def posted(tmp_path: Path) -> Path:
    """In October 48 GPU-hours were idle and 24 in use, at 1.25; in November 12 and 24, at twice the price."""
    folder = write_tiny(tmp_path)
    (folder / "usage/jobs.csv").write_text(JOBS, "utf-8")
    (folder / "bills/later.csv").write_text(BILL, "utf-8")
    later = NODES.splitlines()[1].replace("2026-10-01", "2026-11-01").replace("2026-10-02", "2026-11-02")
    (folder / "usage/nodes.csv").write_text(f"{NODES}{later}\n", "utf-8")
    edit(folder / "apportion.toml", "bills/acme.csv", "bills/*.csv")
    edit(
        folder / "apportion.toml",
        'meters = { gpu = "gpus" }',
        'meters = { gpu = "gpus" }\nused_meters = { gpu = "used" }',
    )
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in ("2026-10", "2026-11"):
        apportion.apply(project, month, made=apportion.plan(project, month).plan)
    return folder


def test_over_two_months(run: Run, posted: Path) -> None:
    ask = ("--project", posted, "advise", "--period", "2026-11", "--realised")
    value = run(*ask, "-o", "json").value()
    assert (
        value["title"]
        == "Of 1 piece of advice for 2026-10, 41.25 USD to 45.00 USD of 60.00 USD is realised in 2026-11."
    )
    (one,) = value["realised"]
    assert (one["kind"], one["state"], one["owner"]) == ("idle", "partly", "vision/ann")
    assert [Decimal(one[name]) for name in ("then", "now", "advised_low", "advised", "low", "high")] == [
        72, 36, 55, 60, Decimal("41.25"), 45,
    ]  # fmt: skip
    (given,) = run("--project", posted, "advise", "--period", "2026-10", "-o", "json").value()["advice"]
    assert given["id"] == one["id"]
    assert "partly" in run(*ask).out
    assert run(*ask, "--since", "2026-10", "-o", "json").value()["realised"] == [one]
    assert run(*ask, "--kind", "hung", "-o", "json").value()["title"] == "There was no advice for 2026-10."


def test_over_the_wire(posted: Path) -> None:
    theirs = clients_of(posted)
    made = apportion.realised(apportion.open_project(posted), "2026-11")
    for role in ("admin", "viewer"):
        answer = theirs(role).get("/api/v1/advice/realised?period=2026-11").json()
        assert answer["title"] == made.title
        assert [row["state"] for row in answer["sections"][0]["rows"]] == ["partly"]
    assert theirs("lead").get("/api/v1/advice/realised?period=2026-11").json().get("sections", []) == []
    assert "ann" not in theirs("lead").get("/api/v1/advice/realised?period=2026-11").text
    assert theirs("admin").get("/api/v1/advice/realised?period=2026-10&since=2026-11").json()["code"] == "no-period"


def test_there_must_be_advice_to_follow(run: Run, posted: Path) -> None:
    shown = run("--project", posted, "advise", "--period", "2026-10", "--realised")
    assert (shown.code, shown.out) == (1, "")
    assert "error[nothing-posted]: no month before 2026-10 is posted" in shown.err
    shown = run("--project", posted, "advise", "--period", "2026-10", "--since", "2026-11")
    assert "error[no-period]: 2026-11 is not before 2026-10" in shown.err
