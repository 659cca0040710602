"""Small outputs of Slurm for tests, and what the source makes of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.slurm import read

START = 1_791_158_400  # 2026-10-05
DAY = Interval(START, START + 86_400)
JOB = {
    "JobIDRaw": "17", "JobID": "17", "Cluster": "lab", "User": "ana", "Account": "vision", "Partition": "a100", "QOS": "normal", "WCKey": "*base",
    "Submit": START, "Start": START + 60, "End": START + 3660, "ElapsedRaw": "3600", "Suspended": "00:00:00", "State": "COMPLETED",
    "ExitCode": "0:0", "NodeList": "n1", "AllocCPUS": "8", "AllocTRES": "billing=1,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=4096M,node=1",
    "ConsumedEnergyRaw": "0", "TimelimitRaw": "120", "JobName": "train", "AdminComment": "", "Comment": "",
}  # fmt: skip
NODES = (
    "NodeName=n1 Arch=x86_64 CPUTot=16 Gres=gpu:a100:4 RealMemory=64000 State=IDLE Partitions=a100 CfgTRES=cpu=16,mem=62.50G,billing=16,gres/gpu=4\n"
    "NodeName=n2 Arch=x86_64 CPUTot=16 Gres=gpu:h100:8(S:0-1) RealMemory=64000 State=IDLE Partitions=h100,all CfgTRES=cpu=16,mem=62.50G\n"
    "NodeName=c1 Arch=x86_64 CPUTot=64 Gres=(null) RealMemory=128000 State=IDLE Partitions=cpu CfgTRES=cpu=64,mem=125G,billing=64\n"
)


def sacct(*changes: Mapping[str, Any], delimiter: str = "|") -> str:
    rows = [{**JOB, **change} for change in changes]
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [delimiter.join(str(row.get(name, "")) for name in names) for row in rows]
    return "\n".join([delimiter.join(names), *lines]) + "\n"


def delivery(base: Path, files: Mapping[str, str] | str, asked: Interval | None = DAY, /, **settings: Any) -> Delivery:
    """Of a folder with these files, or of one sacct.txt."""
    texts = {"sacct.txt": files} if isinstance(files, str) else files
    folder = base / "slurm"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return found(read({"name": "slurm", "kind": "slurm", "path": "slurm", **settings}, base, asked))


def found(items: Iterable[Any]) -> Delivery:
    *_, last = items
    assert isinstance(last, Delivery)
    return last


def rows(told: Delivery, table: str = "usage", **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in told.tables[table].to_pylist() if all(row[name] == value for name, value in wanted.items())]


def held(told: Delivery, meter: str) -> dict[str, int]:
    """Base units by resource."""
    sums: Counter[str] = Counter()
    for row in rows(told, meter=meter):
        sums[row["resource"]] += row["allocated"]
    return dict(sums)


def labels(told: Delivery) -> dict[str, dict[str, str]]:
    return {row["workload"]: dict(row["labels"]) for row in rows(told, "workloads")}


def by_account(told: Delivery, meter: str, window: Interval) -> Counter[str]:
    """Base-unit-seconds by account, as the books would clip them."""
    sums: Counter[str] = Counter()
    accounts = labels(told)
    for row in rows(told, meter=meter):
        span = Interval(row["start_s"], row["end_s"]).clip(window)
        sums[accounts[row["workload"]]["slurm.account"]] += row["allocated"] * span.seconds
    return sums


def codes(told: Delivery) -> list[str]:
    return [problem.code for problem in told.problems]
