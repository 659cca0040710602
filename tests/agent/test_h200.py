"""A recorded run on a real H200: a Slurm job and a pod at work side by side for 140 seconds, and the agent killed at random over it.

The job multiplied matrices of 8192 for 60 seconds without a pause, the pod such of 4096 for 40 seconds with pauses, from 20 seconds
later. The driver's own accounting, written into the trace when each ended, is the second opinion on busy time.
"""

import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from apportion.errors import ProjectError
from apportion.sources.agent.trace import played
from apportion.verbs.agent import Wishes, replay
from tests import processes
from tests.agent.test_meter import batches, joules
from tests.sources.making import codes, read

ROOT = Path(__file__).resolve().parents[2]
TRACE = Path(__file__).with_name("h200.jsonl")
LOOKS = list(played(TRACE))
JOB, POD, IDLE = "slurm/main/4711", "k8s/main/1f6e3a52-9c1d-4b7e-8a2f-0123456789ab", "host/h200-1/_idle"
FIRST, LAST = LOOKS[0].readings[0].energy_mj, LOOKS[-1].readings[0].energy_mj
LENGTH_S = (LOOKS[-1].clock.boot_ms - LOOKS[0].clock.boot_ms) // 1000
SPEED = 25


def accounted() -> dict[int, int]:
    """Busy microseconds of each pid by the driver's accounting."""
    ended = [one for look in LOOKS for reading in look.readings for one in reading.ended]
    return {one.pid: one.use * one.ran_ms for one in ended}


def test_two_owners_share_the_counter_to_the_last_millijoule(tmp_path: Path) -> None:
    done = replay(Wishes(tmp_path, "h200-1", "main"), TRACE)
    assert set(done.millijoules) == {JOB, POD, IDLE}
    assert sum(done.millijoules.values()) == sum(done.boards.values()) == LAST - FIRST
    assert done.millijoules[JOB] > 5 * done.millijoules[POD] > 0
    job, pod = (pid for pid in accounted())
    assert done.busy_us[JOB] == pytest.approx(accounted()[job], rel=0.06)
    assert done.busy_us[POD] == pytest.approx(accounted()[pod], rel=0.06)
    assert done.busy_us[IDLE] == 0


def test_it_becomes_usage_in_whole_joules(tmp_path: Path) -> None:
    done = replay(Wishes(tmp_path / "agent", "h200-1", "main"), TRACE)
    (delivery,) = read("agent", tmp_path, path="agent")
    usage = delivery.tables["usage"].to_pylist()
    energy = {row["workload"]: row["allocated"] for row in usage if row["meter"] == "energy"}
    assert sum(energy.values()) == LAST // 1000 - FIRST // 1000
    for workload, mine in done.millijoules.items():
        assert energy[workload] == pytest.approx(mine / 1000, abs=1)
    (job,) = [row for row in usage if row["meter"] == "gpu" and row["workload"] == JOB]
    assert job["used"] * (job["end_s"] - job["start_s"]) == pytest.approx(done.busy_us[JOB] * 504_000 / 10**6, rel=1e-4)
    assert delivery.problems == ()


@pytest.fixture(scope="module")
def speed() -> int:
    """How many times faster the board goes than it did: on a busy machine slower, so that an agent starts eight times before it is over."""
    before = time.monotonic()
    processes.run([sys.executable, "-c", "import tests.agent.clocked"], cwd=ROOT, check=True)
    return max(1, min(SPEED, int(LENGTH_S / (8 * (time.monotonic() - before)))))


@pytest.mark.parametrize("turn", range(2))
def test_killed_at_random_the_sums_are_the_counters(
    tmp_path: Path, turn: int, speed: int, record_property: Any
) -> None:
    """The board goes on while the agent is dead; the counter's next delta has what it missed."""
    seed = time.time_ns() + turn
    dice = Random(seed)
    spool = tmp_path / "agent"
    start_ns = time.time_ns() + 300 * 10**6
    kills = 0
    while time.time_ns() < start_ns + LENGTH_S / speed * 10**9:
        agent = started(spool, start_ns, speed)
        if dice.random() < 0.7:  # at any moment, but mostly once it has written something
            wait_for_a_file(agent, spool)
        try:
            agent.wait(dice.uniform(0, LENGTH_S / speed / 7))
        except processes.TimeoutExpired:
            agent.kill()
            kills += 1
        agent.wait()
    record_property("kills", kills)
    found = batches(spool)
    assert kills
    assert found, f"seed {seed}"
    spans = sorted((board["from_mj"], board["to_mj"]) for batch in found for board in batch["boards"])
    assert sum(joules(found).values()) == spans[-1][1] - spans[0][0]
    assert all(before[1] == after[0] for before, after in pairwise(spans)), f"seed {seed}: {spans}"
    (delivery,) = read("agent", tmp_path, path="agent")
    told: Counter[str] = Counter()
    for row in delivery.tables["usage"].to_pylist():
        told[row["workload"]] += row["allocated"]
    assert sum(told.values()) == spans[-1][1] // 1000 - spans[0][0] // 1000
    assert set(codes(delivery)) <= {"estimated"}


def wait_for_a_file(agent: processes.Process[bytes], spool: Path) -> None:
    before = len(list(spool.glob("*.jsonl")))
    while agent.poll() is None and len(list(spool.glob("*.jsonl"))) == before:
        time.sleep(0.01)


def started(spool: Path, start_ns: int, speed: int) -> processes.Process[bytes]:
    command = [sys.executable, "-m", "tests.agent.clocked", str(spool), str(TRACE), str(start_ns), str(speed)]
    return processes.Process(command, cwd=ROOT)


def test_two_agents_do_not_write_to_one_spool(tmp_path: Path, speed: int) -> None:
    first = started(tmp_path, time.time_ns(), speed)
    try:
        while not list(tmp_path.glob("*.jsonl")):
            assert first.poll() is None
            time.sleep(0.01)
        with pytest.raises(ProjectError, match="another agent"):
            replay(Wishes(tmp_path, "h200-1", "main"), TRACE)
    finally:
        first.kill()
        first.wait()


def test_the_page_shows_what_the_agent_prints_for_this_run(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/measure-gpus-with-the-agent.md").read_text(encoding="utf-8")
    shown = page.partition("--for 140\n")[2].partition("```")[0]
    command = [
        str(Path(sys.executable).with_name("apportion")),
        "agent",
        "replay",
        str(TRACE),
        "--spool",
        str(tmp_path),
    ]
    done = processes.run([*command, "--node", "h200-1", "--cluster", "main"], text=True, check=True)
    assert done.stdout == shown
    uses = [one for look in LOOKS for reading in look.readings for one in reading.ended]
    for one in uses:
        assert f"{one.use // 10} % of {one.ran_ms / 1000:.3f} s" in page
