"""Jobs by SLUID, and jobs that only an environment names: Slurm's own commands decide, by recorded answers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from apportion.sources.agent.looks import Clock, Seen
from apportion.sources.agent.owners import Place, owner_of
from apportion.sources.agent.slurm_jobs import PATIENCE_MS, SlurmJobs, ask_slurm
from tests.agent.worlds import LOGIN, POD, SLURM

RECORDED = Path(__file__).parents[2] / ".." / "shared" / "data" / "slurm" / "26.05.5" / "t0-running" / "sacct.json"
NOW = Clock(1_793_491_200_000, 600_000, "boot")
SLUID = "s5RHM7EXFPX900"
IN_JOB = f"0::/system.slice/slurmstepd.scope/{SLUID}/step_0/user/task_0\n"
ALICE = Seen(11, 100, 1_793_491_140, 1001, "alice", IN_JOB, job="99", cluster="forged")
HERE = Place("n1")
CONFIG = "Configuration data as of 2026-11-15T06:16:00\nClusterName             = lab\n"


@dataclass
class Commands:
    """Answers of Slurm's commands by the words that ask, and how often each was asked."""

    answers: dict[tuple[str, ...], str]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, words: Sequence[str]) -> str:
        self.asked.append(tuple(words))
        found = [answer for begin, answer in self.answers.items() if tuple(words[: len(begin)]) == begin]
        return found[0] if found else ""


def job_text(job: str, name: str = "train") -> str:
    return f"JobId={job} JobName={name}\n   UserId=alice(1001) GroupId=users(100) MCS_label=N/A\n   JobState=RUNNING Reason=None\n"


def test_the_controller_says_which_job_a_sluid_is() -> None:
    commands = Commands({("scontrol", "show", "job", SLUID): job_text("17"), ("scontrol", "show", "config"): CONFIG})
    slurm = SlurmJobs(commands)
    found = owner_of(slurm.describe(ALICE, NOW), HERE)
    assert found.workload == "slurm/lab/17", "neither the job nor the cluster of the environment"
    assert dict(found.labels)["agent.by"] == "cgroup"
    slurm.describe(replace(ALICE, pid=12), NOW)
    assert len(commands.asked) == 2, "asked once for each SLUID"


def test_a_jobs_name_that_looks_like_another_job_is_only_a_name() -> None:
    commands = Commands({("scontrol", "show", "job"): job_text("17", "x\nJobId=1 JobName=y")})
    assert SlurmJobs(commands).describe(ALICE, NOW).sluid_job == "17"
    assert not SlurmJobs(Commands({("scontrol",): " JobId=1 JobName=y\n"})).describe(ALICE, NOW).sluid_job


def test_the_accounting_says_it_where_the_controller_forgot_the_job() -> None:
    """The rows that 26.05.5's sacct knows, as `-P -o JobIDRaw,SLUID` prints them."""
    if not RECORDED.exists():
        pytest.skip("no ../shared/data/slurm beside this checkout")
    jobs = json.loads(RECORDED.read_text(encoding="utf-8"))["jobs"]
    rows = [(str(job["job_id"]), job["sluid"]) for job in jobs]
    assert len({sluid for _, sluid in rows}) == len(rows), "one for each attempt"
    for job, sluid in rows:
        commands = Commands({("sacct",): f"{job}|{sluid}\n"})
        seen = replace(ALICE, cgroup=IN_JOB.replace(SLUID, sluid))
        assert owner_of(SlurmJobs(commands).describe(seen, NOW), Place("n1", "lab")).workload == f"slurm/lab/{job}"
    other = Commands({("sacct",): f"{rows[0][0]}|{rows[0][1]}\n"})
    assert SlurmJobs(other).job_of("sEKNKTV3WPV500") == "", "a row of another SLUID is no answer"


def test_where_slurm_does_not_answer_the_environment_is_not_believed() -> None:
    commands = Commands({})
    slurm = SlurmJobs(commands)
    found = owner_of(slurm.describe(ALICE, NOW), Place("n1", "lab"))
    assert found.workload == f"slurm/lab/{SLUID}"
    assert dict(found.labels) == {
        "agent.by": "cgroup", "node": "n1", "slurm.cluster": "lab", "slurm.sluid": SLUID, "slurm.user": "alice",
    }  # fmt: skip
    asked = len(commands.asked)
    slurm.describe(ALICE, replace(NOW, boot_ms=NOW.boot_ms + PATIENCE_MS - 1))
    assert len(commands.asked) == asked, "not again within a minute"
    commands.answers[("scontrol", "show", "job", SLUID)] = job_text("17")
    later = slurm.describe(ALICE, replace(NOW, boot_ms=NOW.boot_ms + PATIENCE_MS))
    assert owner_of(later, Place("n1", "lab")).workload == "slurm/lab/17", "it answers again"


@pytest.mark.parametrize(
    ("answer", "workload"),
    [
        ("99|1001\n", "slurm/lab/99"),
        ("99|1002\n", "host/n1/alice"),
        ("98|1001\n", "host/n1/alice"),
        ("", "host/n1/alice"),
        ("99|1001|x\n", "host/n1/alice"),
    ],
)
def test_a_job_that_only_the_environment_names_must_be_the_users(answer: str, workload: str) -> None:
    commands = Commands({("squeue", "-h", "-j", "99"): answer, ("scontrol", "show", "config"): CONFIG})
    assert owner_of(SlurmJobs(commands).describe(replace(ALICE, cgroup=LOGIN), NOW), HERE).workload == workload


@pytest.mark.parametrize(("cgroup", "questions"), [(SLURM, 1), (POD, 0)])
def test_who_is_known_by_the_cgroup_needs_no_further_question(cgroup: str, questions: int) -> None:
    commands = Commands({("scontrol", "show", "config"): CONFIG})
    SlurmJobs(commands).describe(replace(ALICE, cgroup=cgroup), NOW)
    assert len(commands.asked) == questions


def test_a_command_that_is_not_there_says_nothing() -> None:
    assert ask_slurm(["no-such-command-of-slurm"]) == ""
    assert ask_slurm(["false"]) == ""
    assert ask_slurm(["echo", "JobId=1"]) == "JobId=1\n"
