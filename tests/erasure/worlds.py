"""Two closed months and an open one, in which users are named wherever a name can stand; and a search for names in the books' own files."""

import json
import zlib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.avro.file import AvroFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.typedef import Record
from sqlalchemy import LargeBinary, select

import apportion
from apportion.books import record
from apportion.books.agreed import unpacked
from apportion.books.database import reading
from apportion.books.open import Books
from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.rows import COST_LINES, USAGE, WORKLOADS
from apportion.model.times import Interval, parse_period
from apportion.verbs.project import Project

POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
findings: {bound: 100}
time_zone: UTC
close: {unowned: 100}
teams: {vision: {cost_centre: "1"}, speech: {cost_centre: "2"}}
owners:
  - {when: {user: root}, team: speech, user: "{slurm.user}"}
  - {when: {slurm.account: [vision, speech]}, team: "{slurm.account}", project: "{slurm.wckey}", user: "{slurm.user}"}
  - {when: {tag.team: [vision, speech]}, team: "{tag.team}", user: "{tag.owner}"}
pools:
  gpu: {costs: {ServiceName: EC2}, usage: {partition: gpu}, meter: gpu, method: proportional}
  rest: {costs: otherwise, method: direct}
"""
OLD = {"alice": "vision", "j.doe-m": "vision", "Zoë": "speech", "root": "vision"}
MONTHS = ("2026-07", "2026-08", "2026-09")
USERS = {MONTHS[0]: OLD, MONTHS[1]: OLD, MONTHS[2]: {"erin": "vision", "root": "vision"}}
GONE = ("alice", "j.doe-m", "Zoë", "carol")  # carol is named in the bill alone
JULY_USERS = {*OLD, "carol"}


def span(month: str) -> Interval:
    return parse_period(month).interval(ZoneInfo("UTC"))


def jobs(month: str, hours: int = 1) -> Delivery:
    """A job for each user, with names inside other labels too; one of July goes on into August."""
    start, end = span(month).start_s, span(month).end_s
    told: list[tuple[Any, ...]] = []
    held: list[tuple[Any, ...]] = []
    for number, (user, account) in enumerate(USERS[month].items()):
        job = f"{month}-{number}"
        last = end + 7200 if number == 0 and month == MONTHS[0] else start + 3600 * (hours + number)
        labels = {
            "slurm.user": user, "slurm.account": account, "slurm.wckey": "w", "slurm.partition": "gpu",
            "slurm.workdir": f"/data/{user}/x", "slurm.comment": f"for {user}, and others",
        }  # fmt: skip
        told.append(("slurm", job, job, f"train_{user}", start, last, "completed", list(labels.items())))
        held.append(("slurm", job, "gpu", "n1", start, start + 3600 * (hours + number), GPU, None))
    rows: dict[str, tuple[pa.Schema, list[tuple[Any, ...]]]] = {"workloads": (WORKLOADS, told), "usage": (USAGE, held)}
    tables = {
        name: pa.Table.from_pylist([dict(zip(schema.names, row, strict=False)) for row in some], schema)
        for name, (schema, some) in rows.items()
    }
    first = next(iter(USERS[month]))
    problem = Problem("sacct.txt:3", "bad-row", f"{first} has no end", f"7|{first}|vision", "0")
    return Delivery("slurm", span(month), tables, problems=(problem,))


def bill(month: str, gpus: str = "100") -> Delivery:
    start, end = span(month).start_s, span(month).end_s
    said = {
        "source": "cloud", "charge_start_s": start, "charge_end_s": end, "billing_start_s": start, "billing_end_s": end, "component": "compute",
        "BillingCurrency": "USD", "InvoiceIssuerName": "AWS", "BillingAccountId": "1", "ChargeCategory": "Usage",
    }  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"line_id": "1", "ServiceName": "EC2", "EffectiveCost": Decimal(gpus), "Tags": []},
        {
            "line_id": "2",
            "ServiceName": "S3",
            "EffectiveCost": Decimal("7.77"),
            "Tags": [("team", "speech"), ("owner", "carol" if month in MONTHS[:2] else "erin")],
        },
        {
            "line_id": "3",
            "ServiceName": "S3",
            "EffectiveCost": Decimal("1.11"),
            "Tags": [("team", "vision"), ("owner", "alice" if month in MONTHS[:2] else "erin")],
        },
    ]
    rows = [{**said, **line, "line_id": f"{month}-{line['line_id']}"} for line in lines]
    return Delivery("cloud", span(month), {"cost_lines": pa.Table.from_pylist(rows, COST_LINES)})


def start(folder: Path, key: str = "a key", settings: str = "") -> Project:
    folder.mkdir(exist_ok=True)
    (folder / "apportion.toml").write_text(settings, "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    (folder / "names.key").write_text(key, "utf-8")
    return apportion.open_project(folder)


def fill(project: Project, months: Sequence[str] = MONTHS) -> Project:
    """July was delivered twice; July and August are closed, September is open."""
    project.books.ingest(jobs(MONTHS[0], hours=5))
    for month in months:
        project.books.ingest(jobs(month))
        project.books.ingest(bill(month))
        apportion.plan(project, month)
        apportion.apply(project, month)
    for month in [month for month in months if month != MONTHS[2]]:
        assert apportion.close(project, month, override="a test").closed
    return project


def sums(project: Project, month: str) -> list[Decimal]:
    """What users owe, whoever they are."""
    rows = project.books.posted(month).group_by(["team", "project", "user"]).aggregate([("amount", "sum")])
    return sorted(rows["amount_sum"].to_pylist())


def users(project: Project, month: str) -> set[str]:
    return set(project.books.posted(month)["user"].to_pylist()) - {""}


def search(books: Books, folder: Path, name: str) -> list[str]:
    """Where the bytes of a name are: in the files as they are, and in what they hold packed."""
    wanted = name.encode()
    found = [str(path) for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]
    for path in folder.rglob("*.parquet"):
        if wanted in json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False).encode():
            found.append(f"{path} unpacked")
        stats = str(pq.read_metadata(path).to_dict())
        found += [f"{path} statistics"] if name in stats else []
    for path in folder.rglob("*.avro"):
        found += [f"{path} unpacked"] if wanted in inflated(path) else []
    with reading(books.engine) as connection:
        for table in record.record.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                blobs = [row[column.name] for column in table.columns if isinstance(column.type, LargeBinary)]
                texts = [*map(unfolded, blobs), str(dict(row))]
                found += [f"table {table.name}"] if any(name in text for text in texts) else []
    return found


def unfolded(blob: bytes) -> str:
    """A table in Arrow's form, or a text."""
    try:
        return zlib.decompress(blob).decode()
    except zlib.error:
        return str(unpacked(blob).to_pylist())


def inflated(path: Path) -> bytes:
    """The records of an Avro file, in which the bounds of columns are bytes."""
    with AvroFile[Any](PyArrowFileIO().new_input(str(path))) as rows:
        return b"".join(flat(row) for row in rows)


def flat(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value + b" "
    if isinstance(value, dict):
        return b"".join(flat(part) for part in value.values())
    if isinstance(value, Record):
        return b"".join(flat(value[place]) for place in range(len(value)))
    if isinstance(value, list | tuple):
        return b"".join(map(flat, value))
    return str(value).encode() + b" "
