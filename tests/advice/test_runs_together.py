"""Rules that look at several runs, or at more than how busy boards were: each at its edges."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.model.meters import GPU
from apportion.reports.advice.kinds import KINDS, findings
from apportion.reports.advice.models import board_of
from apportion.reports.advice.pieces import advice, pieces
from apportion.reports.advice.remedies import remedy
from apportion.reports.advice.work import HOSTS, STORES, Offer, Side, Stretch, Told, Work
from tests.advice.test_rules import HOUR, NOON, RECORD, UTC, kinds, work

GIB, DAY = 2**30, 24 * 3600
SPOT = Offer({"qos": "spot"}, Fraction(6, 10))


def host(cores: list[float], memory: list[float | None], asked: int = 16, **more: Any) -> Work:
    """One look an hour; a core weighs nine times as much as a GiB, of which there are as many."""

    def side(shares: list[float] | list[float | None], base: int, weight: Fraction) -> Side:
        looks = (
            Stretch(
                NOON + n * HOUR, NOON + (n + 1) * HOUR, asked * base, None if one is None else round(asked * base * one)
            )
            for n, one in enumerate(shares)
        )
        return Side(tuple(looks), weight / base, base)

    sides = {"cpu": side(cores, 1000, Fraction(9, 10)), "memory": side(memory, GIB, Fraction(1, 10))}
    made = work([0.5] * len(cores), unit="core", base=1000, sort=HOSTS, sides=sides, stretches=sides["cpu"].stretches)
    return replace(made, amounts={"USD": Decimal(1000)}, **more)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (host([0.2] * 8, [0.9] * 8), ["requests"]),
        (host([0.2] * 7 + [0.9], [0.9] * 8), []),  # once it needed them
        (host([0.7] * 8, [0.9] * 8), []),
        (host([0.2] * 5, [0.2] * 5), []),  # too few looks
        (host([0.9] * 8, [0.1] * 8), []),  # a tenth of the price
        (host([0.9] * 8, [None] * 8), []),
    ],
)
def test_requests(run: Work, expected: list[str]) -> None:
    assert kinds(run) == expected


def test_the_money_of_requests_and_what_to_ask_for() -> None:
    """3.2 of 16 cores and 14.4 of 16 GiB: 4 cores would do, or 5, and all of the memory."""
    (found,) = findings([host([0.2] * 8, [0.9] * 8)], UTC)
    (piece,) = pieces([found])
    assert (piece.low, piece.high) == (Decimal("618.75"), Decimal(675))  # 900 * 11/16 and 12/16
    assert piece.do == "sbatch --cpus-per-task=4 --mem=16G JOB.sh   # on all nodes together"
    assert piece.evidence.endswith("at most 3.2 of 16 cores and 14.4 of 16 GiB in use")
    unknown = host([0.2] * 8, [None] * 8, labels={"k8s.pod": "p"})
    assert remedy(findings([unknown], UTC)[0]) == "resources: {requests: {cpu: 4}}"


def run(name: str, hours: float, after_h: float = 0, outcome: str = "completed", **more: Any) -> Work:
    start = NOON + round(after_h * HOUR)
    end = start + round(hours * HOUR)
    own: Any = {
        "run": name.partition(".")[0],
        "stretches": (Stretch(start, end, GPU, GPU),),
        "start_s": start,
        "end_s": end,
    }
    return replace(work([1.0], name, outcome=outcome), amounts={"USD": Decimal(round(hours))}, **(own | more))


SAME: Any = {"told": Told(config="c1")}


def test_the_same_run_again() -> None:
    first, again = run("1", 4, **SAME), run("2", 4, 2, **SAME)
    (found,) = findings([first, again], UTC)
    assert (found.kind, found.work.workload, found.low, found.high) == ("duplicate", "2", Fraction(1, 2), Fraction(1))
    assert found.proof == "the same as 1"
    assert kinds(first, run("2", 4, 13, **SAME)) == []  # tomorrow's
    assert (
        kinds(first, run("2", 4, 20, **SAME), run("3", 4, 30, **SAME), run("4", 4, 40, **SAME)) == []
    )  # every day, as the queue lets it
    assert kinds(first, run("2", 4, 2, told=Told(config="c2"))) == []  # another seed
    assert kinds(first, run("2", 4, 2, user="bob", **SAME)) == []
    assert kinds(run("1", 4, outcome="failed", **SAME), run("2", 4, 5, **SAME)) == []
    assert kinds(run("1", 4), run("2", 4, 2)) == []  # nobody said what they ran
    assert kinds(run("1.a", 4, **SAME), run("1.b", 4, **SAME)) == []  # two pods of one run
    assert kinds(run("1", 0.5, **SAME), run("2", 0.5, 1, **SAME)) == []


@pytest.mark.parametrize(
    ("labels", "do"),
    [
        ({"account": "a"}, "apportion cost 2   # before it is submitted again: it ran with c1"),
        ({"slurm.account": "a"}, "sacct --name=train-x --format=JobID,State,Comment   # before it is submitted again: look for c1"),
    ],
)  # fmt: skip
def test_what_nobody_measured_is_said_so_with_a_command_of_its_source(labels: dict[str, str], do: str) -> None:
    """Runs of a log that names no users."""
    blind: Any = {"stretches": (Stretch(NOON, NOON + 4 * HOUR, GPU, None),), "user": "", "labels": labels}
    (piece,) = pieces(findings([run(name, 4, after, **SAME, **blind) for name, after in (("1", 0), ("2", 2))], UTC))
    assert piece.evidence == "2: 4.0 GPU-hours held, use not measured; the same as 1"
    assert (piece.used, piece.cells()["used"], piece.do) == (None, None, do)


def family(*attempts: float, offer: Offer | None = None, **more: Any) -> list[Work]:
    """Two runs of ten hours in one piece, and one in attempts of which the last was fine."""
    shared: Any = {"told": Told(experiment="e", offer=offer)} | more
    made, at = [run("1", 10, **shared), run("2", 10.2, 3, **shared)], 20.0
    for number, hours in enumerate(attempts, 1):
        outcome = "completed" if number == len(attempts) else "failed"
        made.append(run(f"3.{number}", hours, at, outcome, **shared))
        at += hours + 0.1
    return made


def test_work_that_was_lost() -> None:
    found = findings(family(8, 10), UTC)
    assert [(one.kind, one.work.workload, one.low, one.high) for one in found] == [
        ("checkpoint", "3.1", Fraction(6, 8), Fraction(15, 16))
    ]
    assert len(findings(family(5, 4, 10), UTC)) == 2
    assert kinds(*family(5, 5.2)) == []  # it carried on, and nothing is cheaper for that
    assert kinds(*family(0.5, 10)) == []  # nothing to lose
    assert kinds(*family(2, 10)) == []  # nobody can tell
    assert kinds(*family(8, 10)[1:]) == []  # one run alone says little of how long they take
    assert kinds(run("0", 3, told=Told(experiment="e")), *family(8, 10)) == []  # nor do runs of any length


def test_work_that_could_be_put_out() -> None:
    found = findings(family(5, 5.2, offer=SPOT), UTC)
    assert {one.work.workload for one in found} == {"1", "2", "3.1", "3.2"}
    assert {(one.kind, one.low, one.high) for one in found} == {("preemptible", Fraction(56, 100), Fraction(6, 10))}
    assert remedy(found[0]) == "sbatch --qos=spot --requeue JOB.sh"
    assert kinds(*family(5, 5.2, offer=SPOT, phase="inference")) == []
    assert kinds(*family(8, 10, offer=SPOT)) == ["checkpoint"]
    assert kinds(*family(offer=SPOT)) == []  # never cut short: nobody knows


def on(model: str, share: float, gib: int | None, price: int = 1, boards: int = 2, **more: Any) -> Work:
    told = Told(memory=None if gib is None else gib * GIB)
    made = work([share] * 8, f"{model}-{share}", boards, model=model, told=told, phase="training")
    return replace(made, amounts={"USD": Decimal(8 * boards * price)}, **more)


CHEAP = on("L40S", 0.95, 40)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (on("H100", 0.2, 30, 4), ["model"]),
        (on("H100", 0.2, None, 4), []),
        (on("H100", 0.2, 45, 4), []),  # with room, more than it has
        (on("H100", 0.3, 30, 4), []),  # too busy for it
        (on("H100", 0.2, 30, 1), []),  # no dearer
        (on("H100", 0.2, 30, 4, phase="inference"), []),
        (on("H100", 0.5, 30, 4), ["batch"]),
        (on("H100", 0.5, 50, 4), []),  # no room for more
        (on("H100", 0.75, 30, 4), []),
        (on("H100", 0.5, 30, 4, phase="evaluation"), []),
        (on("X9", 0.5, 30, 4), []),
    ],
)
def test_boards_that_do_not_suit(made: Work, expected: list[str]) -> None:
    assert kinds(made, CHEAP) == expected


def test_the_money_of_another_model_and_of_larger_batches() -> None:
    model, batch = on("H100", 0.2, 30, 4), on("NVIDIA-H100-80GB-HBM3", 0.5, 30, 4)
    found = {one.kind: one for one in findings([model, batch, CHEAP], UTC)}
    assert (found["model"].low, found["model"].high) == (Fraction(5, 8), Fraction(3, 4))
    assert remedy(found["model"]) == "sbatch --gpus=l40s:2 JOB.sh   # or the partition that has them"
    assert (found["batch"].low, found["batch"].high) == (Fraction(7, 51), Fraction(7, 17))


def test_what_schedulers_call_boards() -> None:
    assert [board_of(name) for name in ("H100", "Tesla-V100-SXM2-32GB", "NVIDIA-A100-SXM4-40GB", "NVIDIA L40S", "MI300X")] == [
        "H100", "V100", "", "L40S", "",
    ]  # fmt: skip


TARIFF = tuple(Fraction(3, 5) if hour < 7 or hour >= 20 else Fraction(1) for hour in range(24))


def timed(hours: float, needed_h: float, after_h: float = 0, **more: Any) -> Work:
    """From 12:00 UTC on."""
    return run("n", hours, after_h, told=Told(needed_s=NOON + round(needed_h * HOUR)), **({"hourly": TARIFF} | more))


def test_work_that_could_have_waited() -> None:
    (found,) = findings([timed(4, 40)], UTC)
    assert (found.kind, found.low, found.high, found.need) == ("night", Fraction(1, 5), Fraction(2, 5), Fraction(8))
    assert remedy(found) == "sbatch --begin=now+8hours JOB.sh   # its deadline is later"
    (found,) = findings([timed(4, 10)], UTC)  # needed by 22:00: two of four hours are cheap
    assert found.high == Fraction(1, 5)
    assert kinds(timed(4, 8)) == []
    assert kinds(timed(4, 40, 9)) == []  # at 21:00 it is cheap
    assert kinds(timed(9, 60)) == []
    assert kinds(timed(4, 40, phase="interactive")) == []
    assert kinds(timed(4, 40, hourly=())) == []
    assert kinds(timed(4, 40, outcome="failed")) == []


def store(last_gib: int, **told: Any) -> Work:
    """Two days of a volume that had 100 GiB on the first."""
    days = (Stretch(NOON, NOON + DAY, 100 * GIB, None), Stretch(NOON + DAY, NOON + 2 * DAY, last_gib * GIB, None))
    made = work([None], unit="GiB", base=GIB, sort=STORES, stretches=days, told=Told(**told))
    return replace(made, name="old runs", amounts={"USD": Decimal(50)})


def test_what_nobody_reads() -> None:
    days = 2 * DAY - 60 * DAY
    (found,) = findings([store(100, read_s=NOON + days)], UTC)
    assert (found.kind, found.low, found.high) == ("abandoned", Fraction(1, 2), Fraction(1))
    (piece,) = pieces([found])
    assert piece.what == "old runs lies there and nobody reads it."
    assert piece.do.startswith("tar --zstd -cf ARCHIVE/'old runs'.tar.zst 'old runs' && rm -r 'old runs'")
    assert kinds(store(100, read_s=NOON + days + DAY)) == []
    assert kinds(store(102, read_s=NOON + days)) == []  # somebody writes
    assert kinds(store(100, read_s=NOON + days, kept=True)) == []
    assert kinds(store(100)) == []
    note = advice("2026-10", [], RECORD, [store(100)]).notes[-1]
    assert note.startswith("Of 1 volume nobody said when they were last read")


shares = st.lists(st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.9, None]), min_size=1, max_size=14)
labels = st.builds(
    Told,
    config=st.sampled_from(["", "c"]),
    experiment=st.sampled_from(["", "e"]),
    memory=st.sampled_from([None, 10 * GIB, 70 * GIB]),
    offer=st.sampled_from([None, SPOT]),
)
runs = st.builds(
    lambda looks, run, told, more: (looks, run, told, more),
    shares,
    st.sampled_from("abcd"),
    labels,
    st.fixed_dictionaries(
        {
            "outcome": st.sampled_from(["completed", "failed", "running"]),
            "phase": st.sampled_from(["", "training", "interactive", "inference"]),
            "model": st.sampled_from(["", "H100", "L40S"]),
        }
    ),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(runs, max_size=8))
def test_no_hour_is_saved_twice(drawn: list[tuple[list[float | None], str, Told, dict[str, Any]]]) -> None:
    works = [
        work(looks, f"w{n}", run=run, told=told, amounts={"USD": Decimal(10 + n)}, **more)
        for n, (looks, run, told, more) in enumerate(drawn)
    ]
    found = findings(works, UTC)
    assert len({one.work.key for one in found}) == len(found)
    assert all(0 <= one.low <= one.high <= 1 for one in found)
    made = pieces(found)
    assert sum(one.high for one in made) <= sum(one.amounts["USD"] for one in works)
    assert sorted(name for one in made for name in one.workloads) == sorted(one.work.workload for one in found)
    alone = [one for kind in KINDS for one in findings(works, UTC, [kind])]
    assert {(one.kind, one.work.key) for one in alone} == {(one.kind, one.work.key) for one in found}
