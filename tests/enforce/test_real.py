"""Against a real Slurm: what does not fit is held, starts when the quota is raised, and nothing is left behind when all is put back."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.verbs.enforcing.planning import Plan
from apportion.verbs.project import Project
from tests import processes
from tests.enforce.world import TODAY, make, with_quota
from tests.slurm.cluster import Cluster, wait_for, why_not

OWN = ("sacctmgr", "-n", "-P", "show", "assoc", "WOPLimits", "WithRawQOSLevel")


FILTER = Path(__file__).resolve().parents[2] / "examples" / "submit-filter"


class Limited(Cluster):
    """With the filter of the example, which lets everything through while there is no `fits.sh`."""

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        own = {
            "APPORTION_FITS": f"{self.folder}/etc/fits.sh",
            "APPORTION_PROJECT": f"{self.folder}/project",
            "PATH": path,
            "APPORTION_WAIT": "80",
        }
        return {**super().environment, **own}

    def slurm_conf(self, munge: Path) -> str:
        shutil.copy(FILTER / "job_submit.lua", self.folder / "etc")
        text = super().slurm_conf(munge).replace("=associations,qos\n", "=associations,limits,qos,safe\n")
        return f"{text}JobSubmitPlugins=lua\nMessageTimeout=90\n"


@pytest.fixture(scope="module")
def found() -> Iterator[Cluster]:
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="enforce-") as parent, pytest.MonkeyPatch.context() as patch:
        Path(parent).chmod(0o755)
        cluster = Limited(Path(parent) / "c")
        try:
            cluster.up()
            patch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
            prepare(cluster)
            yield cluster
        finally:
            cluster.down()


def prepare(cluster: Cluster) -> None:
    for words in (
        ("add", "account", "research"),
        ("add", "account", "vis-core", "parent=research"),
        ("add", "account", "speech", "parent=research"),
        ("add", "account", "vision", "parent=research"),
        ("add", "user", "root", "account=vision"),
        ("add", "user", "root", "account=vis-core"),
        ("add", "user", "root", "account=speech"),
        ("add", "qos", "scavenger"),
        ("modify", "user", "where", "name=root", "account=vis-core", "set", "qos+=scavenger"),
    ):
        cluster.ask("sacctmgr", "-i", "-Q", *words)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "lab")


def everything(cluster: Cluster) -> str:
    """All that is set, as it is set."""
    assoc = cluster.ask(*OWN, "format=Account,User,QOS,DefaultQOS,GrpTRESMins,GrpTRES,GrpSubmitJobs,MaxTRES")
    return assoc + cluster.ask(
        "sacctmgr", "-n", "-P", "show", "qos", "format=Name,Flags,GrpTRESMins,GrpTRES,GrpSubmit,UsageFactor,Priority"
    )


def enforced(project: Project, **options: str) -> Plan:
    plan = apportion.enforce(project, today=TODAY, **options)  # type: ignore[arg-type]
    apportion.apply_enforcement(project, plan.digest)
    return plan


def put_back(project: Project) -> Plan:
    plan = apportion.undo_enforcement(project)
    apportion.apply_enforcement(project, plan.digest)
    return plan


def submit(cluster: Cluster, account: str, gpus: int, minutes: int, *more: str) -> str:
    return cluster.submit(
        "-A", account, "-p", "a100", f"--gres=gpu:{gpus}", "-t", str(minutes), *more, "--wrap", "sleep 60"
    )


def wait_queue(cluster: Cluster, job: str, *said: str) -> None:
    wait_for(
        f"job {job} to be {said}",
        lambda: cluster.ask("squeue", "-h", "-j", job, "-o", "%T %r").split() == list(said),
    )


def test_held_started_and_put_back(found: Cluster, project: Project) -> None:
    before = everything(found)
    plan = apportion.enforce(project, today=TODAY)
    assert everything(found) == before  # a plan changes nothing
    assert [one.limit for one in plan.rungs] == [30]  # half an hour is left
    apportion.apply_enforcement(project, plan.digest)
    long, short, other = (
        submit(found, "vis-core", 4, 10),
        submit(found, "vis-core", 1, 5),
        submit(found, "speech", 4, 10),
    )
    wait_queue(found, long, "PENDING", "QOSGrpGRESMinutes")  # 40 minutes do not fit in 30
    wait_queue(found, short, "RUNNING", "None")
    wait_queue(found, other, "RUNNING", "None")
    found.ask("scancel", short)
    project = with_quota(project.folder, "60")
    topped = enforced(project)
    assert [(one.kind, one.name, dict(one.after or {})) for one in topped.changes] == [
        ("qos", "apportion-vision", {"GrpTRESMins=gres/gpu": str(topped.rungs[0].limit)})
    ]
    assert topped.rungs[0].limit >= 12 * 60
    wait_queue(found, long, "RUNNING", "None")
    assert "of QOS apportion-vision would be left without it" in " ".join(apportion.undo_enforcement(project).warnings)
    found.ask("scancel", long, other)
    wait_for("the queue to be empty", lambda: not found.ask("squeue", "-h").strip())
    put_back(project)
    assert everything(found) == before
    assert not apportion.undo_enforcement(project).changes
    notes = [note.detail for note in apportion.audit(project, ["enforce"])]
    assert [note.split(" plan ")[0] for note in notes] == [
        "slurm lab: held to quotas by",
        "slurm lab: held to quotas by",
        "slurm lab: undone by",
    ]


def test_the_same_again_changes_nothing(found: Cluster, project: Project) -> None:
    before = everything(found)
    plan = enforced(project)
    stands = everything(found)
    assert not apportion.enforce(project, today=TODAY).changes
    again = apportion.apply_enforcement(project, plan.digest)
    assert (again.done, again.there) == (0, len(plan.changes))
    assert everything(found) == stands
    assert len(apportion.audit(project, ["enforce"])) == 1
    put_back(project)
    assert everything(found) == before


def test_every_rung_of_the_ladder_and_down_again(found: Cluster, project: Project) -> None:
    """48 of 60 hours are 80 %: five marks below that reach the top, none leaves the limit alone."""
    before = everything(found)
    project = with_quota(project.folder, "60", "[10, 20, 30, 40, 50]")
    plan = enforced(project, demote="scavenger")
    assert plan.rungs[0].name == "no submit"
    said = found.ask(
        "sacctmgr", "-n", "-P", "show", "qos", "apportion-vision", "format=Flags,GrpTRESMins,GrpTRES,GrpSubmit"
    ).strip()
    assert said == "DenyOnLimit,NoDecay|gres/gpu=720|gres/gpu=1|0"
    assert found.ask(*OWN, "account=vis-core", "user=", "format=DefaultQOS").strip() == "scavenger"
    with pytest.raises(AssertionError, match="QOSGrpSubmitJobsLimit"):
        submit(found, "vis-core", 1, 1, "--qos=apportion-vision")
    enforced(with_quota(project.folder, "60", "[90]"))
    said = found.ask(
        "sacctmgr", "-n", "-P", "show", "qos", "apportion-vision", "format=Flags,GrpTRESMins,GrpTRES,GrpSubmit"
    ).strip()
    assert said == "NoDecay|gres/gpu=720||"
    put_back(project)
    assert everything(found) == before


def test_what_somebody_else_changed_is_not_overwritten(found: Cluster, project: Project) -> None:
    plan = enforced(project)
    topped = apportion.enforce(with_quota(project.folder, "60"), today=TODAY)
    found.ask("sacctmgr", "-i", "-Q", "modify", "qos", "apportion-vision", "set", "GrpTRESMins=gres/gpu=7")
    stands = everything(found)
    for one in (plan, topped):
        with pytest.raises(ApportionError) as refused:
            apportion.apply_enforcement(project, one.digest)
        assert refused.value.code == "plan-outdated"
    assert everything(found) == stands
    put_back(project)


def test_an_unreachable_scheduler_changes_nothing(found: Cluster, project: Project) -> None:
    before = everything(found)
    plan = apportion.enforce(project, today=TODAY)
    found.stop("slurmdbd")
    try:
        with pytest.raises(ApportionError) as refused:
            apportion.apply_enforcement(project, plan.digest)
        assert refused.value.code == "command-failed"
        assert not apportion.audit(project, ["enforce"])
    finally:
        found.start_database()
    assert everything(found) == before


def test_the_filter_refuses_at_submission_and_says_why(found: Cluster) -> None:
    """The account is called as the team is. Whatever month it is, 100 hours do not fit in 60."""
    folder = found.folder
    with_quota(make(folder / "project").folder, "60")
    (folder / "bin").mkdir()
    (folder / "bin" / "apportion").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from apportion.cli.main import main; main()' \"$@\"\n", "utf-8"
    )
    (folder / "bin" / "apportion").chmod(0o755)
    shutil.copy(FILTER / "fits.sh", folder / "etc")
    words = ["sbatch", "--parsable", "-o", "/dev/null", "-A", "vision", "-p", "a100", "--wrap", "sleep 60"]
    try:
        refused, taken = (
            processes.run(
                [*words, f"--gres=gpu:{gpus}", "-t", minutes],
                env=found.environment,
                text=True,
            )
            for gpus, minutes in (("a100:4", "1500"), ("1", "5"))
        )
    finally:
        (folder / "etc" / "fits.sh").unlink()
    assert (refused.returncode, "vision needs 100 GPU-hours, which does not fit" in refused.stderr) == (1, True), (
        refused.stderr
    )
    assert taken.returncode == 0, taken.stderr
    found.ask("scancel", taken.stdout.strip())
