"""Batches to usage: duplicates, gaps, overlaps, broken lines, clocks and days. The truth is the counter of the schedule."""

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.agent.batches import Found, Part, Span, counted_once
from apportion.sources.agent.looks import Look
from apportion.sources.agent.rows import Hours, add_spans, usage_table
from apportion.sources.agent.source import SOURCE
from apportion.sources.agent.spool import batch_of, line_of
from tests.agent.test_meter import PLAN, measure
from tests.agent.worlds import IDLE_ID, JOB_ID, LOST_ID, POD_ID, START_MS, USER_ID, Tick, looks, moved
from tests.sources.making import codes, read

HOUR_MS = 3_600_000
BUSY = Tick(500_700, {11: 900}, (11,))


def told(deliveries: Iterable[Delivery], meter: str = "energy") -> Counter[str]:
    found: Counter[str] = Counter()
    for delivery in deliveries:
        for row in delivery.tables["usage"].to_pylist():
            if row["meter"] == meter:
                found[row["workload"]] += (
                    row["allocated"] if meter == "energy" else row["used"] * (row["end_s"] - row["start_s"])
                )
    return found


def whole_joules(found: list[Look]) -> int:
    return found[-1].readings[0].energy_mj // 1000 - found[0].readings[0].energy_mj // 1000


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.jsonl")
    return file


def test_rows_say_who_burnt_and_used_what(tmp_path: Path) -> None:
    world = looks(PLAN)
    measure(world, tmp_path / "agent")
    (delivery,) = read("agent", tmp_path, path="agent")
    assert delivery.window == Interval(START_MS // 1000, START_MS // 1000 + 86_400)
    energy = told([delivery])
    assert sum(energy.values()) == whole_joules(world)
    truth = {IDLE_ID: 1570.01, JOB_ID: 60_300.03, POD_ID: 10_500, USER_ID: 6000}
    assert energy == {name: pytest.approx(joules, abs=1) for name, joules in truth.items()}
    used = told([delivery], "gpu")
    assert used[JOB_ID] == pytest.approx(72 * 504_000, rel=1e-4)
    assert used[POD_ID] == pytest.approx(12 * 504_000, rel=1e-4)
    assert set(used) == {JOB_ID, POD_ID, USER_ID}, "nobody uses what is idle"
    people = {row["workload"]: row for row in delivery.tables["workloads"].to_pylist()}
    assert dict(people[JOB_ID]["labels"])["slurm.job"] == "4711"
    assert people[JOB_ID]["start_s"] == START_MS // 1000 - 60, "when its first process began"
    assert people[POD_ID]["end_s"] == START_MS // 1000 + 125


def test_the_same_batches_under_other_names_count_once(tmp_path: Path) -> None:
    measure(looks(PLAN), tmp_path / "agent")
    once = told(read("agent", tmp_path, path="agent"))
    file = only_file(tmp_path / "agent")
    shutil.copy(file, tmp_path / "agent" / "again.jsonl")
    file.write_text(file.read_text() * 2)
    (delivery,) = read("agent", tmp_path, path="agent")
    assert told([delivery]) == once
    assert codes(delivery) == []


def test_a_lost_batch_is_estimated_not_lost(tmp_path: Path) -> None:
    world = looks([BUSY] * 300)
    measure(world, tmp_path / "agent")
    file = only_file(tmp_path / "agent")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2] + lines[3:]))
    (delivery,) = read("agent", tmp_path, path="agent")
    assert told([delivery]) == {JOB_ID: pytest.approx(240 * 500.7, abs=1), LOST_ID: pytest.approx(60 * 500.7, abs=1)}
    assert sum(told([delivery]).values()) == whole_joules(world)
    (problem,) = delivery.problems
    assert problem.code == "estimated"
    assert "30042 J" in problem.message
    assert "2026-11-01T00:01:00Z and 2026-11-01T00:02:00Z" in problem.message


def test_two_agents_over_one_board_count_it_once(tmp_path: Path) -> None:
    world = looks([BUSY] * 200)
    measure(world[:150], tmp_path / "agent" / "one")
    measure(world[33:], tmp_path / "agent" / "two", "1793491233000")
    (delivery,) = read("agent", tmp_path, path="agent")
    assert told([delivery]) == {JOB_ID: whole_joules(world)}
    assert codes(delivery) == ["two-agents"]


@pytest.mark.parametrize("cut", [1, 2, 40, 400])
def test_what_a_kill_cut_off_is_passed_over_in_silence(tmp_path: Path, cut: int) -> None:
    measure(looks(PLAN), tmp_path / "agent")
    file = only_file(tmp_path / "agent")
    text = file.read_text()
    file.write_text(text[:-cut])
    (delivery,) = read("agent", tmp_path, path="agent")
    batches = [batch for line in text.splitlines()[:-1] if (batch := batch_of(line))]
    assert (
        sum(told([delivery]).values())
        == batches[-1]["boards"][0]["to_mj"] // 1000 - batches[0]["boards"][0]["from_mj"] // 1000
    )
    assert codes(delivery) == []


def test_a_changed_line_is_named_and_its_joules_are_estimated(tmp_path: Path) -> None:
    world = looks([BUSY] * 300)
    measure(world, tmp_path / "agent")
    file = only_file(tmp_path / "agent")
    lines = file.read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace('"busy_us":5', '"busy_us":6')
    file.write_text("".join(lines))
    (delivery,) = read("agent", tmp_path, path="agent")
    assert codes(delivery) == ["broken-batch", "estimated"]
    assert delivery.problems[0].where.endswith(".jsonl:3")
    assert sum(told([delivery]).values()) == whole_joules(world)


def test_days_are_deliveries_of_their_own_and_none_loses_a_joule(tmp_path: Path) -> None:
    world = looks([BUSY] * 600, start_ms=START_MS - 300_000)
    measure(world, tmp_path / "agent")
    before, after = read("agent", tmp_path, path="agent")
    assert (before.window.end_s, after.window.start_s) == (START_MS // 1000, START_MS // 1000)
    assert sum(told([before, after]).values()) == whole_joules(world)
    assert (
        read("agent", tmp_path, Interval(after.window.start_s, after.window.end_s), path="agent")[0].tables
        == after.tables
    )
    assert len(read("agent", tmp_path, after.window, path="agent")) == 1


def test_a_long_silence_is_spread_over_its_hours(tmp_path: Path) -> None:
    world = looks([BUSY] * 3, step_ms=HOUR_MS * 20)
    measure(world, tmp_path / "agent")
    deliveries = read("agent", tmp_path, path="agent")
    assert [len(found.tables["usage"]) for found in deliveries] == [24, 24, 12]
    assert sum(told(deliveries).values()) == whole_joules(world)
    assert {code for found in deliveries for code in codes(found)} == {"estimated"}


def test_a_clock_that_was_set_is_named(tmp_path: Path) -> None:
    world = looks(PLAN)
    jumped = [*world[:70], *(moved(look, wall_ms=7_000_000) for look in world[70:])]
    measure(jumped, tmp_path / "agent")
    (delivery,) = read("agent", tmp_path, path="agent")
    assert codes(delivery) == ["clock-jumped"]
    assert "+7000.0 s" in delivery.problems[0].message
    assert sum(told([delivery]).values()) == whole_joules(world)


def test_batches_of_another_version_are_refused(tmp_path: Path) -> None:
    measure(looks(PLAN), tmp_path / "agent")
    file = only_file(tmp_path / "agent")
    batch = batch_of(file.read_text().splitlines()[0])
    assert batch is not None
    del batch["sha256"]
    file.write_text(line_of({**batch, "version": 2}))
    with pytest.raises(InputError, match="version 2"):
        read("agent", tmp_path, path="agent")


def test_the_probe_says_who_is_silent_and_what_is_missing(tmp_path: Path) -> None:
    stanza = {"name": "it", "kind": "agent", "path": "agent"}
    (sign,) = SOURCE.probe(stanza, tmp_path)
    assert sign.status == "wrong"
    measure(looks(PLAN, start_ms=START_MS - 10**10), tmp_path / "agent")
    (sign,) = SOURCE.probe(stanza, tmp_path)
    assert sign.status == "note"
    assert "n1 wrote its last batch" in sign.text
    assert "systemctl" in sign.fix


def test_a_node_that_was_renamed_counts_its_board_once(tmp_path: Path) -> None:
    world = looks([BUSY] * 200)
    measure(world[:150], tmp_path / "agent" / "one")
    measure(world[33:], tmp_path / "agent" / "two", "1793491233000")
    file = only_file(tmp_path / "agent" / "two")
    batches = [batch for line in file.read_text().splitlines() if (batch := batch_of(line))]
    whole = [{key: value for key, value in batch.items() if key != "sha256"} | {"node": "other"} for batch in batches]
    file.write_text("".join(map(line_of, whole)))
    (tmp_path / "agent" / "aside.jsonl").write_text("no batch\n")
    (delivery,) = read("agent", tmp_path, path="agent")
    assert sum(told([delivery]).values()) == whole_joules(world)
    assert codes(delivery) == ["broken-batch", "two-agents"]
    assert len(delivery.files) == 3


@st.composite
def counters(draw: st.DrawFn) -> tuple[list[Span], int, int]:
    """A board's counter, cut into spans with gaps and overlaps, and where it began and ended."""
    cuts = sorted(draw(st.lists(st.integers(0, 10**7), min_size=2, max_size=12, unique=True)))
    spans = []
    for _ in range(draw(st.integers(1, 12))):
        low, high = sorted(draw(st.lists(st.sampled_from(cuts), min_size=2, max_size=2, unique=True)))
        names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
        left, parts = high - low, []
        for name in names[:-1]:
            mine = draw(st.integers(0, left))
            parts.append((name, mine))
            left -= mine
        parts.append((names[-1], left))
        spans.append(
            Span("n1", ("GPU-a", "boot", 0), "H200", low, high, START_MS + low, START_MS + high,
                 tuple(Part(name, mine, 1000, START_MS + low, START_MS + high) for name, mine in parts))
        )  # fmt: skip
    return spans, min(span.from_mj for span in spans), max(span.to_mj for span in spans)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(counters())
def test_whatever_is_missing_or_double_the_joules_are_those_of_the_counter(found: tuple[list[Span], int, int]) -> None:
    spans, first, last = found
    once = counted_once(Found(spans=spans))
    assert sum(part.millijoules for span in once for part in span.parts) == last - first
    hours = Hours()
    add_spans(hours, once)
    table = usage_table(hours, Found(), "agent")
    rows = [row for row in table.to_pylist() if row["meter"] == "energy"]
    assert sum(row["allocated"] for row in rows) == last // 1000 - first // 1000
    keys = [(row["workload"], row["resource"], row["meter"], row["start_s"]) for row in table.to_pylist()]
    assert len(keys) == len(set(keys))
