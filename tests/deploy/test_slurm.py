"""Prolog and epilog: run by a real slurmd, and by hand where everything goes wrong."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.sources.agent.looks import Clock
from apportion.sources.agent.owners import Place, owner_of
from apportion.sources.agent.procfs import Processes
from tests import processes
from tests.deploy.chart import ROOT
from tests.loopback import free_port
from tests.slurm.cluster import Cluster, wait_for, why_not

SLURM = ROOT / "deploy/slurm"
NODE, NOBODY = "cpu-1", 65534
ACCOUNTING = (
    "AccountingStorage",
    "TrackWCKey",
    "PriorityWeightQOS",
    "PreemptType",
    "PreemptMode",
    "AccountingStoreFlags",
)


class OneNode(Cluster):
    """Without accounting, which takes most of the time: munge, a controller and one node with our two scripts."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "APPORTION_JOBS": str(self.folder / "jobs")}

    def slurm_conf(self, munge: Path) -> str:
        kept = [line for line in super().slurm_conf(munge).splitlines() if not line.startswith(ACCOUNTING)]
        for name in ("prolog", "epilog"):  # slurmd hands its environment on to neither
            script = self.folder / f"etc/{name}.sh"
            script.write_text(f"#!/bin/sh\nAPPORTION_JOBS={self.folder}/jobs exec {SLURM}/{name}.sh\n")
            script.chmod(0o755)
        own = f"Prolog={self.folder}/etc/prolog.sh\nEpilog={self.folder}/etc/epilog.sh\nPrologFlags=Alloc\n"
        return "\n".join([*kept, own])

    def up(self) -> None:
        for name in ("etc", "log", "run", "state", "spool", "dev"):
            (self.folder / name).mkdir(parents=True)
        names = ["ctld", "dbd", "sql", "rest", "a100-1", "a100-2", "h100-1", NODE]
        self.ports = {name: free_port() for name in names}
        self.start_munge()
        self.write_settings()
        self.start("slurmctld", "slurmctld", "-D")
        wait_for("slurmctld", lambda: "is UP" in self.ask("scontrol", "ping", check=False))
        self.start(f"slurmd {NODE}", "slurmd", "-D", "-N", NODE)
        wait_for(NODE, lambda: NODE in self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", check=False).split())


@pytest.fixture(scope="module")
def slurm() -> Iterator[Cluster]:
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="prolog-") as parent:
        Path(parent).chmod(0o755)
        cluster = OneNode(Path(parent) / "c")
        try:
            cluster.up()
            yield cluster
        finally:
            cluster.down()


def test_a_job_is_noted_while_it_is_here(slurm: Cluster) -> None:
    """Its process is known by who runs it, as on a node without cgroups."""
    jobs = slurm.folder / "jobs"
    job = slurm.submit("-p", "cpu", "-t", "5", f"--uid={NOBODY}", "-D", "/", "--wrap", "exec sleep 300")
    wait_for("the note", (jobs / job).exists)
    assert (jobs / job).read_text() == f"{NOBODY} lab\n"
    assert (jobs / job).stat().st_mode & 0o777 == 0o644  # whoever the agent is, it may read it
    wait_for("the job", lambda: slurm.ask("squeue", "-h", "-j", job, "-o", "%T").split() == ["RUNNING"])
    sleep = wait_pid(job)
    seen = Processes(notes=jobs).read(sleep, 0, Clock(0, 0, "boot"))
    assert (seen.uid, seen.noted) == (NOBODY, job)
    assert owner_of(seen, Place("n1")).workload == f"slurm/lab/{job}"
    slurm.ask("scancel", job)
    wait_for("the note to go", lambda: not (jobs / job).exists())
    assert slurm.ask("sinfo", "-h", "-n", NODE, "-o", "%t").split()[0] not in ("drain", "down")


def wait_pid(job: str) -> int:
    found: list[int] = []

    def is_there() -> bool:
        for path in Path("/proc").glob("[0-9]*"):
            try:
                is_it = f"SLURM_JOB_ID={job}".encode() in (path / "environ").read_bytes().split(b"\0")
                if is_it and (path / "comm").read_text() == "sleep\n" and path.stat().st_uid == NOBODY:
                    found.append(int(path.name))
            except OSError:
                continue
        return bool(found)

    wait_for("its process", is_there)
    return found[0]


def call(name: str, folder: Path, **given: str) -> processes.CompletedProcess[str]:
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "APPORTION_JOBS": str(folder / "jobs"), **given}
    return processes.run([SLURM / f"{name}.sh"], env=environment, text=True)


JOB = {"SLURM_JOB_ID": "4711", "SLURM_JOB_UID": "1001", "SLURM_CLUSTER_NAME": "lab"}
BAD: dict[str, dict[str, str]] = {
    "nothing given": {},
    "no number": {**JOB, "SLURM_JOB_ID": "../../etc/passwd"},
    "no user": {**JOB, "SLURM_JOB_UID": ""},
    "a folder that cannot be": {**JOB, "APPORTION_JOBS": "/proc/none"},
    "no time": {**JOB, "APPORTION_WAIT": "soon"},
}


@pytest.mark.parametrize("name", ["prolog", "epilog"])
@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_no_job_fails_by_it(name: str, given: dict[str, str], tmp_path: Path) -> None:
    done = call(name, tmp_path, **given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(tmp_path.iterdir())


def test_no_job_waits_for_it(tmp_path: Path) -> None:
    """A systemd that hangs is left behind; the note is there by then."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/systemctl").write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\nexec sleep 600\n")
    (tmp_path / "bin/systemctl").chmod(0o755)
    assert call("prolog", tmp_path, **JOB, APPORTION_WAIT="1").returncode == 0
    assert (tmp_path / "jobs/4711").read_text() == "1001 lab\n"
    assert (tmp_path / "asked").exists()
    assert call("epilog", tmp_path, **JOB).returncode == 0
    assert not list((tmp_path / "jobs").iterdir())


def test_an_agent_that_stopped_is_started_and_one_that_runs_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    said = tmp_path / "said"
    for is_active in (0, 3):
        (tmp_path / "bin/systemctl").write_text(
            f'#!/bin/sh\necho "$@" >> {said}\n[ "$1" = is-active ] && exit {is_active}\nexit 0\n'
        )
        (tmp_path / "bin/systemctl").chmod(0o755)
        call("prolog", tmp_path, **JOB)
    asked = "is-active --quiet apportion-agent"
    assert said.read_text().splitlines() == [asked, asked, "--no-block start apportion-agent"]


@pytest.mark.parametrize("name", ["prolog", "epilog"])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_any_shell_can_read_it(name: str, shell: str) -> None:
    assert processes.run([shell, "-n", SLURM / f"{name}.sh"]).stderr == b""
