"""Rows that contradict themselves or each other: what is not taken, or taken on a guess, is told with what it held."""

from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from tests.slurm.making import DAY, START, by_account, codes, delivery, held, rows, sacct

HOUR = 3600
HOURS = 2 * GPU * HOUR  # the two GPUs of making.JOB in its hour
END = START + 60 + HOUR
MEBI = 2**20


def told(found: Delivery, code: str) -> dict[str, int]:
    """Unit-seconds by meter of the problems of a code."""
    return {one.meter: int(one.quantity) for one in found.problems if one.code == code and one.meter}


def hours(found: Delivery) -> dict[str, float]:
    return {name: total / GPU / HOUR for name, total in by_account(found, "gpu", DAY).items()}


@pytest.mark.parametrize(
    ("tres", "lost", "kept"),
    [
        ("cpu=8,gres/gpu=2,mem=200E,node=1", "memory", {"cpu": 8000, "gpu": 2 * GPU}),
        ("cpu=8,gres/gpu=2,mem=9000P,node=1", "memory", {"cpu": 8000, "gpu": 2 * GPU}),
        ("cpu=99999999999999999999,gres/gpu=2,mem=1M,node=1", "cpu", {"memory": MEBI, "gpu": 2 * GPU}),
        ("cpu=8,gres/gpu=99999999999999999999,mem=1M", "gpu", {"cpu": 8000, "memory": MEBI}),
    ],
)
def test_more_than_there_can_be_is_left_out_and_the_rest_is_taken(
    tmp_path: Path, tres: str, lost: str, kept: dict[str, int]
) -> None:
    """2^62 base units are the most that a row can say: 4 EiB of memory, 4.6 * 10^15 cores."""
    found = delivery(tmp_path, sacct({"JobIDRaw": "1", "JobID": "1", "AllocTRES": tres}, {}))
    (problem,) = found.problems
    assert (problem.code, problem.where) == ("invalid-number", "slurm, job 1")
    assert f"its {lost} is left out" in problem.message
    amounts = {row["meter"]: row["allocated"] for row in rows(found, workload=f"slurm/lab/1@{START}")}
    assert {meter: amount for meter, amount in amounts.items() if meter != "node"} == kept
    assert len(rows(found, workload=f"slurm/lab/17@{START}")) == 4, "the other job is whole"


@pytest.mark.parametrize("cores", ["9" * 30, "9" * 5000, "8x", "-8"])
def test_a_number_of_cores_that_is_none_is_told(tmp_path: Path, cores: str) -> None:
    found = delivery(tmp_path, sacct({"AllocTRES": "", "AllocCPUS": cores}))
    assert held(found, "cpu") == {}
    assert [problem.where for problem in found.problems] == ["slurm, job 17"]


@pytest.mark.parametrize("name", ["Start", "End"])
@pytest.mark.parametrize("second", [END // 10, END * 10, 10**11, 10**17, 10**30, 0])
@pytest.mark.parametrize("window", [DAY, None])
def test_a_time_with_a_digit_more_or_less(tmp_path: Path, name: str, second: int, window: Any) -> None:
    """It is before 2001 or after 2286. Without its start a job is left out; without its end it ends when ElapsedRaw says, 3600 s after its start."""
    found = delivery(tmp_path, sacct({}, {"JobIDRaw": "1", "JobID": "1", name: second}), window)
    assert set(codes(found)) == {"invalid-time"}
    assert {problem.where.rpartition(" ")[2] for problem in found.problems} == {"1"}
    ends = {row["workload"].partition("@")[0]: row["end_s"] for row in rows(found, meter="gpu")}
    assert ends == {"slurm/lab/17": END} | ({"slurm/lab/1": END} if name == "End" else {})


def test_a_time_of_submission_that_is_none_changes_no_amount(tmp_path: Path) -> None:
    found = delivery(tmp_path, sacct({"Submit": START * 10}))
    assert codes(found) == ["invalid-time"]
    assert [row["workload"] for row in rows(found, meter="gpu")] == [f"slurm/lab/17@{START + 60}"]


@pytest.mark.parametrize("elapsed", ["9" * 12, "9" * 40, "99999-00:00:00", ""])
def test_a_job_that_ends_by_its_elapsed_time_ends_in_this_age(tmp_path: Path, elapsed: str) -> None:
    found = delivery(tmp_path, sacct({}, {"JobIDRaw": "1", "JobID": "1", "End": "Unknown", "ElapsedRaw": elapsed}))
    assert held(found, "gpu") == {"n1": 2 * GPU}
    assert codes(found) == ["missing-end"]


TASKS: tuple[dict[str, Any], ...] = (
    {"JobIDRaw": "5", "JobID": "5_1", "User": "u", "Account": "a", "AllocTRES": "gres/gpu=1", "End": START + 60 + 2 * HOUR, "ElapsedRaw": 2 * HOUR},
    {"JobIDRaw": "5", "JobID": "5_2", "User": "u", "Account": "b", "AllocTRES": "gres/gpu=1", "NodeList": "n2"},
    {"JobIDRaw": "9", "JobID": "9", "User": "u", "Account": "c", "AllocTRES": "gres/gpu=1"},
)  # fmt: skip


@pytest.mark.parametrize("apart_s", [0, 30])
def test_tasks_with_one_raw_id_are_two_tasks(tmp_path: Path, apart_s: int) -> None:
    """Of one GPU a has 2 h, b and c 1 h each: of 600 that is 300, 150 and 150."""
    one, two, three = TASKS
    two = two | {"Start": START + 60 + apart_s, "End": END + apart_s}
    for order in ((one, two, three), (three, two, one)):
        found = delivery(tmp_path, sacct(*order))
        assert hours(found) == {"a": 2, "b": 1, "c": 1}
        assert {row["workload"] for row in rows(found, "workloads")} == {
            f"slurm/lab/5_1@{START}", f"slurm/lab/5_2@{START}", f"slurm/lab/9@{START}",
        }  # fmt: skip
        assert codes(found) == []


def test_what_is_told_again_later_counts_once(tmp_path: Path) -> None:
    """A running task, the same when it was over, and that file a second time."""
    one, two, three = TASKS
    early = one | {"State": "RUNNING", "End": "Unknown", "ElapsedRaw": 600}
    last = sacct(one, two, three)
    found = delivery(tmp_path, {"a.txt": sacct(early, two), "b.txt": last, "c.txt": last})
    assert hours(found) == {"a": 2, "b": 1, "c": 1}
    assert codes(found) == []


def test_a_file_without_jobids_cannot_say_which_task_it_means(tmp_path: Path) -> None:
    """Its row of two hours may be any of the two tasks: it is held back, and told."""
    one, two, _ = TASKS
    raw = sacct(one).replace("JobIDRaw|JobID|", "JobIDRaw|").replace("\n5|5_1|", "\n5|")
    found = delivery(tmp_path, {"a.txt": sacct(one, two), "b.txt": raw})
    assert hours(found) == {"a": 2, "b": 1}
    assert set(codes(found)) == {"conflicting-rows"}
    assert told(found, "conflicting-rows") == {"gpu": 2 * GPU * HOUR, "node": 2 * HOUR}


@pytest.mark.parametrize(
    "other",
    [{"Account": "nlp"}, {"User": "bo"}, {"NodeList": "n2", "Start": START + 90, "End": END + 30}, {"NodeList": "n2"}],
)
def test_rows_that_contradict_each_other_are_held_back(tmp_path: Path, other: dict[str, Any]) -> None:
    """Each of the two held two GPUs for an hour. The other job stays as it is."""
    good = {"JobIDRaw": "1", "JobID": "1", "Account": "good"}
    plain: dict[str, Any] = {}
    for first, second in ((plain, other), (other, plain)):
        found = delivery(tmp_path, sacct(first, second, good))
        assert hours(found) == {"good": 2}
        assert [problem.row for problem in found.problems if problem.meter == "gpu"] == ["+0", "+0"]
        assert set(codes(found)) == {"conflicting-rows"}
        assert sum(int(one.quantity) for one in found.problems if one.meter == "gpu") == 2 * HOURS
        assert len([one for one in found.problems if not one.row]) == 2, "two rows, whatever they held"
        assert [one.key for one in found.withheld] == [f"slurm/lab/17@{START}"] * 2
        assert len({one.content for one in found.withheld}) == 2


def test_an_empty_cell_contradicts_nobody(tmp_path: Path) -> None:
    found = delivery(tmp_path, {"a.txt": sacct({"User": "", "Account": ""}), "b.txt": sacct({"End": END})})
    assert codes(found) == []
    assert sum(held(found, "gpu").values()) == 2 * GPU


def test_a_job_that_was_requeued_in_the_second_of_its_submission_has_two_attempts(tmp_path: Path) -> None:
    first = {"Start": START, "End": START + 5, "ElapsedRaw": 5, "State": "REQUEUED"}
    found = delivery(tmp_path, sacct(first, {"NodeList": "n2"}))
    assert held(found, "gpu") == {"n1": 2 * GPU, "n2": 2 * GPU}
    assert codes(found) == []


@pytest.mark.parametrize(
    ("change", "hours_"),
    [({"ElapsedRaw": 1800}, 0.5), ({"ElapsedRaw": 2 * HOUR}, 1), ({"ElapsedRaw": 3599}, 0), ({"Suspended": "00:10:00"}, 1 / 6),
     ({"Suspended": "00:10:00", "ElapsedRaw": 3000}, 0), ({"ElapsedRaw": 10**9}, 24)],
)  # fmt: skip
def test_times_that_differ_from_elapsed_are_told_with_their_difference(
    tmp_path: Path, change: dict[str, Any], hours_: float
) -> None:
    """Start and End count, an hour of two GPUs. The difference is at most the window, a day."""
    found = delivery(tmp_path, sacct(change, {"JobIDRaw": "1", "JobID": "1"}))
    assert {row["end_s"] for row in rows(found, meter="gpu")} == {END}
    assert told(found, "elapsed-differs").get("gpu", 0) == round(hours_ * HOURS)
    assert {one.where for one in found.problems if one.code == "elapsed-differs"} <= {"slurm, job 17"}


def test_a_job_that_starts_before_its_submission_is_told(tmp_path: Path) -> None:
    """It was submitted 30 minutes after its start: half of its hour is in doubt."""
    found = delivery(tmp_path, sacct({"Submit": START + 60 + 1800}))
    assert set(codes(found)) == {"start-before-submit"}
    assert told(found, "start-before-submit")["gpu"] == HOURS // 2
    later = {"Start": START + 60 + 1800}
    resized = sacct({"State": "RESIZING", "End": START + 600, "ElapsedRaw": 540}, {"Submit": START + 600}, later)
    assert "start-before-submit" not in codes(delivery(tmp_path, resized)), "as Slurm until 22.05 says it"


@pytest.mark.parametrize("nodes", ["None assigned", "", "(null)"])
def test_a_job_that_ran_on_no_node_is_told_with_its_hours(tmp_path: Path, nodes: str) -> None:
    lost = {"JobIDRaw": "1", "JobID": "1", "NodeList": nodes}
    never = {"JobIDRaw": "2", "JobID": "2", "NodeList": nodes, "End": START + 60, "ElapsedRaw": 0}
    waited = {"JobIDRaw": "3", "JobID": "3", "NodeList": nodes, "AllocTRES": "", "State": "CANCELLED"}
    found = delivery(tmp_path, sacct({}, lost, never, waited))
    assert held(found, "gpu") == {"n1": 2 * GPU}
    assert {problem.where for problem in found.problems} == {"slurm, job 1"}
    assert told(found, "missing-resource") == {
        "gpu": HOURS, "cpu": 8000 * HOUR, "memory": 2**32 * HOUR, "node": HOUR,
    }  # fmt: skip
    assert len(rows(found, "workloads")) == 1


def test_a_job_of_which_nobody_says_what_it_held_is_told(tmp_path: Path) -> None:
    """Its node counts; what it had of it, nobody knows. A job that ended at once held nothing."""
    unsaid = {"JobIDRaw": "1", "JobID": "1", "AllocTRES": "", "AllocCPUS": "0"}
    at_once = unsaid | {"JobIDRaw": "2", "JobID": "2", "End": START + 60, "ElapsedRaw": 0}
    found = delivery(tmp_path, sacct({}, unsaid, at_once))
    assert [(problem.code, problem.where) for problem in found.problems] == [("missing-amount", "slurm, job 1")]
    assert [row["meter"] for row in rows(found, workload=f"slurm/lab/1@{START}")] == ["node"]


def test_more_than_a_thousand_jobs_are_listed_in_sum(tmp_path: Path) -> None:
    lost = [{"JobIDRaw": job, "JobID": job, "NodeList": "", "AllocTRES": "gres/gpu=1"} for job in range(1, 1201)]
    found = delivery(tmp_path, sacct({}, *lost))
    problems = [one for one in found.problems if one.code == "missing-resource"]
    assert sum(int(one.quantity) for one in problems) == 1200 * GPU * HOUR
    assert (len(problems), problems[-1].row) == (1001, "+200")


def test_accounting_of_several_months_tells_each_what_is_its_own(tmp_path: Path) -> None:
    """An hour more than Elapsed says, of a job in September and of two in October."""
    month = 30 * 24 * HOUR
    early = {"JobIDRaw": "16", "JobID": "16", "Submit": START - month, "Start": START - month}
    rows_: list[dict[str, Any]] = [
        {**early, "End": START - month + 2 * HOUR},
        *({"JobIDRaw": job, "JobID": job, "Start": START, "End": START + 2 * HOUR} for job in ("17", "18")),
    ]
    found = delivery(tmp_path, sacct(*rows_), None)
    of_gpu = [one for one in found.problems if one.code == "elapsed-differs" and one.meter == "gpu"]
    assert [(one.at[:7], int(one.quantity)) for one in of_gpu] == [
        ("2026-09", HOURS),
        ("2026-10", HOURS),
        ("2026-10", HOURS),
    ]
    (told_,) = (one for one in delivery(tmp_path, sacct(rows_[1])).problems if one.meter == "gpu")
    assert told_.at == "", "the window says it"
