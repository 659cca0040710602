"""Saved outputs, each with one thing that must come out right."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.sources.live import Progress
from apportion.sources.slurm import probe, read
from tests.slurm.making import DAY, NODES, START, codes, delivery, held, labels, rows, sacct

EVENTS = "Cluster|Cluster Nodes|NodeName|TimeStart|TimeEnd|State|StateRaw|Reason|User|TRES\n"
RESERVED = "Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall|Assocs|Flags|ID|NodeName\n"


def test_an_attempt_and_its_labels(tmp_path: Path) -> None:
    told = delivery(tmp_path, sacct({"Comment": '{"run": "r-1", "lr": 0.1}', "JobID": "16_3"}))
    (row,) = rows(told, "workloads")
    assert (row["workload"], row["run"], row["name"]) == (f"slurm/lab/17@{START}", "slurm/lab/16", "train")
    assert dict(row["labels"]) == {
        "slurm.account": "vision", "slurm.user": "ana", "slurm.partition": "a100", "slurm.qos": "normal", "slurm.cluster": "lab", "slurm.job": "16_3",
        "slurm.state": "COMPLETED", "slurm.exit_code": "0:0", "slurm.wckey": "base", "slurm.billing": "1", "gpu.model": "a100",
        "slurm.comment.run": "r-1", "slurm.comment.lr": "0.1",
    }  # fmt: skip
    assert {(row["meter"], row["resource"]): row["allocated"] for row in rows(told)} == {
        ("gpu", "n1"): 2 * GPU, ("cpu", "n1"): 8000, ("memory", "n1"): 2**32, ("node", "n1"): 1,
    }  # fmt: skip
    assert {(row["start_s"], row["end_s"]) for row in rows(told)} == {(START + 60, START + 3660)}
    assert codes(told) == []


def test_steps_are_never_counted(tmp_path: Path) -> None:
    steps = [{"JobIDRaw": f"17.{name}", "JobID": f"17.{name}", "User": ""} for name in ("batch", "extern", "0")]
    told = delivery(tmp_path, sacct({}, *steps))
    assert held(told, "gpu") == {"n1": 2 * GPU}


def test_requeued_attempts_are_apart_and_overlapping_files_are_one(tmp_path: Path) -> None:
    first = {"State": "REQUEUED", "End": START + 120}
    second = {"Submit": START + 120, "Start": START + 300, "End": "Unknown", "State": "RUNNING", "ElapsedRaw": 60}
    later = {**second, "End": START + 600, "State": "COMPLETED", "ElapsedRaw": 300}
    told = delivery(tmp_path, {"a.txt": sacct(first, second), "b.psv": sacct(first, later)})
    found = {row["workload"]: (row["outcome"], row["start_s"], row["end_s"]) for row in rows(told, "workloads")}
    assert found == {
        f"slurm/lab/17@{START}": ("requeued", START + 60, START + 120),
        f"slurm/lab/17@{START + 120}": ("completed", START + 300, START + 600),
    }
    assert len(rows(told, meter="gpu")) == 2


def test_what_runs_counts_until_it_was_asked_or_the_window_ends(tmp_path: Path) -> None:
    running = {"End": "Unknown", "State": "RUNNING", "ElapsedRaw": 1000, "TimelimitRaw": "UNLIMITED"}
    told = delivery(tmp_path, sacct(running))
    assert {row["end_s"] for row in rows(told)} == {START + 60 + 1000}
    told = delivery(tmp_path, sacct(running), Interval(START, START + 600))
    assert {row["end_s"] for row in rows(told)} == {START + 600}


def test_a_runaway_job_is_listed_and_counts_to_its_limit_and_the_grace(tmp_path: Path) -> None:
    runaway = {"End": "Unknown", "State": "RUNNING", "ElapsedRaw": 80_000, "TimelimitRaw": "60"}
    told = delivery(tmp_path, sacct(runaway), grace_minutes=30)
    assert {row["end_s"] for row in rows(told)} == {START + 60 + 3600 + 1800}
    (problem,) = told.problems
    assert (problem.code, problem.where) == ("runaway-job", "slurm, job 17")


def test_a_runaway_job_that_was_mended_takes_its_usage_back(tmp_path: Path) -> None:
    """Slurm sets its end to its start; reading the window again says so."""
    told = delivery(tmp_path, sacct({"End": START + 60, "ElapsedRaw": 0}))
    assert rows(told) == []
    assert [row["outcome"] for row in rows(told, "workloads")] == ["completed"]


@pytest.mark.parametrize(("suspended", "gpu", "cores"), [("held", 3600, 3000), ("free", 3000, 3000)])
def test_suspended_time(tmp_path: Path, suspended: str, gpu: int, cores: int) -> None:
    told = delivery(tmp_path, sacct({"Suspended": "00:10:00", "ElapsedRaw": 3000}), suspended=suspended)
    lengths = {row["meter"]: row["end_s"] - row["start_s"] for row in rows(told)}
    assert (lengths["gpu"], lengths["memory"], lengths["cpu"]) == (gpu, gpu, cores)
    assert codes(told) == ["estimated"]


def test_a_resized_job_begins_where_the_row_before_it_ended(tmp_path: Path) -> None:
    before = {"State": "RESIZING", "End": START + 600}
    after = {"Submit": START + 600, "AllocTRES": "cpu=4,gres/gpu=1,node=1"}
    told = delivery(tmp_path, sacct(after, before))
    spans = sorted((row["start_s"], row["end_s"], row["allocated"] // GPU) for row in rows(told, meter="gpu"))
    assert spans == [(START + 60, START + 600, 2), (START + 600, START + 3660, 1)]


def test_never_started_and_pending_jobs_are_no_workloads(tmp_path: Path) -> None:
    never = {
        "JobIDRaw": "18",
        "JobID": "18",
        "Start": START + 9,
        "End": START + 9,
        "NodeList": "None assigned",
        "AllocTRES": "",
        "State": "CANCELLED by 0",
    }
    pending = {
        "JobIDRaw": "19",
        "JobID": "19_[1-5]",
        "Start": "Unknown",
        "End": "Unknown",
        "NodeList": "None assigned",
        "State": "PENDING",
    }
    told = delivery(tmp_path, sacct({}, never, {**never, "Start": "None"}, pending))
    assert [row["workload"] for row in rows(told, "workloads")] == [f"slurm/lab/17@{START}"]
    assert codes(told) == []


def test_local_time_in_a_zone(tmp_path: Path) -> None:
    local = {"Submit": "2026-10-05T02:00:00", "Start": "2026-10-05T02:01:00", "End": "2026-10-05T03:01:00"}
    told = delivery(tmp_path, sacct(local), time_zone="Europe/Berlin")
    assert {(row["start_s"], row["end_s"]) for row in rows(told)} == {(START + 60, START + 3660)}


def test_a_total_over_nodes_of_two_kinds(tmp_path: Path) -> None:
    job = {"NodeList": "n[1-2],c1", "AllocTRES": "cpu=90,gres/gpu=11,mem=192000M,node=3"}
    told = delivery(tmp_path, {"sacct.txt": sacct(job), "nodes.txt": NODES})
    assert held(told, "gpu") == {"n1": 4 * GPU, "n2": 7 * GPU}
    assert held(told, "cpu") == {"n1": 16_000, "n2": 16_000, "c1": 58_000}
    assert sum(held(told, "memory").values()) == 192_000 * 2**20
    assert labels(told)[f"slurm/lab/17@{START}"]["gpu.model"] == "a100+h100"


def test_what_cannot_be_read_of_a_job_is_listed(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"JobIDRaw": "1", "JobID": "1", "NodeList": "n[1-"},
        {"JobIDRaw": "2", "JobID": "2", "AllocTRES": "cpu=x"},
    ]
    bad += [
        {"JobIDRaw": "3", "JobID": "3", "Start": "soon"},
        {"JobIDRaw": "4", "JobID": "4", "End": START},
        {"JobIDRaw": "5", "JobID": "5", "State": "MELTED"},
    ]
    told = delivery(tmp_path, sacct({}, *bad))
    assert sorted(codes(told)) == [
        "invalid-nodes",
        "invalid-number",
        "invalid-time",
        "reversed-period",
        "unknown-outcome",
    ]
    assert {row["workload"] for row in rows(told)} == {f"slurm/lab/17@{START}", f"slurm/lab/5@{START}"}


def comment(percents: dict[str, Any]) -> str:
    found = {"nodes": {"n1": {"gpu_utilization": percents, "cpus": 8}}, "total_time": 3600, "gpus": 2}
    return "JS1:" + base64.b64encode(gzip.compress(json.dumps(found).encode())).decode()


@pytest.mark.parametrize(
    ("text", "used"),
    [(comment({"0": 90.5, "1": 10}), round(GPU * 1.005)), (comment({"0": 100, "1": 100, "2": 100}), 2 * GPU), ("JS1:Short", None), ("JS1:None", None),
     ("JS1:H4sIAAAAAAAC/fake", None), (comment({"0": 900}), None), ("", None)],
)  # fmt: skip
def test_utilisation_that_jobstats_left(tmp_path: Path, text: str, used: int | None) -> None:
    told = delivery(tmp_path, sacct({"AdminComment": text}))
    assert [row["used"] for row in rows(told, meter="gpu")] == [used]
    assert {row["used"] for row in rows(told) if row["meter"] != "gpu"} == {None}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [({"0": 26 * 2**30, "1": 27 * 2**30 + 1}, "27.01"), ({"0": 0}, "0.00"), ({}, None), ({"0": "much"}, None), ({"0": -1}, None), (7, None)],
)  # fmt: skip
def test_memory_that_jobstats_saw(tmp_path: Path, sizes: Any, expected: str | None) -> None:
    found = {"nodes": {"n1": {"gpu_used_memory": sizes}, "n2": None}}
    text = "JS1:" + base64.b64encode(gzip.compress(json.dumps(found).encode())).decode()
    told = delivery(tmp_path, sacct({"AdminComment": text}))
    (labels,) = (dict(row["labels"]) for row in told.tables["workloads"].to_pylist())
    assert labels.get("gpu_memory_gib") == expected


@pytest.mark.parametrize(
    ("change", "energy", "expected", "code"),
    [
        (
            {"AllocTRES": "cpu=16,gres/gpu=4,node=1", "ConsumedEnergyRaw": "7200001"},
            "whole nodes",
            {"n1": 7_200_001},
            [],
        ),
        ({"ConsumedEnergyRaw": "7200001"}, "whole nodes", {}, ["shared-energy"]),
        ({"ConsumedEnergyRaw": "7200001"}, "all", {"n1": 7_200_001}, []),
        ({"ConsumedEnergyRaw": "7200001"}, "none", {}, []),
        ({"ConsumedEnergyRaw": "1" + "0" * 14}, "all", {}, ["implausible-energy"]),
        ({"ConsumedEnergyRaw": str(2**64 - 2)}, "all", {}, []),
    ],
)
def test_energy_is_believed_of_whole_nodes(
    tmp_path: Path, change: dict[str, str], energy: str, expected: dict[str, int], code: list[str]
) -> None:
    told = delivery(tmp_path, {"sacct.txt": sacct(change), "nodes.txt": NODES, "events.txt": EVENTS}, energy=energy)
    assert held(told, "energy") == expected
    assert codes(told) == code


def test_licences(tmp_path: Path) -> None:
    told = delivery(tmp_path, sacct({"AllocTRES": "cpu=1,license/matlab=3,license/ansys@flex=1,node=1"}))
    assert held(told, "licence") == {"licence/matlab": 3, "licence/ansys@flex": 1}


def test_capacity_with_states(tmp_path: Path) -> None:
    """A node in several states at once has the worst; before it was registered there is none of it."""
    events = EVENTS + (
        f"lab|n1,c1||{START - 900}|{START + 5000}||0|Cluster Registered TRES||cpu=80,license/matlab=5\n"
        f"lab|n[1-2],c1||{START + 5000}|Unknown||0|Cluster Registered TRES||cpu=96,license/matlab=5\n"
        f"lab||n1|{START + 1000}|{START + 4000}|DRAIN|514|maint|dimm swap|root(0)|cpu=16\n"
        f"lab||n1|{START + 2000}|{START + 3000}|DOWN*|1|gone|root(0)|cpu=16\n"
        f"lab||n2|{START + 9000}|Unknown|DOWN|1|gone|root(0)|cpu=16\n"
    )
    maintained = RESERVED + f"lab|m1|cpu=64|{START + 100}|{START + 200}|0|2|MAINT,SPEC_NODES|3|c1\n"
    long = {"End": START + 80_000, "ElapsedRaw": 1}
    told = delivery(tmp_path, {"sacct.txt": sacct(long), "n.txt": NODES, "e.psv": events, "r.psv": maintained})
    found = {
        name: [
            (row["start_s"] - START, row["end_s"] - START, row["state"])
            for row in rows(told, "capacity", resource=name, meter="cpu")
        ]
        for name in ("n1", "n2", "c1")
    }
    assert found == {
        "n1": [
            (0, 1000, "up"),
            (1000, 2000, "drained"),
            (2000, 3000, "down"),
            (3000, 4000, "drained"),
            (4000, 80_000, "up"),
        ],
        "n2": [(5000, 9000, "up"), (9000, 80_000, "down")],
        "c1": [(0, 100, "up"), (100, 200, "drained"), (200, 80_000, "up")],
    }
    assert rows(told, "reservations") == [], "maintenance is no promise"
    assert {row["amount"] for row in rows(told, "capacity", meter="licence")} == {5}
    assert {
        row["resource"]: dict(row["labels"])["slurm.partition"] for row in rows(told, "capacity", meter="node")
    } == {"n1": "a100", "n2": "h100,all", "c1": "cpu"}


def test_nodes_that_had_another_number_of_gpus(tmp_path: Path) -> None:
    events = (
        EVENTS + f"lab|n1||{START}|{START + 10}||0|x||gres/gpu=4\nlab|n[1-2]||{START + 10}|Unknown||0|x||gres/gpu=14\n"
    )
    told = delivery(tmp_path, {"sacct.txt": sacct({}), "n.txt": NODES, "e.psv": events})
    (problem,) = told.problems
    assert problem.code == "capacity-differs"
    assert "had 14 GPUs; its nodes as they are now have 12" in problem.message


def test_reservations_hold_whole_nodes_for_their_accounts(tmp_path: Path) -> None:
    texts = {
        "sacct.txt": sacct({"ReservationId": "7", "Reservation": ""}),
        "nodes.txt": NODES,
        "events.txt": EVENTS,
        "reserved.psv": RESERVED
        + f"lab|demo|cpu=32|{START}|{START + 3000}|0|6,-9|SPEC_NODES|7|n[1-2]\n"
        + f"lab|half|cpu=8|{START}|{START + 3000}|0|6|SPEC_NODES|8|n1\n",
        "assoc.psv": "ID|Account|User\n6|vision|\n9|speech|bo\n",
        "now.txt": f"ReservationName=soon StartTime={START + 3500} EndTime={START + 5000} Nodes=n2 Flags=SPEC_NODES TRES=cpu=16 "
        "Users=(null) Accounts=nlp,-ads\n",
    }
    told = delivery(tmp_path, texts)
    gpus = {
        row["reservation"]: (row["amount"] // GPU, dict(row["labels"])["slurm.account"])
        for row in rows(told, "reservations", meter="gpu")
    }
    assert gpus == {
        "slurm/lab/demo/7/n1": (4, "vision"), "slurm/lab/demo/7/n2": (8, "vision"), f"slurm/lab/soon@{START + 3500}/n2": (8, "nlp"),
    }  # fmt: skip
    assert {row["end_s"] for row in rows(told, "reservations") if "soon" in row["reservation"]} == {START + 3660}, (
        "nothing is known after that"
    )
    assert {row["amount"] for row in rows(told, "reservations", reservation="slurm/lab/half/8/n1")} == {8000}, (
        "cores alone"
    )
    assert labels(told)[f"slurm/lab/17@{START}"]["slurm.reservation"] == "demo"


def test_nodes_by_sinfo(tmp_path: Path) -> None:
    sinfo = (
        "NODELIST            PARTITION STATE               CPUS(A/I/O/T)       MEMORY      GRES                REASON\n"
        "n1                  a100*     idle                0/16/0/16           64000       gpu:a100:4          none\n"
        "n1                  all       idle                0/16/0/16           64000       gpu:a100:4          none of it\n"
        "c[1-2]              cpu       idle                0/8/0/8             8000        (null)              none\n"
    )
    told = delivery(tmp_path, {"sacct.txt": sacct({}), "sinfo.txt": sinfo})
    amounts = {(row["resource"], row["meter"]): row["amount"] for row in rows(told, "capacity")}
    assert (amounts["n1", "gpu"], amounts["n1", "cpu"], amounts["c2", "memory"]) == (4 * GPU, 16_000, 8000 * 2**20)
    assert codes(told) == ["no-events"]
    assert dict(rows(told, "capacity", resource="n1")[0]["labels"])["slurm.partition"] == "a100,all"


def test_what_a_file_lacks_is_said(tmp_path: Path) -> None:
    restarted = delivery(tmp_path, sacct({"Restarts": "1"}))
    assert codes(restarted) == ["attempts-missing"]
    made = {"meta": {"command": ["sacct", "-S", "2026-10-01", "--json"]}, "jobs": []}
    (tmp_path / "slurm/made.json").write_text(json.dumps(made))
    told = delivery(tmp_path, sacct({}))
    assert sorted(problem.message for problem in told.problems) == [
        "it was saved without -D: earlier attempts of requeued jobs are missing",
        "it was saved without -a: jobs of other users are missing",
    ]


@pytest.mark.parametrize(
    ("text", "settings", "code"),
    [
        ("JobIDRaw|State|Start|End\n17|COMPLETED|1|2\n", {}, "missing-columns"),
        ("JobIDRaw|Start|End|AllocTRES\n17|1791158401|1791158402|cpu=1\n", {}, "missing-setting"),
        (sacct({}), {"suspended": "sometimes"}, "invalid-setting"),
        (sacct({}), {"partition": "a100"}, "unknown-setting"),
        (sacct({"Start": 1_500_000_000, "End": 1_500_000_002}, {}), {}, "window-too-wide"),
        ("JobID       State\n-----\n", {}, "no-header"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, settings: dict[str, Any], code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        delivery(tmp_path, text, None, **settings)
    assert refused.value.code == code


def test_a_plain_list_without_header_and_submission(tmp_path: Path) -> None:
    told = delivery(
        tmp_path, f"17|{START + 60}|{START + 3660}|8|n1\n", fields="jobid,start,end,ncpus,nodelist", cluster="lab"
    )
    assert [row["workload"] for row in rows(told, "workloads")] == [f"slurm/lab/17@{START + 60}"]
    assert held(told, "cpu") == {"n1": 8000}


def test_whole_months_unless_said_otherwise(tmp_path: Path) -> None:
    told = delivery(tmp_path, sacct({}), None)
    assert (told.window.start_s, told.window.end_s) == (START - 4 * 86_400, START + 27 * 86_400)
    assert delivery(tmp_path, sacct({}), DAY, window="2026-10").window == told.window


def test_a_window_in_which_nothing_ran(tmp_path: Path) -> None:
    """It is delivered all the same: it takes back what an earlier delivery said of it."""
    for name, text in {"sacct.txt": sacct({}).splitlines()[0] + "\n", "sacct.json": '{"jobs": []}'}.items():
        told = delivery(tmp_path / name, {name: text})
        assert (told.window, told.tables["usage"].num_rows, told.tables["workloads"].num_rows) == (DAY, 0, 0)
        assert codes(told) == ["no-rows"]


def test_progress_is_told(tmp_path: Path) -> None:
    delivery(tmp_path, sacct({}))
    items = list(read({"name": "slurm", "kind": "slurm", "path": "slurm"}, tmp_path, DAY))
    assert any(isinstance(item, Progress) and 0 < item.done <= item.total for item in items)


def test_probe_of_files(tmp_path: Path) -> None:
    delivery(tmp_path, sacct({}))
    assert [sign.status for sign in probe({"name": "slurm", "kind": "slurm", "path": "slurm"}, tmp_path)] == ["ok"]
