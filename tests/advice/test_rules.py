"""Each rule at its edges, and the money of advice by hand."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from apportion.model.meters import GPU
from apportion.model.rows import POSTINGS
from apportion.model.times import Interval
from apportion.reports.advice.kinds import findings
from apportion.reports.advice.pieces import advice, pieces
from apportion.reports.advice.remedies import remedy
from apportion.reports.advice.work import Saving, Stretch, Work
from apportion.reports.report import Record
from apportion.verbs.advising.works import sweep

UTC = ZoneInfo("UTC")
NOON = 1_790_856_000  # 2026-10-01T12:00:00Z
HOUR = 3600
RECORD = Record("2026-10", POSTINGS.empty_table(), "head")


def work(shares: Sequence[float | None], workload: str = "w", boards: int = 1, **more: object) -> Work:
    """One look an hour, at a dollar a board and hour."""
    start = NOON
    stretches = tuple(
        Stretch(
            start + n * HOUR,
            start + (n + 1) * HOUR,
            boards * GPU,
            None if share is None else round(boards * GPU * share),
        )
        for n, share in enumerate(shares)
    )
    made = Work(workload, workload, "train-x", "vision", "detect", "ann", "completed", start, start + len(shares) * HOUR, "GPU", GPU,
                stretches, {"USD": Decimal(boards * len(shares))})  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def kinds(*works: Work) -> list[str]:
    return [one.kind for one in findings(works, UTC)]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.0] * 5, ["idle"]),
        ([0.9] + [0.01] * 5, ["idle"]),  # its first hour is not judged
        ([0.0, 0.0], []),  # a try
        ([0.0] * 3, ["idle"]),
        ([0.04] * 3, []),
        ([0.0] * 2 + [None] * 4, []),  # too little is measured
        ([0.0, 0.0, 0.9, 0.9, 0.9, 0.9], []),  # warm-up
        ([0.9] * 4 + [0.0] * 3, ["hung"]),
        ([0.9] * 4 + [0.0] * 2, []),  # it is putting things away
        ([0.9] * 4 + [0.0] * 6 + [0.9], []),  # it waited
        ([0.1] * 8, ["slice"]),
        ([0.1] * 7 + [0.9], []),  # it needs the board now and then
        ([0.1] * 5, []),  # too few looks
        ([0.36] * 8, []),  # with room, more than three sevenths
        ([0.35] * 8, ["slice"]),
        ([None] * 8, []),
    ],
)
def test_what_a_run_is(shares: list[float | None], expected: list[str]) -> None:
    assert kinds(work(shares)) == expected


def test_a_mean_over_a_run_says_that_it_was_idle_but_not_that_a_slice_would_do() -> None:
    once = Stretch(NOON, NOON + 20 * HOUR, GPU, GPU // 10)
    run = work([0.0] * 20)
    assert kinds(replace(run, stretches=(once,))) == []
    assert kinds(replace(run, stretches=(replace(once, used=0),))) == ["idle"]


def test_several_boards_or_a_part_of_one_are_not_sliced() -> None:
    assert kinds(work([0.1] * 8, boards=2)) == []
    part = tuple(replace(one, held=GPU // 2, used=GPU // 20) for one in work([0.1] * 8).stretches)
    assert kinds(replace(work([0.1] * 8), stretches=part)) == []


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.5] * 6 + [0.0] * 14 + [0.5] * 2, ["overnight"]),  # used until 18:00, and again from 08:00
        ([0.5] * 6 + [0.0] * 5, []),  # given back at 23:00
        ([0.5] * 20, []),  # used all night
        ([0.5] * 2 + [0.0] * 5 + [0.5] * 2, []),  # an afternoon's pause
        ([0.0] * 20, ["idle"]),
    ],
)
def test_sessions_at_night(shares: list[float], expected: list[str]) -> None:
    assert kinds(work(shares, phase="interactive")) == expected


def attempts(*hours: float, outcome: str = "failed", apart_s: int = 300) -> list[Work]:
    made, start = [], NOON
    for number, length in enumerate(hours):
        end = start + round(length * HOUR)
        look = Stretch(start, end, GPU, GPU)
        made.append(work([1.0], f"a{number}", run="r", outcome=outcome, start_s=start, end_s=end, stretches=(look,)))
        start = end + apart_s
    return made


def test_failures_alike() -> None:
    found = findings(attempts(5.0, 5.1, 4.9, 5.0), UTC)
    assert [(one.kind, one.work.workload, int(one.low), int(one.high)) for one in found] == [
        ("retries", "a1", 0, 1),
        ("retries", "a2", 1, 1),
        ("retries", "a3", 1, 1),
    ]
    assert kinds(*attempts(5.0, 5.0)) == []
    assert kinds(*attempts(5.0, 6.0, 4.0)) == []  # it gets on
    assert kinds(*attempts(0.1, 0.1, 0.1)) == []  # a slip of the pen
    assert kinds(*attempts(5.0, 5.0, 5.0, outcome="node_fail")) == []
    assert kinds(*attempts(5.0, 5.0, 5.0, apart_s=-HOUR)) == []  # tasks side by side


@pytest.mark.parametrize(
    ("run", "low", "high"),
    [
        (work([0.0] * 10, boards=4), "36", "40"),
        (work([0.9] * 4 + [0.0] * 6), "5", "6"),
        (work([0.5] * 6 + [0.0] * 14, phase="interactive"), "13", "14"),
        (work([0.1] * 14), "10", "12"),  # one seventh fits, two would surely
    ],
)
def test_the_range_of_a_saving(run: Work, low: str, high: str) -> None:
    (one,) = pieces(findings([run], UTC))
    assert (one.low, one.high) == (Decimal(low), Decimal(high))


def test_a_workload_is_in_one_piece_whichever_kinds_are_asked_for() -> None:
    """A session that stood still at night and never needed much: the night is more specific."""
    run = work([0.2] * 6 + [0.0] * 14 + [0.2] * 2, phase="interactive")
    assert kinds(run) == ["overnight"]
    assert findings([run], UTC, ["slice"]) == []
    other = work([0.0] * 10, "other", name="train-y")
    made = pieces(findings([run, other], UTC))
    (section,) = advice("2026-10", made, RECORD, [run]).sections
    assert [one.kind for one in made] == ["overnight", "idle"]
    assert section.bill == section.totals[8] == Decimal(24)
    assert section.totals[7] == Decimal(22)


def test_no_work_no_advice() -> None:
    made = advice("2026-10", pieces([]), RECORD, [])
    assert made.title == "Nothing that was measured in 2026-10 calls for advice."
    assert made.sections == ()


def test_names_of_others_are_quoted_in_commands() -> None:
    run = work([0.0] * 5, outcome="running", run="1; rm -rf x", labels={"slurm.account": "a"})
    assert remedy(Saving("idle", run, Fraction(0), Fraction(1))) == "scancel '1; rm -rf x'"
    logged = replace(run, labels={"account": "a"})
    expected = "apportion cost '1; rm -rf x'   # it still runs: end it where it was started"
    assert remedy(Saving("idle", logged, Fraction(0), Fraction(1))) == expected
    pod = replace(run, labels={"k8s.namespace": "a b", "k8s.pod": "$(x)"})
    assert remedy(Saving("idle", pod, Fraction(0), Fraction(1))) == "kubectl delete pod -n 'a b' '$(x)'"


@pytest.mark.parametrize(
    ("model", "labels", "expected"),
    [
        ("H100", {}, "sbatch --gres=gpu:2g.20gb:1 JOB.sh"),
        ("NVIDIA-A100-SXM4-80GB", {"k8s.pod": "p"}, "resources: {limits: {nvidia.com/mig-2g.20gb: 1}}"),
        ("L40S", {"k8s.pod": "p"}, "resources: {limits: {nvidia.com/gpu.shared: 1}}"),
        ("", {}, "sbatch --gres=shard:1 JOB.sh"),
    ],
)
def test_a_slice_is_asked_for_where_boards_have_them(model: str, labels: dict[str, str], expected: str) -> None:
    run = work([0.2] * 8, model=model, labels=labels)
    assert (
        remedy(Saving("slice", run, Fraction(0), Fraction(1), Fraction(2, 7))) == f"{expected}   # if its memory fits"
    )


def test_nodes_are_swept_together() -> None:
    month = Interval(NOON, NOON + 350)
    rows: list[dict[str, Any]] = [
        {"start_s": NOON, "end_s": NOON + 100, "allocated": 8, "used": 4},
        {"start_s": NOON + 50, "end_s": NOON + 150, "allocated": 8, "used": None},
        {"start_s": NOON + 300, "end_s": NOON + 400, "allocated": 2, "used": 2},
        {"start_s": NOON - 50, "end_s": NOON, "allocated": 2, "used": 2},
    ]
    assert list(sweep(rows, month)) == [
        Stretch(NOON, NOON + 50, 8, 4),
        Stretch(NOON + 50, NOON + 100, 16, None),
        Stretch(NOON + 100, NOON + 150, 8, None),
        Stretch(NOON + 300, NOON + 350, 2, 2),
    ]


def test_what_the_evidence_cannot_tell_is_said() -> None:
    mean = replace(work([0.5]), stretches=(Stretch(NOON, NOON + 5 * HOUR, GPU, GPU // 2),))
    made = advice("2026-10", [], RECORD, [work([0.5, 0.5, None, 0.5, 0.5]), mean])
    assert made.notes == (
        "10.0 % of the hours held were not measured: nothing is said about them.",
        "Of 1 of 2 workloads only a mean over the run is known: hung, overnight and slice need use over time.",
    )
