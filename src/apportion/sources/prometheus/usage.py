"""Usage rows: what each pod held in each bucket, what it used of it, and what flowed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from apportion.model.meters import METERS
from apportion.model.rows import ADDED_LATER, USAGE, complete_columns
from apportion.model.times import Interval
from apportion.sources.prometheus.devices import FULL, Devices
from apportion.sources.prometheus.loose import Loose
from apportion.sources.prometheus.pods import Pod, Pods
from apportion.sources.prometheus.samples import NS, Buckets
from apportion.sources.prometheus.steps import Steps, clipped
from apportion.sources.prometheus.sums import Grown, Levels

MICRO = 1_000_000
GPUS = "gpu"


@dataclass
class Measured:
    """Of all pods: core-nanoseconds, byte-seconds of memory, bytes moved, Kepler's microjoules, and what the devices say."""

    buckets: Buckets
    devices: Devices
    cpu: Grown = field(init=False)
    memory: Levels = field(init=False)
    network: Grown = field(init=False)
    kepler: Grown = field(init=False)

    def __post_init__(self) -> None:
        self.cpu, self.network, self.kepler = (Grown.of(self.buckets) for _ in range(3))
        self.memory = Levels.of(self.buckets)


COUNTED = tuple(name for name in USAGE.names if name not in ADDED_LATER and name != "source")


@dataclass
class Rows:
    """The columns of the table, as they grow."""

    source: str
    columns: dict[str, list[object]] = field(default_factory=lambda: {name: [] for name in COUNTED})

    def add(self, *cells: object) -> None:
        """workload, meter, resource, start, end, allocated, used."""
        for name, cell in zip(COUNTED, cells, strict=True):
            self.columns[name].append(cell)

    def table(self) -> pa.Table:
        self.columns["source"] = [self.source] * len(self.columns["workload"])
        return complete_columns(pa.table(self.columns), USAGE).select(USAGE.names).cast(USAGE)


@dataclass
class Writer:
    rows: Rows
    measured: Measured
    held: dict[str, dict[str, Steps]]  # by pod and meter
    pods: Pods
    energy: tuple[str, ...]
    loose: Loose = field(init=False)
    containers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    boards: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # of which a pod's own share was measured

    def __post_init__(self) -> None:
        self.loose = Loose(self.measured.devices, self.held, self.pods)
        for levels, places in ((self.measured.memory, self.containers), (self.measured.devices.shares, self.boards)):
            for place in levels.covered.found:
                if isinstance(place, tuple):
                    places.setdefault(place[0], []).append(place)

    def pod(self, key: str, workload: str) -> None:
        pod = self.pods.found[key]
        held = dict(self.held.get(key, {}))
        for meter in ("cpu", "memory"):
            held.setdefault(meter, [(start, end, 0) for start, end, _ in pod.run])
        for number, span in self.spans(pod):
            ran = sum(end - start for start, end, _ in clipped(pod.run, span))
            pieces = [(meter, *step) for meter, steps in held.items() for step in clipped(steps, span)]
            for meter, start, end, amount in pieces:
                used = self.used(key, meter, number, ran, int(amount))
                if amount or used is not None:
                    self.rows.add(workload, meter, pod.node, start, end, int(amount), used)
        self.flows(key, pod, workload)

    def spans(self, pod: Pod) -> Iterator[tuple[int, Interval]]:
        """The buckets in which it ran."""
        numbers = {
            number
            for start, end, _ in pod.run
            for number in range(start // self.buckets.size, (end - 1) // self.buckets.size + 1)
        }
        for number in sorted(numbers):
            yield number - self.buckets.first, self.buckets.span(number - self.buckets.first)

    @property
    def buckets(self) -> Buckets:
        return self.measured.buckets

    def used(self, key: str, meter: str, bucket: int, ran: int, held: int) -> int | None:
        """The level that was used on average, in base units; None where nothing was measured."""
        if meter == "cpu":
            grown, told = self.measured.cpu.amount.get(key), self.measured.cpu.told.get(key)
            if grown is None or told is None or not told[bucket]:
                return None
            return rounded(int(grown[bucket]) * METERS["cpu"].base, ran * NS)
        if meter == "memory":
            amount, covered = together(self.measured.memory, self.containers.get(key, ()), bucket)
            return rounded(amount, covered) if covered else None
        if meter == GPUS and (own := self.own_share(key, bucket)) is not None:
            return own
        amount, covered = self.activity(key, meter, bucket)
        return rounded(held * amount, covered * FULL) if covered else None

    def own_share(self, key: str, bucket: int) -> int | None:
        """Of virtual GPUs what the pod itself used of its boards, whatever part of them it holds."""
        amount, covered = together(self.measured.devices.shares, self.boards.get(key, ()), bucket)
        return rounded(amount * METERS[GPUS].base, covered * FULL) if covered else None

    def activity(self, key: str, meter: str, bucket: int) -> tuple[int, int]:
        levels = self.measured.devices.activity.get(meter)
        covered = levels.covered.get(key) if levels else None
        if levels is None or covered is None or not covered[bucket]:
            return self.loose.activity(self.pods.found[key].node, bucket)
        return int(levels.amount.found[key][bucket]), int(covered[bucket])

    def flows(self, key: str, pod: Pod, workload: str) -> None:
        for meter, amounts, unit in (
            ("network", self.measured.network.amount.get(key), 1),
            ("energy", self.joules(key), MICRO),
        ):
            if amounts is None:
                continue
            for number in np.flatnonzero(amounts).tolist():
                amount = rounded(int(amounts[number]), unit)
                span = self.extent(pod, number)
                if amount:
                    self.rows.add(workload, meter, pod.node, span.start_s, span.end_s, amount, amount)

    def extent(self, pod: Pod, number: int) -> Interval:
        """Of a bucket the part in which it ran; all of it where it did not, as for what a counter told after the end."""
        span = self.buckets.span(number)
        ran = clipped(pod.run, span)
        return Interval(ran[0][0], ran[-1][1]) if ran else span

    def joules(self, key: str) -> np.ndarray | None:
        """Microjoules. In each bucket the first source that says anything; never two of them together."""
        devices = self.measured.devices
        sources = {
            "counter": (devices.counter.get(key), self.loose.energy(key)),
            "kepler": (self.measured.kepler.amount.get(key),),
            "power": (devices.power.get(key),),
        }
        total: np.ndarray | None = None
        for name in self.energy:
            for found in sources[name]:
                if found is not None:
                    total = found if total is None else np.where(total > 0, total, found)
        return total


def together(levels: Levels, places: Sequence[tuple[str, str]], bucket: int) -> tuple[int, int]:
    """All containers, or boards, of a pod over the seconds of the one that was seen longest."""
    covered = max((int(levels.covered.found[place][bucket]) for place in places), default=0)
    return sum(int(levels.amount.found[place][bucket]) for place in places), covered


def rounded(above: int, below: int) -> int:
    return (2 * above + below) // (2 * below)
