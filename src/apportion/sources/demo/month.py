"""The month itself: requests meet machines, and what the two schedulers' accounting would say about it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from apportion.model.meters import GPU
from apportion.model.times import Interval, instant_text
from apportion.sources.demo import shapes
from apportion.sources.demo.calendar import Calendar
from apportion.sources.demo.dice import Curve, Dice
from apportion.sources.demo.families import families
from apportion.sources.demo.fleet import MIG_LAYOUT, Node, build_fleet
from apportion.sources.demo.jobs import VERBS, Job, Requests, in_order
from apportion.sources.demo.organisation import CREWS, GENOMICS
from apportion.sources.demo.planting import BOARD_GIB, Planted, planted, planted_jobs, told
from apportion.sources.demo.schedule import Attempt, Queue, Shelf, Upset

RESERVED_NODES = 2
FIRST_JOB = 4_118_000
BASE_UNITS = {
    "h100": GPU,
    "a100": GPU,
    "l40s": GPU,
    "shared": GPU // 4,
    "mig": GPU // 7,
    "cpu": 1000,
}  # of one of the queue's units
KUBERNETES_QUEUES = {"l40s", "shared", "mig"}
MIG_PROFILES = {1: "nvidia.com/mig-1g.10gb", 2: "nvidia.com/mig-2g.20gb", 3: "nvidia.com/mig-3g.40gb"}


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt of a job or one pod, as accounting knows it. `start` may lie before the evidence window."""

    workload: str
    run: str
    name: str
    submit: int
    start: int
    end: int
    outcome: str
    labels: Mapping[str, str]
    kubernetes: bool


@dataclass(frozen=True, slots=True)
class Held:
    """What a workload held on one node; amounts in base units, `None` where nothing was measured; joules inside the window."""

    work: Work
    node: Node
    gpu: int
    gpu_used: int | None
    cpu: int
    cpu_used: int | None
    memory_gib: int
    joules: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A node's state over a stretch of time."""

    node: Node
    start: int
    end: int
    state: str


@dataclass(frozen=True, slots=True)
class Month:
    calendar: Calendar
    nodes: list[Node]
    works: list[Work]
    held: list[Held]
    standings: list[Standing]
    reserved: Interval
    reserved_nodes: list[Node]
    seed: int
    planted: Planted | None = None  # where waste was asked for

    @property
    def reservation_account(self) -> str:
        return CREWS[GENOMICS].account("folding")


def simulate(calendar: Calendar, seed: int, scale: Fraction, *, waste: bool = False) -> Month:
    nodes = build_fleet(scale)
    reserved = Interval(calendar.at(5, 8), calendar.at(24, 0))
    shelves = {name: shelves_of(name, nodes) for name in BASE_UNITS}
    held_nodes = shelves["h100"][-RESERVED_NODES:]
    for shelf in held_nodes:
        shelf.holder, shelf.reserved = CREWS[GENOMICS].team, reserved
    outage = Upset(calendar.at(14, 2, 20), 0, calendar.at(15, 8, 40), "node_fail")
    drain = Upset(calendar.at(20, 9), 6 * 3600, calendar.at(22, 17), "preempted")
    requests = Requests(calendar, seed, scale, widest=len(shelves["h100"]) - RESERVED_NODES - 2)
    jobs = (
        in_order(told([*requests.all(), *planted_jobs(requests), *families(requests)], seed))
        if waste
        else requests.all()
    )
    upsets = {"h100": [outage], "a100": [drain]}
    attempts: list[Attempt] = []
    for name, found in shelves.items():
        queue = Queue(
            found,
            [job for job in jobs if job.queue == name],
            upsets.get(name, []),
            calendar.month.end_s,
            exact=name == "mig",
        )
        attempts += queue.run()
    window = calendar.window
    attempts = sorted(
        (a for a in attempts if a.end > window.start_s),
        key=lambda attempt: (attempt.start, attempt.job.serial, attempt.number),
    )
    works, held = account(attempts, jobs, window, seed)
    standings = list(standings_of(nodes, window, outage, drain, attempts))
    ids = [(attempt, work.workload) for attempt, work in zip(attempts, works, strict=True)]
    known = planted(calendar, ids, seed) if waste else None
    return Month(calendar, nodes, works, held, standings, reserved, [shelf.node for shelf in held_nodes], seed, known)


def shelves_of(queue: str, nodes: list[Node]) -> list[Shelf]:
    sharing = {"mig": "mig", "shared": "time-slicing"}.get(queue, "")
    group = {"mig": "a100", "shared": "l40s"}.get(queue, queue)
    found = []
    for node in nodes:
        if node.group.name != group or node.sharing != sharing:
            continue
        if queue == "mig":
            found += [Shelf(node, board, size, size) for board in range(node.group.gpus) for size in MIG_LAYOUT]
        elif queue == "shared":
            found += [Shelf(node, board, 4, 4) for board in range(node.group.gpus)]
        else:
            size = node.group.gpus or node.group.cores
            found.append(Shelf(node, -1, size, size))
    return found


def account(attempts: list[Attempt], jobs: list[Job], window: Interval, seed: int) -> tuple[list[Work], list[Held]]:
    """What sacct and the cluster's monitoring would report, attempt by attempt."""
    numbers: dict[str, int] = {}
    for job in jobs:
        numbers.setdefault(job.run, FIRST_JOB + len(numbers))
    dice = Dice(seed, "measured")
    works, held = [], []
    for attempt in attempts:
        work = work_of(attempt, numbers[attempt.job.run])
        works.append(work)
        measured = measure(attempt, dice)
        for shelf in attempt.shelves:
            metered = work.end - max(work.start, window.start_s)
            held.append(Held(work, shelf.node, *measured, joules(attempt.job, measured, metered)))
    return works, held


def work_of(attempt: Attempt, number: int) -> Work:
    job = attempt.job
    name = f"{VERBS[job.phase]}-{job.project}"
    again = f".r{attempt.number}" if attempt.number else ""
    if job.queue in KUBERNETES_QUEUES:
        namespace = job.crew.team + ("-dev" if job.phase == "interactive" else "") if job.labelled else "default"
        run = f"{namespace}/{name}-{number - FIRST_JOB:05x}"
        workload = f"{run}-{job.task or 0}{again.replace('.', '-')}"
        labels = pod_labels(job, namespace, attempt.shelves[0].board)
    else:
        run = str(number)
        workload = (f"{run}_{job.task}" if job.task else run) + again
        labels = slurm_labels(job)
    return Work(
        workload,
        run,
        name,
        attempt.submit,
        attempt.start,
        attempt.end,
        attempt.outcome,
        labels,
        job.queue in KUBERNETES_QUEUES,
    )


def slurm_labels(job: Job) -> dict[str, str]:
    labels = {
        "slurm.cluster": "atlas",
        "slurm.user": job.user,
        "slurm.partition": job.queue,
        "slurm.qos": "preemptible" if job.preemptible else "normal",
    }
    if job.labelled:
        labels |= {"slurm.account": job.crew.account(job.project), "slurm.wckey": job.project}
    if job.queue != "cpu":
        labels["slurm.comment"] = f"framework={'torch' if job.torch else 'jax'}"
    return labels | written(job, "slurm.comment")


def pod_labels(job: Job, namespace: str, board: int) -> dict[str, str]:
    labels = {"k8s.cluster": "orbit", "k8s.namespace": namespace, "k8s.resource": "nvidia.com/gpu"}
    if job.labelled:
        labels |= {"k8s.label.user": job.user, "k8s.label.project": job.project}
    if job.phase in {"training", "tuning"}:
        labels["k8s.label.trainer.kubeflow.org/trainjob-ancestor-step"] = "trainer"
        labels["k8s.label.trainer.kubeflow.org/framework"] = "torch" if job.torch else "jax"
    if job.phase == "inference":
        labels["k8s.label.serving.kserve.io/inferenceservice"] = f"serve-{job.project}"
    if job.queue == "mig":
        labels["k8s.resource"] = MIG_PROFILES[job.amount]
    if job.queue == "shared":
        labels["k8s.resource"] = "nvidia.com/gpu.shared"
    if board >= 0:
        labels["gpu.board"] = str(board)
    return labels | written(job, "k8s.label")


def written(job: Job, prefix: str) -> dict[str, str]:
    """What people and their tools write down of a run, in months that say more than the demo's own."""
    found = {f"{prefix}.config": job.config, f"{prefix}.experiment": job.experiment}
    if job.needed:
        found[f"{prefix}.needed_by"] = instant_text(job.needed)
    if job.memory is not None:
        found["gpu_memory_gib"] = str(BOARD_GIB[job.queue] * job.memory // 1000)
    return {key: text for key, text in found.items() if text}


def measure(attempt: Attempt, dice: Dice) -> tuple[int, int | None, int, int | None, int]:
    """gpu, gpu used, cpu, cpu used, GiB of memory on each node. Used amounts are whole thousandths of a GPU or core."""
    job = attempt.job
    if job.queue == "cpu":
        busy = dice.on_curve(shapes.BUSY_CPU_JOB)
        return (
            0,
            None,
            job.amount * 1000,
            None if dice.happens(20) else job.amount * busy,
            job.amount * dice.between(1, 4),
        )
    gpu = job.amount * BASE_UNITS[job.queue]
    busy = dice.on_curve(busy_curve(job))
    unseen = dice.happens(
        {"shared": 600, "mig": 150}.get(job.queue, 30)
    )  # time-sliced boards are rarely told apart by pod
    used = None if unseen else gpu * busy // 1000 // 504 * 504
    if job.queue not in KUBERNETES_QUEUES:
        return gpu, used, 0, None, 0
    cpu = max(100, dice.on_curve(shapes.CORES_PER_GPU) * gpu // GPU // 100 * 100)
    cpu_used = None if dice.happens(50) else cpu * dice.on_curve(shapes.BUSY_HOST) // 1000
    return gpu, used, cpu, cpu_used, 1 + cpu * 37 // 10_000


def busy_curve(job: Job) -> Curve:
    if job.phase in {"inference", "interactive"}:
        return shapes.BUSY_SERVING
    return shapes.BUSY_LARGE if job.nodes * job.amount >= 8 else shapes.BUSY_SMALL


def joules(job: Job, measured: tuple[int, int | None, int, int | None, int], seconds: int) -> int:
    """Of one node's part: boards between rest and busy, and the host's share; nothing finer is claimed."""
    gpu, used, cpu, _, _ = measured
    if not gpu:
        return cpu // 1000 * shapes.PER_CORE * seconds
    busy = shapes.BUSY_BOARD[{"shared": "l40s", "mig": "a100"}.get(job.queue, job.queue)]
    active = gpu // 2 if used is None else used
    return (
        (gpu * (shapes.BOARD_AT_REST + shapes.HOST_PER_BOARD) + active * (busy - shapes.BOARD_AT_REST)) * seconds // GPU
    )


def standings_of(
    nodes: list[Node], window: Interval, outage: Upset, drain: Upset, attempts: list[Attempt]
) -> Iterator[Standing]:
    """Up, except the failed node until it has started again, and the drained one once its last job has left."""
    broken = outage.shelf.node if outage.shelf else None
    resting = drain.shelf.node if drain.shelf else None
    for node in nodes:
        cuts = [(window.start_s, "up")]
        if node is broken:
            cuts += [(outage.at, "down"), (outage.until - 1500, "starting"), (outage.until, "up")]
        if node is resting:
            last = max(
                (
                    a.end
                    for a in attempts
                    if a.start < drain.at < a.end and any(shelf.node is node for shelf in a.shelves)
                ),
                default=drain.at,
            )
            cuts += [(last, "drained"), (drain.until, "up")]
        ends = [*(start for start, _ in cuts[1:]), window.end_s]
        for (start, state), end in zip(cuts, ends, strict=True):
            yield Standing(node, start, end, state)
