"""A made-up cluster from a seed: its schedule, and what follows from it. The schedule is the truth; nothing here looks at what an import found.

Pods start and end at multiples of the scrape interval after midnight, and none inside the gap in which Prometheus was down, since nobody could tell.
"""

import random
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

HOURS = 26
IDLE_WATTS = 75
WEIGHTS = {"3g.40gb": Fraction(3, 7), "2g.20gb": Fraction(2, 7), "1g.10gb": Fraction(1, 7)}


@dataclass(frozen=True)
class Place:
    """A board, or a part of one, as an exporter's row names it."""

    board: str
    instance: str = ""
    profile: str = ""
    virtual: str = ""
    claim: str = ""

    @property
    def weight(self) -> Fraction:
        return WEIGHTS.get(self.profile, Fraction(1))


@dataclass(frozen=True)
class Pod:
    namespace: str
    name: str
    uid: str
    node: str
    start: int
    end: int
    places: tuple[Place, ...] = ()
    resource: str = ""  # as kube-state-metrics spells it
    count: int = 0
    gpus: Fraction = Fraction(0)  # what it holds of boards
    cores: int = 1
    millicores_used: int = 500
    memory: int = 2**30
    memory_used: int = 2**29
    bytes_per_s: int = 1000
    watts: int = 100
    waits: int = 0
    lingers: int = 0
    phase_after: str = "Succeeded"
    restart: int = 0  # when its container was started anew
    labels: tuple[tuple[str, str], ...] = ()
    first: bool = False  # on its node: nobody can tell whether its counters began at 0
    pod_cores: int = 0  # what the scheduler counts, where it says more than the containers

    @property
    def run_s(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class Node:
    name: str
    boards: tuple[str, ...] = ()
    offers: tuple[tuple[str, int], ...] = ()
    gpus: int = 0
    labels: tuple[tuple[str, str], ...] = ()
    down: tuple[int, int] = (0, 0)
    cordoned: tuple[int, int] = (0, 0)
    reboot: int = 0


@dataclass
class World:
    seed: int
    cluster: str
    step: int
    start: int
    gap: tuple[int, int] = (0, 0)
    moved: int = 0  # when kube-state-metrics got another address
    offsets: dict[str, int] = field(default_factory=dict)
    pods: list[Pod] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    volumes: list[tuple[str, str, int, int, int]] = field(default_factory=list)  # namespace, claim, bytes, from, until

    known: dict[str, list[tuple[Pod, Place]]] = field(default_factory=dict, repr=False)

    @property
    def end(self) -> int:
        return self.start + HOURS * 3600

    def ticks(self, target: str, start: int, end: int) -> list[int]:
        """When a target was scraped in `[start, end)`."""
        first = start + (self.start + self.offsets[target] - start) % self.step
        return [at for at in range(first, end, self.step) if not self.gap[0] <= at < self.gap[1]]

    def sharers(self, board: str, at: int) -> list[tuple[Pod, Place]]:
        return [(pod, place) for pod, place in self.held(board) if pod.start <= at < pod.end]

    def held(self, board: str) -> list[tuple[Pod, Place]]:
        """Whoever is ever on a board."""
        if not self.known:
            for pod in self.pods:
                for place in pod.places:
                    self.known.setdefault(place.board, []).append((pod, place))
        return self.known.get(board, [])

    def watts(self, board: str, at: int) -> int:
        return IDLE_WATTS + sum(pod.watts for pod in {pod for pod, _ in self.sharers(board, at)})

    def joules(self, board: str, start: int, end: int) -> int:
        """Milli-joules of a board in a span."""
        bounds = {start, end}
        for pod, _ in self.held(board):
            bounds |= {at for at in (pod.start, pod.end) if start < at < end}
        points = sorted(bounds)
        return sum(self.watts(board, a) * (b - a) * 1000 for a, b in pairwise(points))

    def energy(self) -> dict[str, Fraction]:
        """Milli-joules by pod: what its boards took up to each scrape at which it was there, shared with whoever else was."""
        found: dict[str, Fraction] = {}
        ticks = list(pairwise(self.ticks("dcgm", self.start, self.end)))
        for node, board in [(each, board) for each in self.nodes for board in each.boards]:
            for before, at in ticks:
                since = node.reboot if before < node.reboot <= at else before
                there = self.sharers(board, at)
                total = sum(place.weight for _, place in there)
                for pod, place in there:
                    share = self.joules(board, since, at) * place.weight / total
                    found[pod.uid] = found.get(pod.uid, Fraction(0)) + share
        return found

    def last_tick(self, target: str, pod: Pod) -> int:
        return self.ticks(target, pod.start, pod.end)[-1]

    def counted_from(self, pod: Pod) -> int:
        return self.ticks("cadvisor", pod.start, pod.end)[0] if pod.first else pod.start

    def moved_bytes(self, pod: Pod) -> int:
        return pod.bytes_per_s * (self.last_tick("cadvisor", pod) - self.counted_from(pod))

    def core_ms(self, pod: Pod) -> int:
        """Milli-core-seconds that its counters tell, from the start of each container to its last scrape."""
        last = self.last_tick("cadvisor", pod)
        if not pod.restart:
            return pod.millicores_used * (last - self.counted_from(pod))
        before = self.ticks("cadvisor", pod.start, pod.restart)[-1]
        return pod.millicores_used * (before - self.counted_from(pod) + last - pod.restart)


def make_world(seed: int, cluster: str = "") -> World:
    chance = random.Random(seed)
    step = chance.choice([60, 120])
    start = 1_790_812_800 + 86_400 * chance.randrange(20)
    world = World(seed, cluster or f"w{seed}", step, start)
    world.offsets = {
        name: chance.randrange(step) for name in ("ksm", "dcgm", "cadvisor", "kubelet", "scheduler", "kepler")
    }
    outage = start + 3600 * chance.randrange(3, 22) + chance.randrange(3600)
    world.gap = (outage, outage + chance.randrange(5 * step, 1500))
    world.moved = start + 3600 * chance.randrange(4, 20) + chance.randrange(3600)
    makers = (exclusive, sliced, replicated, claimed, plain)
    for number, make in enumerate(makers):
        make(world, chance, f"node-{number}")
        daemon(world, chance, f"node-{number}")
    world.pods.append(
        Pod(
            "team-0",
            "too-big",
            "uid-too-big",
            "",
            start + 3600,
            start + 3600,
            resource="nvidia_com_gpu",
            count=8,
            waits=7200,
            phase_after="",
        )
    )
    for number in range(3):
        first = moment(world, start + step * chance.randrange(10, 600))
        world.volumes.append(
            (f"team-{number}", f"data-{number}", 2**30 * chance.randrange(1, 5000), first, world.end - 2 * step)
        )
    return world


def moment(world: World, at: int) -> int:
    """The time, or the first after the outage where nobody was looking."""
    step = world.step
    if not world.gap[0] - 2 * step <= at < world.gap[1] + 2 * step:
        return at
    later = world.gap[1] + 2 * step - world.start
    return world.start + -(-later // step) * step


def chain(world: World, chance: random.Random, idle: bool = True) -> list[tuple[int, int]]:
    """Runs one after the other that fit into the world."""
    step, found = world.step, []
    at = world.start + 4 * step
    last = world.end - 4 * step
    while True:
        start = moment(world, at + step * (chance.randrange(1, 90) if idle else 1))
        end = moment(world, start + step * chance.choice([1, 2, 7, 50, 200, 700, 1500]))
        if end > last or start >= last:
            break
        if end > start:
            found.append((start, end))
        at = end
    return found


def named(chance: random.Random, group: str, number: int) -> str:
    """Every third name comes back for another pod."""
    return f"{group}-{number - (1 if number % 3 == 2 else 0)}"


def details(world: World, chance: random.Random, start: int, end: int) -> dict[str, object]:
    step = world.step
    found: dict[str, object] = {}
    if end - start > 20 * step and chance.random() < 0.4:
        restart = moment(world, start + step * chance.randrange(5, (end - start) // step - 5))
        if start + 3 * step < restart < end - 3 * step:
            found["restart"] = restart
    found["lingers"] = chance.choice([0, 0, step * 30])
    found["phase_after"] = chance.choice(["Succeeded", "Failed"])
    found["cores"] = chance.randrange(1, 64)
    found["millicores_used"] = chance.randrange(1, 60_000)
    found["memory"] = chance.randrange(2**20, 2**40)
    found["memory_used"] = chance.randrange(2**20, 2**40)
    found["bytes_per_s"] = chance.randrange(1, 10**9)
    found["watts"] = chance.randrange(1, 700)
    return found


def add(world: World, chance: random.Random, pod: tuple[str, str, str], span: tuple[int, int], **more: object) -> None:
    namespace, name, node = pod
    same = [other for other in world.pods if (other.namespace, other.name) == (namespace, name)]
    facts = details(world, chance, *span)
    if same and span[0] < same[-1].end + same[-1].lingers + 2 * world.step:
        name = f"{name}-x{len(world.pods)}"  # one of that name is still there
    uid = f"{chance.getrandbits(32):08x}-0000-4000-8000-{len(world.pods):012x}"
    world.pods.append(Pod(namespace, name, uid, node, *span, **{**facts, **more}))  # type: ignore[arg-type]


def exclusive(world: World, chance: random.Random, node: str) -> None:
    boards = tuple(f"GPU-{node}-{number}" for number in range(8))
    reboot = world.ticks("dcgm", world.start, moment(world, world.start + 3600 * 9 + 600))[-1] + 1
    labels = (("nvidia_com_gpu_product", "NVIDIA-H100-80GB-HBM3"), ("nvidia_com_gpu_sharing_strategy", "none"))
    world.nodes.append(Node(node, boards, (("nvidia_com_gpu", 8),), 8, labels, reboot=reboot))
    for group, mine in enumerate((boards[:4], boards[4:7], boards[7:])):
        for number, span in enumerate(chain(world, chance)):
            ml = (("jobset_sigs_k8s_io_jobset_name", f"train-{group}"), ("team", f"team-{group}"))
            add(
                world, chance, (f"team-{group}", named(chance, f"train-{group}", number), node), span,
                places=tuple(Place(board) for board in mine), resource="nvidia_com_gpu", count=len(mine), gpus=Fraction(len(mine)), labels=ml,
            )  # fmt: skip


def sliced(world: World, chance: random.Random, node: str) -> None:
    board = f"GPU-{node}-0"
    parts = (("1", "3g.40gb"), ("5", "2g.20gb"), ("9", "1g.10gb"))
    offers = tuple((f"nvidia_com_mig_{profile.replace('.', '_')}", 1) for _, profile in parts)
    world.nodes.append(Node(node, (board,), offers, 1, (("nvidia_com_mig_strategy", "mixed"),)))
    for instance, profile in parts:
        for number, span in enumerate(chain(world, chance)):
            add(
                world, chance, ("slices", named(chance, f"mig-{instance}", number), node), span,
                places=(Place(board, instance, profile),), resource=f"nvidia_com_mig_{profile.replace('.', '_')}", count=1,
                gpus=WEIGHTS[profile],
            )  # fmt: skip


def replicated(world: World, chance: random.Random, node: str) -> None:
    board, replicas = f"GPU-{node}-0", chance.choice([2, 3, 4, 8])
    resource = chance.choice(["nvidia_com_gpu", "nvidia_com_gpu_shared"])
    strategy = chance.choice(["time-slicing", "mps"])
    labels = (("nvidia_com_gpu_sharing_strategy", strategy), ("nvidia_com_gpu_replicas", str(replicas)))
    world.nodes.append(Node(node, (board,), ((resource, replicas),), 1, labels))
    for slot in range(replicas):
        for number, span in enumerate(chain(world, chance)):
            add(
                world, chance, ("notebooks", named(chance, f"nb-{slot}", number), node), span,
                places=(Place(board, virtual=str(slot)),), resource=resource, count=1, gpus=Fraction(1, replicas),
            )  # fmt: skip


def claimed(world: World, chance: random.Random, node: str) -> None:
    boards = tuple(f"GPU-{node}-{number}" for number in range(3))
    world.nodes.append(Node(node, boards, (), 0))
    for number, span in enumerate(chain(world, chance)):
        places = tuple(Place(board, claim=f"claim-{number}") for board in boards[:2])
        add(world, chance, ("claims", named(chance, "dra", number), node), span, places=places, gpus=Fraction(2))
    for number, span in enumerate(chain(world, chance)[:3]):
        for half in range(2):  # one board, two pods at once
            places = (Place(boards[2], claim=f"common-{number}"),)
            add(world, chance, ("claims", f"half-{half}-{number}", node), span, places=places, gpus=Fraction(1, 2))


def daemon(world: World, chance: random.Random, node: str) -> None:
    """What runs on every node all the time, so that its exporter always has something to tell."""
    span = (world.start + 4 * world.step, world.end - 4 * world.step)
    add(world, chance, ("kube-system", f"proxy-{node}", node), span, first=True)


def plain(world: World, chance: random.Random, node: str) -> None:
    step = world.step
    down, later = sorted(moment(world, world.start + step * chance.randrange(100, 500)) for _ in range(2))
    over = moment(world, down + 20 * step)
    begin = moment(world, max(over, later) + 30 * step)
    spell = (begin, moment(world, begin + 40 * step))
    world.nodes.append(
        Node(
            node,
            (),
            (),
            0,
            (("topology_kubernetes_io_zone", "a"),),
            down=(down, over),
            cordoned=spell,
        )
    )
    for number, span in enumerate(chain(world, chance)):
        add(world, chance, ("plain", named(chance, "cpu", number), node), span, pod_cores=99 if number == 1 else 0)
