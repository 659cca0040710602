"""`check`: is the server there, and is what it says enough?"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import InputError
from apportion.model.money import plain, total_of
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.files.paths import input_files
from apportion.sources.live import Sign
from apportion.sources.opencost.asking import Server, ask
from apportion.sources.opencost.day import FLAVOURS, SETTINGS, Day, reading_of
from apportion.sources.opencost.doubts import crowded, has_gpu, unreconciled
from apportion.sources.outside.web import Web
from apportion.sources.settings import stanza


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Asks for yesterday: reachable, complete, with idle, GPUs and pod ids, and does it add up."""
    found = stanza(settings, SETTINGS)
    reading = reading_of(found)
    if "path" in settings:
        files = input_files(found.text("path"), base, ("json",), found.where)
        yield Sign("ok", f"{len(files)} saved answers")
        return
    today = int(time.time()) // DAY_S * DAY_S
    yesterday = Interval(today - DAY_S, today)
    with Web.of(found) as web:
        for item in ask(web, reading, yesterday):
            if isinstance(item, tuple):
                day, server = item
                yield Sign("ok", f"{FLAVOURS[server.flavour]}{version(server)} answers at {web.host}{server.prefix}")
                yield from signs(day, reading.report)


def version(server: Server) -> str:
    """Where it tells; older ones do not."""
    try:
        about = server.data("/installInfo")
    except InputError:
        return ""
    said = about.get("version") if isinstance(about, Mapping) else None
    return f" {said}" if isinstance(said, str) and said else ""


def signs(day: Day, report: str) -> Iterator[Sign]:
    name = instant_text(day.window.start_s)[:10]
    if report == "cloudCost":
        yield cloud(day, name)
        return
    if not day.allocations or not day.assets:
        lacking = "allocations" if not day.allocations else "assets"
        yield Sign(
            "wrong",
            f"it has no {lacking} for {name}",
            "see whether Prometheus kept that day (its retention), and whether OpenCost's queries time out: kubectl logs deploy/opencost",
        )
        return
    pods = [row for row in day.allocations if row.is_pod]
    money = total_of(asset.total for asset in day.assets)
    yield Sign("ok", f"{name}: {len(pods)} containers, {len(day.assets)} assets of {plain(money)}")
    if not any(row.is_idle for row in day.allocations):
        yield Sign(
            "note", f"{name} has no idle, so rows cannot be held against assets", "raise OpenCost to 1.100 or newer"
        )
    yield from gpus(day)
    if pods and not any(row.uid for row in pods):
        yield Sign(
            "note",
            "pods have no ids: two of one name on a day are one, with the time between them",
            "set INGEST_POD_UID=true in OpenCost's deployment, or read pods from Prometheus",
        )
    for problem in (*unreconciled(day), *crowded(day, pods)):
        yield Sign(
            "note",
            f"{problem.where.partition(': ')[2]}: {problem.message}",
            "the assets count; see read-opencost-or-kubecost.md",
        )


def gpus(day: Day) -> Iterator[Sign]:
    if not any(asset.number("gpuCount") for asset in day.assets):
        return
    held = [row for row in day.allocations if row.is_pod and row.number("gpuHours")]
    if not held:
        yield Sign(
            "note",
            "nodes have GPUs and no pod holds any",
            "see whether pods ask for nvidia.com/gpu; MIG and shared GPUs are not counted",
        )
    elif not any(has_gpu(row) for row in held):
        yield Sign(
            "note",
            "pods hold GPUs and nobody measured their use",
            "install the DCGM exporter and let Prometheus scrape it",
        )
    else:
        yield Sign("ok", f"{len(held)} containers hold GPUs, with their use")


def cloud(day: Day, name: str) -> Sign:
    if day.cloud:
        return Sign("ok", f"{name}: {len(day.cloud)} cloud costs")
    return Sign(
        "wrong",
        f"it has no cloud cost for {name}",
        "set up cloud-integration.json; vendors' bills arrive one to two days late",
    )
