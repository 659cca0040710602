"""What a run writes for a schedule that is known beforehand: restarts, reloads, reboots and clocks that jump included."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from apportion.sources.agent.looks import Look
from apportion.sources.agent.meter import resumed
from apportion.sources.agent.owners import Place
from apportion.sources.agent.run import run
from apportion.sources.agent.spool import NAME, Spool, batch_of, lines
from apportion.sources.agent.trace import Player
from tests.agent.worlds import IDLE_ID, JOB_ID, LOST_ID, POD_ID, START_MS, USER_ID, Tick, counted, looks, moved

HERE = Place("n1", "main")


def measure(
    found: Iterable[Look], folder: Path, start: str = "1793491200000", batch_ms: int = 60_000
) -> list[dict[str, Any]]:
    """One run of the agent over some looks; all batches of the spool."""
    spool = Spool(folder, "n1")
    with spool.held():
        run(Player(iter(found)), resumed(HERE, start, spool.last()), spool, batch_ms)
    return batches(folder)


def batches(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.jsonl"), key=lambda path: (NAME.fullmatch(path.name) or [""])[0])
    return [batch for path in files for line in lines(path) if (batch := batch_of(line))]


def joules(found: Iterable[dict[str, Any]]) -> Counter[str]:
    made: Counter[str] = Counter()
    for batch in found:
        for board in batch["boards"]:
            assert sum(share["mj"] for share in board["shares"]) == board["to_mj"] - board["from_mj"]
            made.update({share["workload"]: share["mj"] for share in board["shares"]})
    return +made


def busy(found: Iterable[dict[str, Any]], workload: str) -> int:
    shares = [share for batch in found for board in batch["boards"] for share in board["shares"]]
    return sum(share["busy_us"] or 0 for share in shares if share["workload"] == workload)


PLAN = [
    *[Tick(92_001, {}, ())] * 10,  # nobody is there
    *[Tick(120_003, {}, (11,))] * 10,  # the job holds the board alone, and loads its model
    *[Tick(690_000, {11: 900}, (11,))] * 40,
    *[Tick(700_000, {11: 600, 12: 200}, (11, 12))] * 60,
    *[Tick(130_000, {}, (11, 12))] * 5,  # both wait
    *[Tick(300_000, {13: 500}, (13,))] * 20,
]


def test_each_gets_what_the_schedule_says(tmp_path: Path) -> None:
    found = measure(looks(PLAN), tmp_path)
    assert joules(found) == {
        IDLE_ID: 10 * 92_001 + 5 * 130_000,
        JOB_ID: 10 * 120_003 + 40 * 690_000 + 60 * 525_000,
        POD_ID: 60 * 175_000,
        USER_ID: 20 * 300_000,
    }
    assert busy(found, JOB_ID) == 40 * 900_000 + 60 * 600_000
    assert busy(found, POD_ID) == 60 * 200_000
    assert [batch["seq"] for batch in found] == [0, 1, 2, 3], "the first says only where the counter stood"
    assert [batch["looks"] for batch in found] == [1, 60, 60, 25]
    assert [(batch["to"]["wall_ms"] - batch["from"]["wall_ms"]) for batch in found] == [0, 60_000, 60_000, 25_000]


def test_wherever_it_is_killed_the_sums_are_the_counters(tmp_path: Path) -> None:
    """A kill loses what was not written yet; the next delta of the counter has it."""
    whole = looks(PLAN)
    truth = whole[-1].readings[0].energy_mj - whole[0].readings[0].energy_mj
    dice = Random(20261115)
    for number in range(30):
        folder = tmp_path / str(number)
        cuts = sorted(dice.sample(range(1, len(whole)), 4))
        position = 0
        for start, cut in enumerate([*cuts, len(whole)]):
            killed(whole[position:cut], folder, start, last=cut == len(whole))
            position = cut + dice.randint(0, 3) if cut < len(whole) - 4 else cut
        found = batches(folder)
        assert sum(joules(found).values()) == truth
        spans = sorted((board["from_mj"], board["to_mj"]) for batch in found for board in batch["boards"])
        assert all(first[1] == then[0] for first, then in pairwise(spans)), "no gap, no overlap"


def killed(found: list[Look], folder: Path, start: int, *, last: bool) -> None:
    """A run that ends without its last batch, unless it is the last run."""
    spool = Spool(folder, "n1")
    with spool.held():
        meter = resumed(HERE, f"{1793491200000 + start}", spool.last())
        for look in found:
            meter.take(look)
            due = meter.found or look.clock.wall_ms % 10_000 == 0
            if due and (batch := meter.cut()):
                spool.append(batch)
        if last and (batch := meter.cut()):
            spool.append(batch)


def test_a_line_that_a_kill_cut_off_is_not_gone_on_from(tmp_path: Path) -> None:
    whole = looks(PLAN)
    measure(whole[:100], tmp_path)
    (file,) = tmp_path.glob("*.jsonl")
    text = file.read_text()
    for cut in (1, 50, len(text.splitlines()[-1]) // 2, len(text.splitlines()[-1])):
        file.write_text(text[:-cut])
        last = Spool(tmp_path, "n1").last()
        assert last is not None
        assert last["seq"] == (1 if cut > 1 else 2)
    measure(whole[100:], tmp_path, "1793491300000")
    assert sum(joules(batches(tmp_path)).values()) == whole[-1].readings[0].energy_mj - whole[0].readings[0].energy_mj


def test_a_long_hole_belongs_to_nobody_and_a_short_one_to_who_is_busy_now(tmp_path: Path) -> None:
    whole = looks([Tick(500_000, {11: 900}, (11,))] * 200)
    measure(whole[:21], tmp_path / "short")
    found = measure(whole[60:71], tmp_path / "short", "1793491300000")
    assert joules(found) == {JOB_ID: 70 * 500_000}
    assert [board["holes_ms"] for batch in found for board in batch["boards"]] == [0, 0, 40_000, 0]
    measure(whole[:21], tmp_path / "long")
    found = measure(whole[120:131], tmp_path / "long", "1793491300000")
    assert joules(found) == {JOB_ID: 30 * 500_000, LOST_ID: 100 * 500_000}


def test_nobody_gets_anything_from_before_it_began(tmp_path: Path) -> None:
    whole = looks(
        [Tick(500_000, {11: 900}, (11,))] * 60, start_ms=START_MS - 80_000
    )  # the job begins 60 s before START_MS
    measure(whole[:1], tmp_path)
    shares = [
        share for batch in measure(whole[50:], tmp_path, "1793491300000") for share in batch["boards"][0]["shares"]
    ]
    assert min(share["from_ms"] for share in shares) == START_MS - 60_000


def test_a_counter_that_begins_anew_is_counted_from_nothing(tmp_path: Path) -> None:
    before, after = looks([Tick(500_000, {11: 900}, (11,))] * 10), looks([Tick(500_000, {11: 900}, (11,))] * 30)[12:]
    after = [counted(look, 700_000 + number * 500_000) for number, look in enumerate(after)]
    found = measure([*before, *after], tmp_path)
    assert joules(found) == {JOB_ID: 10 * 500_000 + 700_000 + (len(after) - 1) * 500_000}
    assert [(board["resets"], board["from_mj"]) for batch in found for board in batch["boards"]] == [
        (0, 5_000_123),
        (0, 5_000_123),
        (1, 0),
    ]


def test_a_reboot_is_no_loss_even_where_the_counter_is_higher_by_then(tmp_path: Path) -> None:
    measure(looks([Tick(500_000, {11: 900}, (11,))] * 10, counter=1_000), tmp_path)
    later = looks([Tick(500_000, {11: 900}, (11,))] * 10, counter=90_000_000)
    found = measure([moved(look, wall_ms=400_000, boot="another") for look in later], tmp_path, "1793491300000")
    assert joules(found) == {JOB_ID: 20 * 500_000, LOST_ID: 90_000_000}


def test_a_clock_that_jumps_changes_no_joule(tmp_path: Path) -> None:
    whole = looks(PLAN)
    straight = joules(measure(whole, tmp_path / "straight"))
    for number, jump in enumerate((3_600_000, -3_600_000, -30_000)):
        moved_on = [moved(look, wall_ms=jump) for look in whole[70:]]
        found = measure([*whole[:70], *moved_on], tmp_path / str(number))
        assert joules(found) == straight
        assert all(batch["to"]["boot_ms"] - batch["from"]["boot_ms"] <= 120_000 for batch in found)


def test_a_trace_is_written_once_however_often_it_is_played(tmp_path: Path) -> None:
    whole = looks(PLAN)
    measure(whole, tmp_path)
    spool = Spool(tmp_path, "n1")
    last = resumed(HERE, "", spool.last()).latest
    assert run(Player(iter(whole), last), resumed(HERE, "1793491999999", spool.last()), spool).batches == 0
