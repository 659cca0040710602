"""A day of a thousand GPUs, every 30 s, through a real Prometheus: how long the import takes and how much memory."""

import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TextIO

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import DAY_S, Interval
from apportion.sources.live import Progress
from apportion.sources.outside.web import Web
from apportion.sources.prometheus import read
from apportion.sources.prometheus.samples import union
from apportion.sources.prometheus.selectors import select
from apportion.sources.prometheus.server import Server
from apportion.sources.settings import stanza
from bench.measure import peak_gb
from tests.prometheus.server import backfill as fill
from tests.prometheus.server import cannot_start, served

START_S = 1_790_812_800  # 2026-10-01
GPUS, PER_NODE, PER_POD, STEP_S = 1000, 8, 4, 30
PART_S = 6 * 3600
WINDOW = Interval(START_S, START_S + DAY_S)
Value = Callable[[int, int], float]  # of a GPU or pod, at a time
DCGM: dict[str, Value] = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": lambda gpu, at: (gpu * 7919 + at) % 1_000_000 / 1e6,
    "DCGM_FI_PROF_SM_ACTIVE": lambda gpu, at: (gpu * 7919 + at) % 900_000 / 1e6,
    "DCGM_FI_DEV_GPU_UTIL": lambda gpu, at: (gpu * 31 + at // 60) % 101,
    "DCGM_FI_DEV_FB_USED": lambda gpu, at: 40_000 + (gpu + at) % 997,
    "DCGM_FI_DEV_POWER_USAGE": lambda gpu, at: 300 + (gpu + at // 30) % 400 + 0.125,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": lambda gpu, at: 5_000_000_000 + gpu + (at - START_S) * 500_000,
}
PODS: dict[str, Value] = {
    'kube_pod_status_phase{%s,phase="Running"}': lambda _pod, _at: 1,
    'kube_pod_container_resource_requests{%s,container="main",resource="nvidia_com_gpu"}': lambda _pod, _at: PER_POD,
    'kube_pod_container_resource_requests{%s,container="main",resource="cpu"}': lambda _pod, _at: 16,
    'kube_pod_container_resource_requests{%s,container="main",resource="memory"}': lambda _pod, _at: 2**36,
    'container_cpu_usage_seconds_total{%s,container="main",id="/kubepods/x"}': lambda pod, at: (at - START_S) * (pod % 16),
    'container_memory_working_set_bytes{%s,container="main",id="/kubepods/x"}': lambda pod, at: 2**35 + pod * 4096 + at % 4096,
    'container_network_transmit_bytes_total{%s,interface="eth0"}': lambda pod, at: (at - START_S) * 10_007 + pod,
}  # fmt: skip


def labels_of(gpu: int) -> str:
    pod = gpu // PER_POD
    return (
        f'UUID="GPU-{gpu:08d}-0000",Hostname="node-{gpu // PER_NODE:03d}",gpu="{gpu % PER_NODE}",modelName="NVIDIA H100",'
        f'namespace="team-{pod % 9}",pod="job-{pod:04d}",container="main"'
    )


def write_series(out: TextIO, series: str, number: int, value: Value) -> None:
    out.writelines(f"{series} {value(number, at)} {at}\n" for at in range(START_S, START_S + DAY_S, STEP_S))


def families() -> Iterator[Callable[[TextIO], None]]:
    """Each writes one file: promtool reads a file once for every block of it."""
    for name, value in DCGM.items():
        yield partial(write_boards, name, value)
    yield write_pods


def write_boards(name: str, value: Value, out: TextIO) -> None:
    for gpu in range(GPUS):
        write_series(out, f"{name}{{{labels_of(gpu)}}}", gpu, value)


def write_pods(out: TextIO) -> None:
    for name, value in PODS.items():
        for pod in range(GPUS // PER_POD):
            node = pod * PER_POD // PER_NODE
            named = f'namespace="team-{pod % 9}",pod="job-{pod:04d}",uid="uid-{pod:04d}",node="node-{node:03d}"'
            write_series(out, name % named, pod, value)
    for pod in range(GPUS // PER_POD):
        node = pod * PER_POD // PER_NODE
        named = f'namespace="team-{pod % 9}",pod="job-{pod:04d}",uid="uid-{pod:04d}"'
        write_series(out, f'kube_pod_info{{{named},node="node-{node:03d}"}}', pod, lambda _pod, _at: 1)
        write_series(out, f'kube_pod_labels{{{named},label_team="team-{pod % 9}"}}', pod, lambda _pod, _at: 1)
    for node in range(GPUS // PER_NODE):
        for resource, amount in (("nvidia_com_gpu", PER_NODE), ("cpu", 192), ("memory", 2**41)):
            series = f'kube_node_status_capacity{{node="node-{node:03d}",resource="{resource}"}}'
            write_series(out, series, node, lambda _node, _at, amount=amount: amount)  # type: ignore[misc]


def prepared(folder: Path) -> Path:
    """The server's data; made once."""
    data = folder / "prometheus-day"
    if (data / "done").exists():
        return data
    shutil.rmtree(data, ignore_errors=True)
    text = folder / "prometheus-day.om"
    for write in families():
        with text.open("w", encoding="utf-8") as out:
            write(out)
            out.write("# EOF\n")
        fill(text, data, hours=24)
        text.unlink()
    (data / "done").touch()
    return data


def prometheus_day(folder: Path) -> dict[str, Any]:
    """1,000 GPUs x 6 metrics x 30 s for a day, with their pods: the import, and all six metrics read and integrated."""
    if reason := cannot_start():
        return {"skipped": reason}
    with served(prepared(folder)) as url:
        settings = {"name": "k8s", "kind": "prometheus", "url": url, "cluster": "bench"}
        started, steps = time.perf_counter(), 0
        delivery = None
        for found in read(settings, folder, WINDOW):
            steps += isinstance(found, Progress)
            delivery = found if isinstance(found, Delivery) else delivery
        seconds, peak = time.perf_counter() - started, peak_gb()
        check(delivery)
        started = time.perf_counter()
        samples = read_all(settings)
        six = time.perf_counter() - started
    return {
        "import_seconds": round(seconds, 1),
        "import_peak_gb": round(peak, 2),
        "progress_steps": steps,
        "usage_rows": delivery.tables["usage"].num_rows if delivery else 0,
        "six_metrics_samples": samples,
        "six_metrics_seconds": round(six, 1),
        "six_metrics_peak_gb": round(peak_gb(), 2),
    }


def read_all(settings: dict[str, str]) -> int:
    """All six metrics, six hours at a time: every sample fetched and merged by board."""
    count = 0
    with Web.of(stanza(settings, ("url", "cluster"))) as web:
        spans = [Interval(start, start + PART_S) for start in range(WINDOW.start_s, WINDOW.end_s, PART_S)]
        for metric, span in product(DCGM, spans):
            count += sum(len(union([one], 1000)[0]) for one in Server(web).samples(select(metric), span))
    return count


def check(delivery: Delivery | None) -> None:
    """GPU-seconds are known before anything is read: each GPU is held from its first sample to the end of the day."""
    if delivery is None:
        raise SystemExit("nothing was delivered")
    rows = delivery.tables["usage"].to_pydict()
    held = sum(
        amount * (end - start)
        for meter, amount, start, end in zip(
            rows["meter"], rows["allocated"], rows["start_s"], rows["end_s"], strict=True
        )
        if meter == "gpu"
    )
    if held != GPUS * GPU * DAY_S:
        raise SystemExit(f"{held} GPU-seconds of {GPUS * GPU * DAY_S} arrived")
