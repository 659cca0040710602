"""What Slurm itself says of a job: which one a SLUID is, and whether a user runs the one that a process claims to be of.

Since 26.05 Slurm names the cgroups of jobs by SLUID (`slurmstepd.scope/s5RHM7EXFPX900`) unless cgroup.conf says `CgroupJobIdPaths=yes`. A process'
environment names a job too, but is the process' own to write, so nothing is believed of it that Slurm does not confirm. Only fields that users cannot
write are read: a job's name may hold anything, also what looks like another field.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from apportion.errors import InputError
from apportion.sources.agent.looks import Clock, Seen
from apportion.sources.agent.owners import JOB, group_of
from apportion.sources.outside.command import Shell

FIRST = re.compile(r"JobId=(\d{1,18})(?=\s)", re.ASCII)  # what `scontrol show job` prints first
CLUSTER = re.compile(r"^ClusterName\s*=\s*(\S+)\s*$", re.MULTILINE)
TIMEOUT_S = 5
LARGEST = 2**20
PATIENCE_MS = 60_000  # until a question without an answer is asked again

Ask = Callable[[Sequence[str]], str]  # what a command prints; empty where it fails


def ask_slurm(words: Sequence[str]) -> str:
    try:
        return Shell("agent", timeout_s=TIMEOUT_S, largest=LARGEST).run(words).decode("utf-8", "replace")
    except InputError:
        return ""


@dataclass(slots=True)
class SlurmJobs:
    """Answers are kept: a SLUID is never given twice, and a job keeps its user. What had no answer is asked again after a minute."""

    ask: Ask = ask_slurm
    answers: dict[tuple[str, ...], str] = field(default_factory=dict)
    asked_ms: dict[tuple[str, ...], int] = field(default_factory=dict)

    def describe(self, seen: Seen, clock: Clock) -> Seen:
        """The process with what Slurm says of its SLUID, or else of the job in its environment."""
        group = group_of(seen.cgroup)
        if group.sluid:
            job = self.known(("sluid", group.sluid), clock, lambda: self.job_of(group.sluid))
            return replace(seen, sluid_job=job, cluster=self.cluster(clock) or seen.cluster)
        if group.job:
            return replace(seen, cluster=self.cluster(clock) or seen.cluster)
        if group.pod or group.container or not JOB.fullmatch(seen.job):
            return seen
        user = self.known(("user", seen.job), clock, lambda: self.user_of(seen.job))
        return replace(seen, confirmed=user == str(seen.uid), cluster=self.cluster(clock) or seen.cluster)

    def known(self, question: tuple[str, ...], clock: Clock, answer: Callable[[], str]) -> str:
        if self.answers.get(question):
            return self.answers[question]
        last_ms = self.asked_ms.get(question)
        if last_ms is None or clock.boot_ms - last_ms >= PATIENCE_MS:
            self.asked_ms[question] = clock.boot_ms
            self.answers[question] = answer()
        return self.answers.get(question, "")

    def job_of(self, sluid: str) -> str:
        """Of the controller, which knows what runs, else of the accounting."""
        found = FIRST.match(self.ask(["scontrol", "show", "job", sluid]))
        if found:
            return found[1]
        rows = self.ask(["sacct", "-X", "-D", "-n", "-P", "-j", sluid, "-o", "JobIDRaw,SLUID"]).split("\n")
        jobs = [job for job, _, name in (row.partition("|") for row in rows) if name == sluid and JOB.fullmatch(job)]
        return jobs[-1] if jobs else ""

    def user_of(self, job: str) -> str:
        """The user id of a job that is there now; empty where there is none or Slurm does not answer."""
        rows = (row.split("|") for row in self.ask(["squeue", "-h", "-j", job, "-o", "%A|%U"]).split("\n"))
        return next((row[1] for row in rows if len(row) == 2 and row[0] == job and row[1].isdecimal()), "")

    def cluster(self, clock: Clock) -> str:
        return self.known(("cluster",), clock, self.cluster_name)

    def cluster_name(self) -> str:
        found = CLUSTER.search(self.ask(["scontrol", "show", "config"]))
        return found[1] if found else ""
