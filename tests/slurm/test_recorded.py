"""Outputs of real clusters of four versions against their own sreport, and accounting of others against independent sums."""

import gzip
import json
import re
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval, parse_instant
from apportion.model.times import zone_named as zone
from apportion.sources.slurm import read
from apportion.sources.slurm.shapes import XDMOD as EXPORT
from apportion.sources.slurm.tables import rows_of
from tests.slurm.making import by_account, codes, found, labels, rows

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"
VERSIONS = ("20.11.4", "22.05.8", "24.11.5", "26.05.5")
HOUR = Interval(parse_instant("2026-11-15T06:00:00Z"), parse_instant("2026-11-15T07:00:00Z"))
RESIZED = {
    "20.11.4": 28,
    "22.05.8": 12,
    "24.11.5": 0,
    "26.05.5": 0,
}  # GPU-seconds that sreport counts twice where a resized row keeps its first start
ACCOUNTS = ("nlp", "search", "vision")
XDMOD = (
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,"
    "reqtres,alloctres,timelimit,nodelist,jobname"
)


def core_seconds(told: Delivery) -> int:
    """Thousandths."""
    cores = told.tables["usage"].filter(pc.field("meter") == "cpu")
    return int(pc.sum(pc.multiply(cores["allocated"], pc.subtract(cores["end_s"], cores["start_s"]))).as_py())


def outputs(version: str) -> Path:
    folder = SHARED / "slurm" / version
    if not folder.exists():
        pytest.skip("no ../shared/data/slurm beside this checkout")
    return folder


def recorded(version: str, tmp_path: Path, **settings: Any) -> Delivery:
    """The outputs after the rollup, with the nodes as they were printed before it."""
    folder = outputs(version)
    (tmp_path / "slurm").mkdir(exist_ok=True)
    for file in folder.glob("t1-rolled/sacct*.psv"):
        shutil.copy(file, tmp_path / "slurm")
    shutil.copy(folder / "t0-running/scontrol-show-node-oneline.txt", tmp_path / "slurm")
    shutil.copy(folder / "t1-rolled/sreport-cluster-Utilization-all.psv", tmp_path / "slurm")
    return found(read({"name": "slurm", "kind": "slurm", "path": "slurm", **settings}, tmp_path, HOUR))


def sreport(version: str, name: str) -> list[dict[str, str]]:
    text = (outputs(version) / f"t1-rolled/sreport-{name}.psv").read_text(encoding="utf-8")
    return list(rows_of("\n".join(text.splitlines()[4:])))


def by_sreport(version: str, tres: str) -> dict[str, int]:
    table = sreport(version, f"cluster-AccountUtilizationByUser-{tres}")
    return {row["account"]: int(row["used"]) for row in table if not row["login"]}


@pytest.mark.parametrize("version", VERSIONS)
def test_gpu_seconds_are_those_of_sreport(version: str, tmp_path: Path) -> None:
    """To the second, but for what sreport counts twice when a job is resized, which is all of one account and known."""
    theirs = by_sreport(version, "gres_gpu")
    ours = by_account(recorded(version, tmp_path, suspended="free"), "gpu", HOUR)
    differences = {name: theirs[name] - ours[name] / GPU for name in ACCOUNTS}
    assert differences == {"nlp": RESIZED[version], "search": 0, "vision": 0}


@pytest.mark.parametrize("version", VERSIONS)
def test_reports_that_lie_beside_it_are_compared(version: str, tmp_path: Path) -> None:
    """By user all four agree to the second, but for the user whose job was resized, where sreport counts twice."""
    for tres in ("cpu", "gres_gpu"):
        if (SHARED / "slurm").exists():
            (tmp_path / "slurm").mkdir(exist_ok=True)
            shutil.copy(
                SHARED / f"slurm/{version}/t1-rolled/sreport-cluster-AccountUtilizationByUser-{tres}.psv",
                tmp_path / "slurm",
            )
    told = recorded(version, tmp_path, suspended="free")
    messages = [problem.message for problem in told.problems if problem.code == "differs-from-sreport"]
    whose = {part.split(":")[0] for message in messages for part in message.split("; ")}
    resized = {"cpu of nlp/bo", "gpu of nlp/bo"} if RESIZED[version] else set()
    assert "cpu of root/root" in whose, "root is charged for maintenance"
    assert whose - {"cpu of root/root"} == resized


@pytest.mark.parametrize("version", VERSIONS)
def test_a_resized_job_does_not_overlap_itself(version: str, tmp_path: Path) -> None:
    """What sreport counts twice is exactly how long the two rows of the resized job overlap, times the GPUs of the second."""
    told = recorded(version, tmp_path, suspended="free")
    raw = rows_of((tmp_path / "slurm/sacct-jobs-X-dup.psv").read_text(encoding="utf-8"))
    stated = [row for row in raw if row.get("jobname") == "shrink"]
    if RESIZED[version]:
        before, after = (
            next(row for row in stated if (row["state"] == "RESIZING") is first) for first in (True, False)
        )
        overlap = parse_instant(before["end"], zone("UTC")) - parse_instant(after["start"], zone("UTC"))
        gpus = int(after["alloctres"].partition("gres/gpu=")[2].partition(",")[0])
        assert overlap * gpus == RESIZED[version]
    mine = sorted((row["start_s"], row["end_s"]) for row in rows(told, "workloads", name="shrink"))
    assert all(one[1] <= other[0] for one, other in pairwise(mine))


@pytest.mark.parametrize("version", VERSIONS)
def test_core_seconds_are_those_of_sreport_without_idle_reservations(version: str, tmp_path: Path) -> None:
    """sreport charges an account all cores of its reservation for the seconds in which no job ran in it; GPUs it never charges."""
    told = recorded(version, tmp_path, suspended="free")
    theirs, ours = by_sreport(version, "cpu"), by_account(told, "cpu", HOUR)
    idle = Counter({"vision": 0})
    (job,) = rows(
        told, "workloads", name="demo"
    )  # the recorded fields have no ReservationId, and 22.05 and 26.05 leave the name out
    used = {"vision-demo": job["end_s"] - job["start_s"]}
    for row in rows(told, "reservations", meter="cpu"):
        idle["vision"] += (
            row["amount"]
            // 1000
            * (row["end_s"] - row["start_s"] - used.get(dict(row["labels"])["slurm.reservation"], 0))
        )
    resized = {"20.11.4": 14, "22.05.8": 12}.get(version, 0)
    differences = {name: theirs[name] - ours[name] / 1000 for name in ACCOUNTS}
    assert differences == {"nlp": resized, "search": 0, "vision": idle["vision"]}
    assert idle["vision"] > 10 * ours["vision"] / 1000, "most of what sreport charges this account is idle"
    assert sum(row["amount"] for row in rows(told, "reservations", meter="gpu")) == 16 * GPU


@pytest.mark.parametrize("version", VERSIONS)
def test_capacity_is_what_sreport_reports_and_downtime_is_the_outage(version: str, tmp_path: Path) -> None:
    """Where a reservation lies later in the hour of an outage, sreport counts the time between them as down."""
    told = recorded(version, tmp_path)
    (theirs,) = [row for row in sreport(version, "cluster-Utilization-all") if row["tresname"] == "gres/gpu"]
    seconds: Counter[str] = Counter()
    for row in rows(told, "capacity", meter="gpu"):
        seconds[row["state"]] += row["amount"] * (row["end_s"] - row["start_s"]) // GPU
    assert seconds.total() == int(theirs["reported"])
    assert seconds["down"] == 8 * 20, "one node of eight GPUs, for 20 seconds"
    (down,) = rows(told, "capacity", meter="gpu", state="down")
    idle = min(
        row["start_s"]
        for row in rows(told, "reservations", meter="gpu")
        if dict(row["labels"])["node"] == down["resource"]
    )
    assert int(theirs["down"]) == 8 * (idle - down["start_s"]) > 100 * seconds["down"] // 2
    drained = {row["resource"] for row in rows(told, "capacity", meter="cpu", state="drained")}
    assert drained == {"cpu-01", "cpu-02"}, "one in maintenance by a reservation, one drained"


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_json_says_the_same_as_text(version: str) -> None:
    """Recorded some seconds apart, so what runs is left aside. 22.05's JSON knows no exit codes."""
    folder = SHARED / "slurm"
    if not folder.exists():
        pytest.skip("no ../shared/data/slurm beside this checkout")
    one, other = (
        found(read({"name": "slurm", "kind": "slurm", "path": f"{version}/t0-running/{name}"}, folder, HOUR))
        for name in ("sacct.json", "sacct-core-dup.usv")
    )
    assert labels(one).keys() == labels(other).keys()
    running = {row["workload"] for row in rows(one, "workloads", outcome="running")}
    for table in ("usage", "workloads"):
        mine, theirs = (
            {json.dumps(plain(row), sort_keys=True) for row in rows(told, table) if row["workload"] not in running}
            for told in (one, other)
        )
        assert mine == theirs


def plain(row: dict[str, Any]) -> dict[str, Any]:
    row = dict(row)
    if "labels" in row:
        row["labels"] = {
            key: value for key, value in row["labels"] if key not in ("slurm.exit_code", "slurm.reservation")
        }
    return row


@pytest.mark.parametrize("version", VERSIONS)
def test_every_outcome_of_the_manifest(version: str, tmp_path: Path) -> None:
    told = recorded(version, tmp_path)
    manifest = (SHARED / "slurm" / version / "t0-running/manifest.tsv").read_text(encoding="utf-8")
    outcomes = {row["run"]: row["outcome"] for row in sorted(rows(told, "workloads"), key=lambda row: row["start_s"])}
    ours = {"MIXED": "completed", "COMPLETED": "completed", "FAILED": "failed", "TIMEOUT": "timeout", "NODE_FAIL": "node_fail", "PREEMPTED": "preempted",
            "CANCELLED": "cancelled", "RUNNING": "running"}  # fmt: skip
    checked = 0
    for line in manifest.splitlines():
        label, job, state = line.split("\t")
        if (
            label in ("dep_never", "cancel_pending", "deadline", "pend_impossible", "array_onefail")
            or not job.isdecimal()
        ):
            continue
        expected = ours[state]
        found_ = outcomes[f"slurm/lab/{job}"]
        assert found_ == expected or (label == "long_running" and found_ in ("running", "cancelled")), (label, found_)
        checked += 1
    assert checked > 30


def test_untyped_gpus_have_the_type_of_their_node(tmp_path: Path) -> None:
    told = recorded("20.11.4", tmp_path)
    (row,) = [row for row in rows(told, "workloads") if row["name"] == "rank-untyped"]
    assert dict(row["labels"])["gpu.model"] == "h100"
    assert dict(row["labels"]).get("slurm.billing") is None


def test_the_weird_name_is_one_name(tmp_path: Path) -> None:
    """With `|` and a line end inside, between the plain delimiters of --parsable2."""
    for version in VERSIONS:
        told = recorded(version, tmp_path)
        (row,) = [
            row for row in rows(told, "workloads") if "rd" in (row["name"] or "") and row["name"].startswith("we")
        ]
        assert row["name"] == "we|rd `name`, ünïcode"
        assert "malformed-row" not in codes(told)


@pytest.mark.parametrize("cluster", ["phillips", "pozidriv"])
def test_the_header_of_the_page_is_that_of_the_recorded_export(cluster: str, tmp_path: Path) -> None:
    """The list of its columns lies beside it; the page's header over the recorded rows gives the sums of others, and the older one is refused."""
    folder = SHARED / "traces" / "xdmod_slurm"
    if not folder.exists():
        pytest.skip("no ../shared/data/traces beside this checkout")
    page = (Path(__file__).parents[2] / "docs/migrate/from-open-xdmod.md").read_text(encoding="utf-8")
    shown = re.search(r"echo '([A-Za-z|]+)'", page)
    listed = re.search(r"--format (jobid[a-z,\s]+)", (folder / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert listed
    assert shown[1].casefold().split("|") == "".join(listed[1].split()).split(",") == [*map(str.casefold, EXPORT)]
    rows_text = gzip.decompress((folder / f"{cluster}.log.gz").read_bytes()).decode()
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))[cluster]
    (tmp_path / "sacct.txt").write_text(f"{shown[1]}\n{rows_text}", encoding="utf-8")
    told = found(read({"name": "slurm", "kind": "slurm", "path": "sacct.txt"}, tmp_path, None))
    assert core_seconds(told) == 1000 * facts["total_cpu_seconds"]
    older = shown[1].replace("|QOS|", "|").replace("|ReqTRES|", "|ReqGRES|ReqTRES|")
    (tmp_path / "sacct.txt").write_text(f"{older}\n{rows_text}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        found(read({"name": "slurm", "kind": "slurm", "path": "sacct.txt"}, tmp_path, None))
    assert caught.value.code == "shifted-columns"
    assert caught.value.hint == f"the cells fit the header of Open XDMoD's Slurm export: {','.join(EXPORT)}"


@pytest.mark.parametrize("cluster", ["phillips", "pozidriv"])
def test_sums_of_others_over_real_accounting(cluster: str) -> None:
    folder = SHARED / "traces"
    if not folder.exists():
        pytest.skip("no ../shared/data/traces beside this checkout")
    facts = json.loads((folder / "xdmod_slurm/facts.json").read_text(encoding="utf-8"))[cluster]
    path = f"xdmod_slurm/{cluster}.log.gz"
    told = found(read({"name": "slurm", "kind": "slurm", "path": path, "fields": XDMOD}, folder, None))
    cores = told.tables["usage"].filter(pc.field("meter") == "cpu")
    assert core_seconds(told) == 1000 * facts["total_cpu_seconds"]
    assert (pc.min(cores["start_s"]).as_py(), pc.max(cores["end_s"]).as_py()) == (
        facts["first_start"],
        facts["last_end"],
    )
    assert len(set(cores["workload"].to_pylist())) == facts["rows_charged"]
    users: Counter[str] = Counter()
    owner = {workload: own["slurm.user"] for workload, own in labels(told).items()}
    for row in cores.to_pylist():
        users[owner[row["workload"]]] += row["allocated"] * (row["end_s"] - row["start_s"])
    assert {user: total // 1000 for user, total in users.items()} == {
        user: one["unit_seconds"] for user, one in facts["by_user"].items()
    }
    assert "attempts-missing" in codes(told)
