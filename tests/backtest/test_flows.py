"""What flows (bytes moved) is counted in the same units on both sides of a back-test."""

from decimal import Decimal
from pathlib import Path

import apportion
from apportion.verbs.backtest import Wanted
from tests.cli.tiny import DAY, HEAD, MONTH, NODE, POLICY, write_tiny

TRAFFIC = f"Acme,1,{MONTH},{DAY},Usage,30.00,30.00,30.00,30.00,USD,Traffic,Networking,n1,bytes out,"
SOURCE = """
[[sources]]
name = "traffic"
kind = "usage"
path = "usage/traffic.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { network = "bytes" }
units = { network = "bytes" }
labels = { team = "team" }
"""
MOVED = """\
job,team,node,start,end,bytes
t1,vision,n1,2026-10-01T00:00:00Z,2026-10-01T07:00:00Z,1000003
t2,speech,n1,2026-10-01T03:00:00Z,2026-10-01T12:00:00Z,2000003
"""
POOL = "  net: {costs: {ServiceName: Traffic}, meter: network, method: proportional}\n  rest:"


def test_another_price_of_what_flows_is_a_change_of_price_alone(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / "bills/acme.csv").write_text(f"{HEAD}\n{NODE}\n{TRAFFIC}\n", "utf-8")
    (folder / "usage/traffic.csv").write_text(MOVED, "utf-8")
    (folder / "policy.yaml").write_text(POLICY.replace("  rest:", POOL), "utf-8")
    with (folder / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write(SOURCE)
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    (variant,) = apportion.backtest(project, "2026-10", Wanted(prices=("net=60",))).variants
    found = {row.owner: row for row in variant.pools if row.pool == "net"}
    assert found["vision"].change + found["speech"].change == Decimal(30)
    assert {cause for row in found.values() for cause in row.causes} == {"price"}
