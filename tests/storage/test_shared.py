"""From reports and logs to money: bytes and seats that several teams hold share a bill in proportion."""

from decimal import Decimal
from pathlib import Path

from apportion.verbs.check import check
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import open_project
from tests.sources.making import bill_text, put

SETTINGS = """\
[project]
name = "shared"
policy = "policy.yaml"

[[sources]]
name = "bill"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "scratch"
kind = "storage"
path = "quota"

[[sources]]
name = "matlab"
kind = "licences"
path = "debug.log"
"""
POLICY = """\
policy: shared
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}, ops: {}}
carried_by: {_idle: ops, _unallocated: ops, _residual: ops}
owners:
  - {when: {storage.group: "vision*"}, team: vision}
  - {when: {storage.group: "speech*"}, team: speech}
  - {when: {licence.user: alice}, team: vision}
  - {when: {licence.user: bob}, team: speech}
pools:
  scratch: {costs: {ServiceName: Scratch}, usage: {node: "storage/scratch"}, meter: storage, method: proportional}
  matlab: {costs: {ServiceName: MATLAB}, usage: {node: "licence/MATLAB"}, meter: licence, method: proportional}
"""


def test_a_month_of_bytes_and_seats(tmp_path: Path) -> None:
    """Vision holds 3 of 4 parts of the bytes; alice holds 2 seats for as long as bob holds 1, twice as long."""
    month = {"ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-11-01T00:00:00Z", "ResourceId": ""}
    put(
        tmp_path / "bill.csv",
        bill_text(
            {"ServiceName": "Scratch", "EffectiveCost": "400", **month},
            {"ServiceName": "MATLAB", "EffectiveCost": "50", **month},
        ),
    )
    put(tmp_path / "apportion.toml", SETTINGS)
    put(tmp_path / "policy.yaml", POLICY)
    for day in range(1, 32):
        text = "Group quota on /scratch (/dev/a)\nGroup ID Used Soft Hard Warn/Grace\n---------- -----\n"
        text += "vision-a 2000 0 0 00 [------]\nvision-b 1000 0 0 00 [------]\nspeech 1000 0 0 00 [------]\n"
        put(tmp_path / f"quota/2026-10-{day:02}.txt", text)
    log = [
        "0:00:00 (lmgrd) TIMESTAMP 10/7/2026",
        '1:00:00 (M) OUT: "MATLAB" alice@a  (2 licenses)',
        '1:00:00 (M) OUT: "MATLAB" bob@b',
    ]
    log += ['3:00:00 (M) IN: "MATLAB" bob@b', '5:00:00 (M) IN: "MATLAB" alice@a  (2 licenses)']
    put(tmp_path / "debug.log", "\n".join(log) + "\n")
    project = open_project(tmp_path)
    ingest(project)
    planned = plan(project, "2026-10")
    sums: dict[tuple[str, str], Decimal] = {}
    for row in planned.plan.postings.to_pylist():
        key = row["pool"], row["team"]
        sums[key] = sums.get(key, Decimal(0)) + row["amount"]
    assert sum(sums.values()) == 450
    assert {key: round(amount, 6) for key, amount in sums.items() if amount} == {  # a day's rest is a nano-unit
        ("scratch", "vision"): Decimal(300),
        ("scratch", "speech"): Decimal(100),
        ("matlab", "vision"): Decimal(40),
        ("matlab", "speech"): Decimal(10),
    }
    told = str(check(project).checks)
    assert "31 reports of scratch" in told
