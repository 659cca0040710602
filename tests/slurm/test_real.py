"""Against a real Slurm: what is read is what the jobs were told to do, and its sums are sreport's, to the second."""

import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.sources.slurm import probe, read
from tests.slurm.cluster import HOUR_S, NODES, Cluster, cluster, sreport, why_not
from tests.slurm.workload import HOSTILE, Workload


@dataclass(frozen=True)
class Lived:
    """The cluster after its workload: what was read live, through slurmrestd, and again once all lay in hours that are over."""

    cluster: Cluster
    workload: Workload
    live: Delivery
    rest: Delivery
    rolled: Delivery
    free: Delivery
    hours: Interval
    signs: tuple[tuple[str, str], ...]


def ask(window: Interval, **settings: Any) -> Delivery:
    *_, last = read({"name": "slurm", "kind": "slurm", **settings}, Path(), window)
    assert isinstance(last, Delivery)
    return last


@pytest.fixture(scope="module")
def lived() -> Iterator[Lived]:
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="slurm-") as parent, pytest.MonkeyPatch.context() as patch:
        Path(parent).chmod(0o755)
        with cluster(Path(parent) / "c") as found:
            patch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
            began = int(time.time())
            workload = Workload(found)
            workload.run()
            window = Interval(began, int(time.time()))
            live = ask(window)
            patch.setenv("SLURM_TOKEN", found.start_rest())
            url = f"http://127.0.0.1:{found.ports['rest']}"
            rest = ask(window, url=url, token="env:SLURM_TOKEN", username="root")
            signs = tuple((sign.status, sign.text) for sign in probe({"name": "slurm", "kind": "slurm"}, Path()))
            found.roll_up()
            hours = Interval((began - HOUR_S) // HOUR_S * HOUR_S, int(time.time()) // HOUR_S * HOUR_S)
            yield Lived(found, workload, live, rest, ask(hours), ask(hours, suspended="free"), hours, signs)


def labels(found: Delivery) -> dict[str, dict[str, str]]:
    return {row["workload"]: dict(row["labels"]) for row in found.tables["workloads"].to_pylist()}


def seconds(found: Delivery, meter: str, window: Interval) -> Counter[str]:
    """Base-unit-seconds by account, as the books would clip them."""
    sums: Counter[str] = Counter()
    accounts = labels(found)
    for row in found.tables["usage"].to_pylist():
        if row["meter"] == meter:
            span = Interval(row["start_s"], row["end_s"]).clip(window)
            sums[accounts[row["workload"]]["slurm.account"]] += row["allocated"] * span.seconds
    return sums


def attempts(found: Delivery, job: str) -> list[dict[str, Any]]:
    rows = [row for row in found.tables["workloads"].to_pylist() if row["run"] == f"slurm/lab/{job}"]
    return sorted(rows, key=lambda row: (row["start_s"], row["workload"]))


@pytest.mark.parametrize("how", ["live", "rest"])
def test_every_job_of_the_manifest_is_read_as_it_was_meant(lived: Lived, how: str) -> None:
    found: Delivery = getattr(lived, how)
    usage = found.tables["usage"].to_pylist()
    for label, expected in lived.workload.expected.items():
        rows = attempts(found, expected.job)
        assert tuple(row["outcome"] for row in rows) == expected.outcomes, label
        assert {dict(row["labels"])["slurm.account"] for row in rows} == {expected.account}, label
        held: Counter[str] = Counter()
        parts = rows if label == "het" else rows[-1:]
        for row in usage:
            if row["workload"] in {part["workload"] for part in parts}:
                held[row["meter"]] += row["allocated"]
        assert (held["gpu"], held["cpu"]) == (expected.gpus * GPU, expected.cores * 1000), label
        if expected.seconds is not None:
            assert expected.seconds <= rows[-1]["end_s"] - rows[-1]["start_s"] <= expected.seconds + 12, label


def test_nothing_else_is_read(lived: Lived) -> None:
    runs = {f"slurm/lab/{expected.job}" for expected in lived.workload.expected.values()}
    for found in (lived.live, lived.rest, lived.rolled):
        assert {row["run"] for row in found.tables["workloads"].to_pylist()} == runs


def test_a_hostile_name_forges_no_record(lived: Lived) -> None:
    (row,) = attempts(lived.live, lived.workload.expected["hostile"].job)
    assert row["name"] == HOSTILE
    assert not [problem for problem in lived.live.problems if problem.code == "malformed-row"]


@pytest.mark.parametrize(("meter", "tres", "base"), [("gpu", "gres/gpu", GPU), ("cpu", "cpu", 1000)])
def test_sums_are_those_of_sreport(lived: Lived, meter: str, tres: str, base: int, record_property: Any) -> None:
    """With suspended time left out, as sreport does. It knows no shards as GPUs, and charges idle cores of a reservation (see test_recorded.py)."""
    hours = (lived.hours.start_s, lived.hours.end_s)
    theirs = sreport(lived.cluster, "AccountUtilizationByUser", tres, hours)
    ours = seconds(lived.free, meter, lived.hours)
    shards = attempts(lived.free, lived.workload.expected["parts"].job)[0]
    ours["vision"] -= (shards["end_s"] - shards["start_s"]) * GPU // 2 if meter == "gpu" else 0
    idle = idle_reserved(lived) if meter == "cpu" else 0
    assert {name: ours[name] / base for name in ("vision", "speech")} == {
        "vision": theirs["vision"], "speech": theirs["speech"] - idle,
    }  # fmt: skip
    told = f"{sum(ours.values()) // base} and {theirs['vision'] + theirs['speech'] - idle}"
    record_property(f"{tres}-seconds, ours and those of sreport", told)


def idle_reserved(lived: Lived) -> int:
    """What sreport charges speech for: all cores of the node for the seconds in which no job ran in its reservation."""
    rows = [row for row in lived.free.tables["reservations"].to_pylist() if row["meter"] == "cpu"]
    (job,) = attempts(lived.free, lived.workload.expected["reserved"].job)
    (row,) = rows
    whole = row["end_s"] - row["start_s"] - (job["end_s"] - job["start_s"])
    return int(row["amount"] // 1000 * whole)


def test_suspended_time_is_held_unless_said_otherwise(lived: Lived) -> None:
    job = lived.workload.expected["suspended"].job
    told = lived.cluster.ask(
        "sacct", "-X", "-D", "-n", "-P", "-j", job, "-o", "ElapsedRaw,Suspended,Start,End", SLURM_TIME_FORMAT="%s"
    )
    elapsed, suspended, start, end = told.strip().split("|")
    assert suspended != "00:00:00"
    assert spans(lived.rolled, job, "memory") == [(int(start), int(end))]
    assert [last - first for first, last in spans(lived.free, job, "memory")] == [int(elapsed)]
    for found in (lived.rolled, lived.free):
        assert [last - first for first, last in spans(found, job, "cpu")] == [int(elapsed)]


def spans(found: Delivery, job: str, meter: str) -> list[tuple[int, int]]:
    (workload,) = attempts(found, job)
    rows = found.tables["usage"].to_pylist()
    return [
        (row["start_s"], row["end_s"])
        for row in rows
        if row["workload"] == workload["workload"] and row["meter"] == meter
    ]


def test_capacity_and_its_outage(lived: Lived) -> None:
    rows = lived.live.tables["capacity"].to_pylist()
    amounts = {(row["resource"], row["meter"]): row["amount"] for row in rows}
    for node, (cores, memory, gres) in NODES.items():
        assert amounts[node, "cpu"] == cores * 1000
        assert amounts[node, "memory"] == memory * 2**20
        assert amounts.get((node, "gpu"), 0) == (4 * GPU if gres else 0)
    down = [row for row in rows if row["state"] == "down" and row["meter"] == "gpu"]
    assert [row["resource"] for row in down] == ["h100-1"]
    assert 2 <= down[0]["end_s"] - down[0]["start_s"] <= 20
    whole = sum(row["end_s"] - row["start_s"] for row in rows if row["resource"] == "h100-1" and row["meter"] == "gpu")
    assert whole == lived.live.window.seconds
    host = socket.gethostname().partition(".")[0]  # all nodes of this cluster are processes of it
    told = {"slurm.cluster": "lab", "slurm.partition": "h100", "gpu.model": "h100", "slurm.hostname": host}
    assert dict(down[0]["labels"]) == told


def test_reserved_gpus_are_promised_to_the_account(lived: Lived) -> None:
    for found in (lived.live, lived.rolled):
        (row,) = [row for row in found.tables["reservations"].to_pylist() if row["meter"] == "gpu"]
        assert row["amount"] == 4 * GPU
        told = dict(row["labels"])
        assert (told["slurm.account"], told["node"], told["slurm.reservation"]) == ("speech", "a100-2", "demo")
    (job,) = attempts(lived.live, lived.workload.expected["reserved"].job)
    assert dict(job["labels"])["slurm.reservation"] == "demo"


def test_licences_and_types(lived: Lived) -> None:
    rows = lived.live.tables["usage"].to_pylist()
    assert [(row["resource"], row["allocated"]) for row in rows if row["meter"] == "licence"] == [("licence/matlab", 3)]
    models = {
        label: dict(attempts(lived.live, expected.job)[-1]["labels"]).get("gpu.model")
        for label, expected in lived.workload.expected.items()
    }
    assert (models["plain"], models["parts"], models["exclusive"], models["array"]) == ("a100", "a100", "h100", None)
    assert dict(attempts(lived.live, lived.workload.expected["plain"].job)[0]["labels"])["slurm.wckey"] == "gpt"


def test_lost_work_is_visible_by_outcome(lived: Lived) -> None:
    lost = {row["outcome"] for row in lived.live.tables["workloads"].to_pylist()} & {
        "preempted",
        "requeued",
        "node_fail",
    }
    assert lost == {"preempted", "requeued", "node_fail"}
    by = Counter({row["workload"]: 0 for row in lived.live.tables["workloads"].to_pylist()})
    for row in lived.live.tables["usage"].to_pylist():
        by[row["workload"]] += row["allocated"] * (row["end_s"] - row["start_s"])
    for label in ("preempted", "lost"):
        (job,) = attempts(lived.live, lived.workload.expected[label].job)
        assert by[job["workload"]] > 0


def test_the_same_window_read_twice_is_the_same(lived: Lived) -> None:
    """Any past window can be read again, whatever was read before."""
    halves = [
        Interval(lived.hours.start_s, lived.hours.start_s + 1800),
        Interval(lived.hours.start_s + 1800, lived.hours.end_s),
    ]
    parts = [seconds(ask(half, suspended="free"), "gpu", half) for half in halves]
    assert parts[0] + parts[1] == +seconds(lived.free, "gpu", lived.hours)
    assert ask(lived.hours).tables == lived.rolled.tables


def test_probe_says_that_all_is_well(lived: Lived) -> None:
    assert [status for status, _ in lived.signs if status == "wrong"] == []
    told = " ".join(text for _, text in lived.signs)
    assert "slurmdbd answers; clusters: lab" in told
    assert "accounting records GPUs" in told


def test_probe_names_what_is_wrong_when_the_database_is_down(lived: Lived) -> None:
    lived.cluster.stop("slurmdbd")
    try:
        signs = list(probe({"name": "slurm", "kind": "slurm"}, Path()))
    finally:
        lived.cluster.start_database()
    wrong = [sign for sign in signs if sign.status == "wrong"]
    assert wrong
    assert any("slurmdbd" in sign.fix for sign in wrong)
