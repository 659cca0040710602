"""What exporters measure of accelerators: activity and joules, by the pods that hold them.

A board's value stands on the row of each of its sharers (MIG instances, time-slices), so it is taken once for each board and second and then
shared: by slices of MIG, else evenly.

Of virtual GPUs (rows with `vgpu`) dcgm-exporter says utilisation in two ways. Until 2026-03 each pod's row is a copy of the board's value, and the board
has no row of its own while pods are on it. Since then a pod's row is the pod's own share of the whole board, beside a row of the board alone: so a sample
that has such a row beside it is a share.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from apportion.errors import InputError
from apportion.model.accelerators import Exporter
from apportion.model.gpus import WHOLE, share_of
from apportion.model.meters import GPU
from apportion.sources.live import Progress
from apportion.sources.prometheus.gaps import Gaps
from apportion.sources.prometheus.nodes import Node, Nodes
from apportion.sources.prometheus.pods import Pods
from apportion.sources.prometheus.reading import Part, Reading
from apportion.sources.prometheus.samples import Buckets, Series, growth, hold, union
from apportion.sources.prometheus.selectors import select
from apportion.sources.prometheus.spelling import workload_of
from apportion.sources.prometheus.sums import Levels, Sums

FULL = 1_000_000  # activity is counted in millionths, power in microwatts, energy in microjoules
INSTANCE, PROFILES = "GPU_I_ID", ("GPU_I_PROFILE", "dra_mig_profile")
CLAIM, VIRTUAL = "dra_claim_name", "vgpu"


@dataclass
class Devices:
    """`loose` is what boards did of which nobody says who shares them, by node."""

    buckets: Buckets
    activity: dict[str, Levels] = field(default_factory=dict)  # by meter
    shares: Levels = field(init=False)  # of whole boards, by pod and board
    counter: Sums = field(init=False)
    power: Sums = field(init=False)
    loose_activity: Levels = field(init=False)
    loose_energy: Sums = field(init=False)
    claims: dict[str, dict[tuple[str, str], Fraction]] = field(default_factory=dict)  # boards that pods hold by DRA
    models: dict[str, str] = field(default_factory=dict)
    energies: set[str] = field(default_factory=set)  # boards whose counter was seen
    boards: set[str] = field(default_factory=set)
    has_virtual: bool = False  # some rows are of virtual GPUs, of which another metric may know the pods' own shares

    def __post_init__(self) -> None:
        self.counter, self.power, self.loose_energy = Sums(self.buckets), Sums(self.buckets), Sums(self.buckets)
        self.loose_activity, self.shares = Levels.of(self.buckets), Levels.of(self.buckets)


@dataclass(frozen=True, slots=True)
class Row:
    """One series of a device, with the pod that it names."""

    series: Series
    workload: tuple[str, str] | None
    weight: int


@dataclass(frozen=True, slots=True)
class Seen:
    """All rows of one board."""

    board: str
    node: str
    rows: list[Row]

    def board_times(self) -> np.ndarray:
        """The seconds at which the board has a row of its own."""
        alone = [row.series for row in self.rows if not row.workload and not row.series.labels.get(INSTANCE)]
        return union(alone)[0] if alone else np.array([], np.int64)

    def is_loose(self, node: Node | None) -> bool:
        """Replicas of a board, and an exporter that names one of their pods at most."""
        return bool(node and node.is_shared) and not any(row.series.labels.get(VIRTUAL) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Gauge:
    """Series that say one thing of a pod, and the levels to which they are added."""

    pod: str
    place: Hashable
    series: list[Series]
    levels: Levels


@dataclass
class Watch:
    """Reads an exporter's metrics into `devices`."""

    reading: Reading
    pods: Pods
    nodes: Nodes
    devices: Devices
    gaps: Gaps

    def used(self, exporter: Exporter, metric: str) -> Iterator[Progress]:
        """Activity of the rows that name a pod; where the pod was measured already by a better metric, that one stays."""
        full = exporter.used[metric]
        found = self.devices.activity.setdefault(exporter.meter, Levels.of(self.devices.buckets))
        mine = Levels.of(self.devices.buckets)
        for part in self.reading.parts(select(metric), exporter.board[0]):
            if isinstance(part, Progress):
                yield part
                continue
            for seen in boards(part, exporter):
                self.note(seen, exporter)
                self.activity(seen, part, FULL // full, mine, metric)
        for key, covered in mine.covered.found.items():
            missing = np.where(found.covered.found.get(key, np.zeros_like(covered)) == 0, 1, 0)
            ours = found.covered.found.setdefault(key, np.zeros_like(covered))
            amounts = found.amount.found.setdefault(key, np.zeros_like(covered))
            ours += covered * missing
            amounts += mine.amount.found[key] * missing

    def activity(self, seen: Seen, part: Part, scale: int, into: Levels, metric: str) -> None:
        step, pad = part.step(seen.rows[0].series), self.reading.how.pad_s
        if seen.is_loose(self.nodes.found.get(seen.node)):
            held = hold(*union([row.series for row in seen.rows], scale), step, pad)
            self.devices.loose_activity.add(seen.node, part.buckets, (held.start, held.end), held.values)
            return
        for gauge in self.gauges(seen, into):
            times, values = union(gauge.series, scale)
            if len(times):
                held = hold(times, np.minimum(values, FULL), step, pad)
                self.gaps.note(metric, held, self.pods.found[gauge.pod].shown)
                gauge.levels.add(gauge.place, part.buckets, (held.start, held.end), held.values)

    def gauges(self, seen: Seen, into: Levels) -> Iterator[Gauge]:
        """Of each row its samples that are the board's value, and of each pod those that are its own share of it."""
        board_times, shares = seen.board_times(), dict[str, list[Series]]()
        for row in seen.rows:
            for key, mine in self.owners(row):
                own = np.isin(mine.times, board_times) & bool(row.series.labels.get(VIRTUAL))
                yield Gauge(key, key, [Series(mine.labels, mine.times[~own], mine.values[~own])], into)
                shares.setdefault(key, []).append(Series(mine.labels, mine.times[own], mine.values[own]))
        for key, series in shares.items():  # a pod with several replicas of the board has its share on the row of each
            yield Gauge(key, (key, seen.board), series, self.devices.shares)

    def energy(self, exporter: Exporter, metric: str, *, power: bool) -> Iterator[Progress]:
        """Microjoules of boards, shared among the pods on them: a counter's growth, or power times the seconds that it stood."""
        unit = (exporter.power if power else exporter.energy)[metric]
        scale = int(unit * FULL)
        for part in self.reading.parts(select(metric), exporter.board[0]):
            if isinstance(part, Progress):
                yield part
                continue
            for seen in boards(part, exporter):
                self.note(seen, exporter)
                times, values = union([row.series for row in seen.rows], scale)
                if not len(times) or (power and seen.board in self.devices.energies):
                    continue
                if power:
                    held = hold(times, values, part.step(seen.rows[0].series), self.reading.how.pad_s)
                    which, bucket, seconds = part.buckets.cut(held.start, held.end)
                    self.shared(seen, part, times, (which, bucket, values[which] * seconds), self.devices.power)
                else:
                    self.devices.energies.add(seen.board)
                    grown = growth(times, values, self.reading.how.pad_s, born=False)
                    every = (np.arange(len(times)), part.buckets.of(times), grown)
                    self.shared(seen, part, times, every, self.devices.counter)

    def shared(
        self,
        seen: Seen,
        part: Part,
        times: np.ndarray,
        amounts: tuple[np.ndarray, np.ndarray, np.ndarray],
        into: Sums,
    ) -> None:
        """Amounts are of the samples `which`, in a bucket; whoever has a row at that second has a share."""
        which, bucket, joules = amounts
        if seen.is_loose(self.nodes.found.get(seen.node)):
            self.devices.loose_energy.add(seen.node, part.buckets, bucket, joules)
            return
        weights: dict[str, np.ndarray] = {}
        for row in seen.rows:
            for key, mine in self.owners(row):
                there = np.isin(times, mine.times)
                mine_weights = weights.setdefault(key, np.zeros(len(times), np.int64))
                mine_weights += there * row.weight
        if not weights:
            return
        total = np.maximum(np.sum(list(weights.values()), axis=0), 1)[which]
        whole, rest = joules // total, joules % total
        for key, weight in weights.items():
            mine_weight = weight[which]
            into.add(key, part.buckets, bucket, whole * mine_weight + rest * mine_weight // total)

    def owners(self, row: Row) -> list[tuple[str, Series]]:
        return self.pods.owner_of(row.series) if row.workload else []

    def note(self, seen: Seen, exporter: Exporter) -> None:
        """Which boards there are, where, of which model, and which are held by a claim."""
        self.devices.boards.add(seen.board)
        node = self.nodes.found.get(seen.node)
        told = (text for name in exporter.model if (text := seen.rows[0].series.labels.get(name)))
        model = next(told, "").replace(" ", "-")  # as nodes' labels spell it
        if node is not None:
            node.boards.add(seen.board)
            node.model = node.model or model
        for row in seen.rows:
            self.devices.has_virtual |= bool(row.series.labels.get(VIRTUAL))
            for key, _ in self.owners(row):
                self.devices.models.setdefault(key, model)
                if row.series.labels.get(CLAIM):
                    place = (seen.board, row.series.labels.get(INSTANCE, ""))
                    self.devices.claims.setdefault(key, {})[place] = Fraction(row.weight, GPU)


def boards(part: Part, exporter: Exporter) -> Iterator[Seen]:
    together: dict[str, list[Row]] = {}
    places: dict[str, str] = {}
    for one in part.series:
        node = first(one, exporter.node)
        board = first(one, exporter.board) or "?"
        name = board if len(board) > 8 else f"{node}/{board}"  # an index is only known on its node
        places[name] = node
        together.setdefault(name, []).append(Row(one, workload_of(one.labels), weight_of(one)))
    for name, rows in together.items():
        yield Seen(name, places[name], rows)


def first(one: Series, names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := one.labels.get(name))), "")


def weight_of(one: Series) -> int:
    """Base units of a board that the row speaks of: of MIG what its profile has, else all."""
    profile = first(one, PROFILES)
    try:
        return int(GPU * share_of(profile.casefold(), WHOLE)) if profile else GPU
    except InputError:
        return GPU
