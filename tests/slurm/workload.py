"""Short jobs of every kind, with what is true of each: how its attempts end, what it holds and how long it sleeps. Written down before anything is read."""

import time
from dataclasses import dataclass, field

from tests.slurm.cluster import Cluster, wait_for

HOSTILE = "we|rd \x1f9\x1f9\n7|7|lab|root"
FORGED = '{"run": "r|7"}\n99\x1f99\x1flab\x1froot'


@dataclass(frozen=True)
class Expected:
    """`outcomes` by attempt; `seconds` are slept at least by the last attempt, or None where somebody else ends it."""

    job: str
    account: str
    outcomes: tuple[str, ...]
    gpus: float
    cores: int
    seconds: int | None = None


@dataclass
class Workload:
    cluster: Cluster
    expected: dict[str, Expected] = field(default_factory=dict)

    def add(self, label: str, what: tuple[str, tuple[str, ...], float, int, int | None], *words: str) -> str:
        account, outcomes, gpus, cores, seconds = what
        job = self.cluster.submit("-A", account, "-J", label, "-t", "10", *words)
        self.expected[label] = Expected(job, account, outcomes, gpus, cores, seconds)
        return job

    def run(self) -> None:
        self.people()
        one = ("completed",)
        self.add("plain", ("vision", one, 1, 2, 4), "--gres=gpu:a100:1", "-c2", "--wckey=gpt", "--wrap", "sleep 4")
        self.add(
            "two nodes",
            ("vision", one, 4, 4, 4),
            "-N2",
            "--ntasks-per-node=1",
            "--gres=gpu:2",
            "-c2",
            "--wrap",
            "sleep 4",
        )
        self.add("array", ("speech", one * 3, 0, 1, 2), "-pcpu", "--array=0-2", "-c1", "--wrap", "sleep 2")
        self.add("exclusive", ("vision", one, 4, 32, 3), "-ph100", "--exclusive", "--gpus=1", "--wrap", "sleep 3")
        self.add("fails", ("speech", ("failed",), 0, 1, 1), "-pcpu", "-c1", "--wrap", "sleep 1; exit 1")
        again = 'sleep 2; [ "${SLURM_RESTART_COUNT:-0}" = 0 ] && exit 77; sleep 1'
        requeued = self.add("requeued", ("vision", ("requeued", "completed"), 0, 1, 1), "-pcpu", "-c1", "--wrap", again)
        suspended = self.add("suspended", ("speech", one, 0, 1, 6), "-pcpu", "-c1", "--wrap", "sleep 6")
        het = ("-pcpu", "-c1", "--wckey=gpt", ":", "-pa100", "-c1", "--gres=gpu:1")
        self.add("het", ("speech", one * 2, 1, 2, 3), *het, "--wrap", "sleep 3")
        self.add("parts", ("vision", one, 0.5, 1, 3), "--gres=shard:2", "-c1", "-Lmatlab:3", "--wrap", "sleep 3")
        cancelled = self.add(
            "cancelled", ("speech", ("cancelled",), 1, 1, None), "--gres=gpu:1", "-c1", "--wrap", "sleep 600"
        )
        self.add("long", ("vision", ("running",), 1, 2, None), "--gres=gpu:1", "-c2", "-wa100-1", "--wrap", "sleep 600")
        hostile = self.cluster.submit(
            "-A", "speech", "-J", HOSTILE, f"--comment={FORGED}", "-pcpu", "-c1", "-t5", "--wrap", "sleep 1"
        )
        self.expected["hostile"] = Expected(hostile, "speech", one, 0, 1, 1)
        self.cluster.wait_state(suspended, "RUNNING")
        self.cluster.ask("scontrol", "suspend", suspended)
        self.cluster.wait_state(cancelled, "RUNNING")
        self.reserve()
        time.sleep(2)
        self.cluster.ask("scontrol", "resume", suspended)
        self.cluster.ask("scancel", cancelled)
        self.preempt()
        self.lose_node()
        self.cluster.ask(
            "scontrol", "update", f"jobid={requeued}", "starttime=now"
        )  # it would wait for its old credential to expire
        self.wait()

    def people(self) -> None:
        ask = self.cluster.ask
        manage = ("sacctmgr", "-i", "-Q")
        ask(*manage, "add", "qos", "scavenger", "high")
        ask(*manage, "modify", "qos", "scavenger", "set", "PreemptMode=cancel")
        ask(*manage, "modify", "qos", "high", "set", "Priority=1000", "Preempt=scavenger")
        for account in ("vision", "speech"):
            ask(*manage, "add", "account", account)
            ask(*manage, "add", "user", "root", f"account={account}", check=False)
            ask(*manage, "modify", "account", account, "set", "QOS=normal,scavenger,high", "DefaultQOS=normal")
        ask(*manage, "add", "user", "root", "wckey=gpt", check=False)

    def reserve(self) -> None:
        """For speech: a node for whoever comes, and one that is maintained."""
        common = ("scontrol", "create", "reservation", "starttime=now", "duration=10", "flags=ignore_jobs")
        self.cluster.ask(*common, "reservationname=demo", "nodes=a100-2", "accounts=speech")
        what = ("speech", ("completed",), 2.0, 1, 2)
        self.add("reserved", what, "--reservation=demo", "--gres=gpu:2", "-c1", "--wrap", "sleep 2")

    def preempt(self) -> None:
        cheap = self.add(
            "preempted",
            ("speech", ("preempted",), 4, 1, None),
            "-ph100",
            "--gres=gpu:4",
            "--qos=scavenger",
            "-c1",
            "--wrap",
            "sleep 600",
        )
        self.cluster.wait_state(cheap, "RUNNING")
        time.sleep(1)
        self.add(
            "urgent",
            ("vision", ("completed",), 4, 1, 1),
            "-ph100",
            "--gres=gpu:4",
            "--qos=high",
            "-c1",
            "--wrap",
            "sleep 1",
        )

    def lose_node(self) -> None:
        lost = self.add(
            "lost",
            ("vision", ("node_fail",), 2, 1, None),
            "-ph100",
            "--gres=gpu:2",
            "--no-requeue",
            "-c1",
            "--wrap",
            "sleep 600",
        )
        self.cluster.wait_state(lost, "RUNNING")
        time.sleep(1)
        self.cluster.ask("scontrol", "update", "nodename=h100-1", "state=down", "reason=bus|error XID 79")
        self.cluster.wait_state(lost, "NODE_FAIL")
        time.sleep(2)
        self.cluster.ask("scontrol", "update", "nodename=h100-1", "state=resume")

    def wait(self) -> None:
        """Until only the long job is left."""
        wait_for("all jobs but one to end", lambda: self.cluster.ask("squeue", "-h", "-o", "%j").split() == ["long"])
        self.cluster.ask("scontrol", "delete", "reservationname=demo")
