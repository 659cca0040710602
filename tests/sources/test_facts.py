"""Usage rows of a log are facts: each counts, repeats are told, and with a key they are known."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from tests.sources import making

HOUR = GPU * 3600
SHORT, LONG = {"end": "2026-10-05T02:00:00Z", "gpus": "1"}, {"end": "2026-10-05T03:00:00Z", "gpus": "1"}


def told(delivery: Delivery) -> dict[str, tuple[str, int, str]]:
    return {one.code: (one.row, int(one.quantity), one.meter) for one in delivery.problems}


def hours(delivery: Delivery) -> float:
    rows = delivery.tables["usage"].to_pylist()
    return float(sum((row["end_s"] - row["start_s"]) * row["allocated"] for row in rows) / HOUR)


def test_rows_that_share_all_but_the_end_count_and_the_shorter_is_told(tmp_path: Path) -> None:
    delivery = making.read_log(tmp_path, making.log_text(SHORT, LONG))
    assert delivery.facts
    assert hours(delivery) == 5
    assert told(delivery) == {"possible-repeats": ("+1", 2 * HOUR, "gpu")}


def test_equal_rows_count_and_all_but_one_are_told(tmp_path: Path) -> None:
    delivery = making.read_log(tmp_path, making.log_text(SHORT, SHORT, SHORT))
    assert hours(delivery) == 6
    assert told(delivery) == {"possible-repeats": ("+2", 4 * HOUR, "gpu")}


def test_who_says_that_repeats_count_hears_nothing_of_them(tmp_path: Path) -> None:
    delivery = making.read_log(tmp_path, making.log_text(SHORT, SHORT, LONG), repeats="count")
    assert (hours(delivery), told(delivery)) == (7, {})


@pytest.mark.parametrize("later", [{"busy": "0.5"}, {"busy": ""}, {"account": "b"}])
def test_a_running_job_told_again_is_told_whatever_it_used_and_whatever_its_labels_say(
    tmp_path: Path, later: dict[str, str]
) -> None:
    text = making.log_text({**SHORT, "busy": "0.25"}, {**LONG, **later})
    delivery = making.read_log(tmp_path, text, used_meters={"gpu": "busy"})
    assert hours(delivery) == 5
    assert told(delivery) == {"possible-repeats": ("+1", 2 * HOUR, "gpu")}


def test_what_only_states_what_it_used_is_told_by_that(tmp_path: Path) -> None:
    rows = [{**SHORT, "gpus": "", "busy": busy} for busy in ("1", "2", "2")]
    delivery = making.read_log(tmp_path, making.log_text(*rows), used_meters={"gpu": "busy"})
    assert told(delivery) == {"possible-repeats": ("+1", 2 * 2 * HOUR, "gpu")}


@pytest.mark.parametrize("other", [{"node": "n2"}, {"job": "18"}, {"start": "2026-10-05T01:00:00Z"}, {"gpus": "2"}])
def test_rows_that_differ_elsewhere_are_no_repeats(tmp_path: Path, other: dict[str, str]) -> None:
    assert told(making.read_log(tmp_path, making.log_text(SHORT, {**SHORT, **other}))) == {}


def by_month(delivery: Delivery) -> list[tuple[str, str, str, float]]:
    return [(one.code, one.at[:7], one.row, int(one.quantity) / HOUR) for one in delivery.problems]


def test_a_log_of_several_months_tells_each_what_is_its_own(tmp_path: Path) -> None:
    """Twice 2 h in September, and a job of 4 h over midnight, told once more: 1 h of it lies in September and 3 h in October."""
    over = {"start": "2026-09-30T23:00:00Z", "end": "2026-10-01T03:00:00Z", "gpus": "1", "job": "18"}
    early = {"start": "2026-09-05T00:00:00Z", "end": "2026-09-05T02:00:00Z", "gpus": "1"}
    delivery = making.read_log(tmp_path, making.log_text(early, early, over, over))
    assert by_month(delivery) == [("possible-repeats", "2026-09", "+2", 3), ("possible-repeats", "2026-10", "+1", 3)]
    keyed = [{**early, "task": "1"}, {**early, "task": "1", "node": "n2"}, {**over, "task": "2"}]
    delivery = making.read_log(tmp_path, making.log_text(*keyed), key=["job", "task"])
    assert by_month(delivery) == [("conflicting-rows", "2026-09", "+2", 4)]
    odd = [{**early, "gpus": "0.00001"}, {**over, "gpus": "1"}]
    assert [(code, at) for code, at, *_ in by_month(making.read_log(tmp_path, making.log_text(*odd)))] == [
        ("unusual-quantity", "2026-09")
    ]


def test_repeats_outside_the_window_are_not_its_own(tmp_path: Path) -> None:
    early = {"start": "2026-09-05T00:00:00Z", "end": "2026-09-05T02:00:00Z"}
    delivery = making.read_log(tmp_path, making.log_text(early, early, SHORT), window="2026-10")
    assert making.codes(delivery) == ["outside-window"]


def test_with_a_key_equal_rows_are_one_fact_and_others_are_set_aside(tmp_path: Path) -> None:
    rows = [
        {**SHORT, "task": "1"},
        {**SHORT, "task": "1"},
        {**SHORT, "task": "2"},
        {**SHORT, "task": "3"},
        {**LONG, "task": "3"},
    ]
    delivery = making.read_log(tmp_path, making.log_text(*rows), key=["job", "task"])
    assert hours(delivery) == 4
    assert told(delivery) == {"conflicting-rows": ("+2", 5 * HOUR, "gpu"), "repeated-rows": ("+1", 2 * HOUR, "gpu")}
    assert [json.loads(row.key) for row in delivery.withheld] == [["17", "3", "gpu"]] * 2
    assert sorted(json.loads(row.content)["end_s"] for row in delivery.withheld) == [1_791_165_600, 1_791_169_200]


def test_rows_without_a_key_count_each_and_are_told(tmp_path: Path) -> None:
    """Rows of a job without a task: equal ones are two, as are others; only those with a key are known by it."""
    bare = [{**SHORT, "task": task} for task in ("", " ", "")] + [{**LONG, "task": ""}]
    rows = [*bare, {**SHORT, "task": "1"}, {**SHORT, "task": "1"}, {**SHORT, "task": "nullable"}]
    delivery = making.read_log(tmp_path, making.log_text(*rows), key=["job", "task"])
    assert hours(delivery) == 3 * 2 + 3 + 2 + 2
    assert told(delivery) == {"empty-key": ("+4", 9 * HOUR, "gpu"), "repeated-rows": ("+1", 2 * HOUR, "gpu")}
    (found,) = [one for one in delivery.problems if one.code == "empty-key"]
    assert found.message.startswith("4 rows of gpu: the key's column task is empty")
    assert delivery.withheld == ()


@pytest.mark.parametrize("settings", [{}, {"key": ["job", "task"]}, {"repeats": "count"}])
def test_the_order_of_rows_and_files_does_not_matter(tmp_path: Path, settings: dict[str, Any]) -> None:
    dice = random.Random(3)
    rows = [
        {**dice.choice((SHORT, LONG)), "task": dice.choice("12"), "job": dice.choice("ab"), "account": dice.choice(["x", "y", ""])}
        for _ in range(40)
    ]  # fmt: skip
    found = set()
    for turn in range(4):
        dice.shuffle(rows)
        folder = tmp_path / str(turn)
        for number in range(turn + 1):
            making.put(folder / f"{number}.csv", making.log_text(*rows[number :: turn + 1]))
        (delivery,) = making.read("usage", folder, path="*.csv", **{**making.STANZA, **settings})
        usage = sorted(json.dumps(row, sort_keys=True) for row in delivery.tables["usage"].to_pylist())
        lives = sorted(json.dumps(row, sort_keys=True) for row in delivery.tables["workloads"].to_pylist())
        found.add(json.dumps([usage, lives, told(delivery), [row.content for row in delivery.withheld]]))
    assert len(found) == 1


def test_a_row_without_labels_takes_those_of_the_only_set(tmp_path: Path) -> None:
    later = {"start": "2026-10-05T04:00:00Z", "end": "2026-10-05T06:00:00Z", "account": ""}
    delivery = making.read_log(tmp_path, making.log_text(SHORT, later))
    (life,) = delivery.tables["workloads"].to_pylist()
    assert (life["labels"], life["end_s"]) == ([("slurm.account", "vision")], 1_791_180_000)
    sets = [row["label_set"] for row in delivery.tables["usage"].to_pylist()]
    assert sets == [life["label_set"], None]


def test_an_empty_allocation_is_not_stated(tmp_path: Path) -> None:
    rows = [{"gpus": "", "busy": "2"}, {"gpus": "", "busy": ""}, {"gpus": "x", "busy": "2"}, {"gpus": "0", "busy": "1"}]
    delivery = making.read_log(tmp_path, making.log_text(*rows), used_meters={"gpu": "busy"}, repeats="count")
    taken = [(row["allocated"], row["used"]) for row in delivery.tables["usage"].to_pylist()]
    assert taken == [(None, 2 * GPU), (0, GPU)]
    assert making.codes(delivery) == ["invalid-number", "missing-amount"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"repeats": "drop"}, "repeats cannot be 'drop'"),
        ({"key": "job"}, "key must be a list"),
        ({"key": ["job"], "repeats": "count"}, "with a key it is known"),
        (
            {
                "records": "capacity",
                "columns": {"resource": "node", "start": "start", "end": "end"},
                "repeats": "count",
            },
            "repeats is for logs of usage",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ProjectError, match=words):
        making.read_log(tmp_path, making.log_text(SHORT), **settings)
