"""What people ask for: every request of the month with its size, its length and how it would end, before any machine is given to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from apportion.sources.demo import shapes
from apportion.sources.demo.calendar import BURST_DAYS, WARM_UP_S, Calendar
from apportion.sources.demo.dice import Curve, Dice, running
from apportion.sources.demo.organisation import CREWS, GENOMICS, PLATFORM, VISION, Crew

Size = tuple[int, int, Curve]  # nodes, amount on each, the curve of its run times
WHOLE_NODE: Final = 8
ARRAYED: Final = {"tuning", "data"}
LIMIT_S: Final = {
    "h100": 7 * 86_400,
    "a100": 10 * 86_400,
    "cpu": 3 * 86_400,
}  # the partitions' time limits; pods have none
UNLABELLED = 80  # per mille of small requests name no account: our own choice
BURST = 4  # times as many requests in the week before the deadline


@dataclass(slots=True)
class Job:
    """One request. `plan` is what is still to run: seconds and how each attempt would end if nothing came between."""

    run: str
    task: str  # of an array or a set of pods; "" where it is the only one
    queue: str
    submit: int
    nodes: int
    amount: int  # of the queue's unit, on each node
    plan: list[tuple[int, str]]
    crew: Crew
    project: str
    user: str
    phase: str
    torch: bool
    preemptible: bool
    labelled: bool
    inside: bool = False  # submitted to its team's reservation, so it runs there only
    attempt: int = 0
    serial: int = 0
    course: str = ""  # how its boards are used, where somebody planted it
    waste: str = ""  # of which kind it is; no row of evidence says so
    config: str = ""  # a fingerprint of all its arguments, where people write one
    experiment: str = ""  # what runs that differ in an argument share
    memory: int | None = None  # per mille of a board's, at most; None where nobody looked
    needed: int = 0  # when its result is needed; 0 where nobody says
    is_family: bool = False  # of runs planted together


@dataclass(frozen=True, slots=True)
class Stream:
    """A kind of work that arrives by the thousand. `teams` are weights in the order of CREWS; `phases` are weights of words."""

    queue: str
    count: int  # requests in the evidence window at full scale
    teams: tuple[int, ...]
    phases: tuple[tuple[int, str], ...]
    ends: tuple[tuple[int, str, int], ...]
    most_tasks: int  # of one array or set of pods


STREAMS: Final = {
    "h100": Stream(
        "h100",
        8900,
        (30, 13, 8, 20, 11, 9, 8, 1),
        ((2, "training"), (63, "tuning"), (35, "evaluation")),
        shapes.GPU_ENDS,
        48,
    ),
    "a100": Stream(
        "a100",
        5600,
        (12, 27, 13, 14, 8, 14, 10, 2),
        ((2, "training"), (63, "tuning"), (35, "evaluation")),
        shapes.GPU_ENDS,
        48,
    ),
    "l40s": Stream(
        "l40s",
        11000,
        (6, 16, 14, 26, 4, 8, 22, 4),
        ((40, "training"), (20, "tuning"), (40, "evaluation")),
        shapes.POD_ENDS,
        4,
    ),
    "shared": Stream(
        "shared", 7800, (10, 15, 12, 20, 8, 12, 16, 7), ((70, "evaluation"), (30, "interactive")), shapes.POD_ENDS, 1
    ),
    "mig": Stream("mig", 4600, (16, 15, 12, 18, 14, 10, 13, 2), ((100, "interactive"),), shapes.NOTEBOOK_ENDS, 1),
    "cpu": Stream("cpu", 10400, (18, 14, 12, 24, 14, 8, 8, 2), ((100, "data"),), shapes.CPU_ENDS, 24),
}
LARGE_TEAMS: Final = (
    34,
    18,
    8,
    14,
    10,
    9,
    6,
    1,
)  # who asks for several GPUs at once: Philly's virtual clusters, by GPU time
VERBS: Final = {
    "training": "train",
    "tuning": "sweep",
    "evaluation": "eval",
    "interactive": "notebook",
    "data": "prepare",
    "inference": "serve",
}
CORES: Final = ((15, 4), (25, 8), (45, 16), (12, 32), (3, 64))  # of CPU jobs: our own choice around LISA's 16
SERVICES: Final = (
    (3, 2),
    (1, 1),
    (6, 3),
    (3, 1),
    (6, 2),
    (2, 1),
    (3, 1),
    (6, 1),
)  # (team, replicas) of the endpoints served all month


class Arrivals:
    """Moments of submission: busy afternoons, quiet nights and week-ends, and one team's week before a deadline."""

    def __init__(self, calendar: Calendar) -> None:
        self.first = calendar.warm_up_s
        usual, burst = [], []
        for hour in range(self.first, calendar.month.end_s, 3600):
            local = calendar.local(hour)
            weight = shapes.BY_HOUR[local.hour] * shapes.BY_WEEKDAY[local.weekday()]
            usual.append(weight)
            in_month = (local.year, local.month) == (calendar.period.year, calendar.period.month)
            burst.append(weight * (BURST if in_month and local.day in BURST_DAYS else 1))
        self.usual, self.burst = running(usual), running(burst)

    def moment(self, dice: Dice, crew: int) -> int:
        hour = dice.choose(self.burst if crew == VISION else self.usual)
        return self.first + hour * 3600 + dice.below(3600)


class Requests:
    def __init__(self, calendar: Calendar, seed: int, scale: Fraction, widest: int) -> None:
        self.calendar, self.seed, self.scale, self.widest = calendar, seed, scale, widest
        self.arrivals = Arrivals(calendar)
        self.longer = Fraction(calendar.window.seconds + WARM_UP_S, calendar.window.seconds)

    def all(self) -> list[Job]:
        found = [job for name in STREAMS for job in self.stream(name)]
        return in_order([*found, *self.set_pieces(), *self.services(), *self.health_checks()])

    def stream(self, name: str) -> Iterator[Job]:
        """Large requests first, in the share that they had in the trace, then single ones and arrays of them until the number is full."""
        stream, dice = STREAMS[name], Dice(self.seed, name)
        wanted = round(stream.count * self.scale * self.longer)
        sizes = large_sizes(name, wanted, self.widest, dice)
        made = 0
        while made < wanted:
            tasks = list(self.request(stream, made, wanted - made, sizes.pop() if sizes else None, dice))
            made += len(tasks)
            yield from tasks

    def request(self, stream: Stream, number: int, most: int, size: Size | None, dice: Dice) -> Iterator[Job]:
        team = dice.choose(running(LARGE_TEAMS if size else stream.teams))
        phase = "training" if size else stream.phases[dice.choose(running([weight for weight, _ in stream.phases]))][1]
        nodes, amount, curve = size or single_size(stream.queue, phase, dice)
        tasks = 1
        if not size and ((phase in ARRAYED and dice.happens(250)) or (stream.queue, phase) == ("l40s", "training")):
            tasks = min(most, 1 + dice.below(stream.most_tasks))
        shared = self.describe(stream.queue, team, phase, self.arrivals.moment(dice, team), dice)
        shared["labelled"] = shared["labelled"] or size is not None
        length = dice.on_curve(curve)
        for task in range(tasks):
            if task:  # the pods of one training run end together, more or less; the tasks of an array do not
                length = length * dice.between(95, 105) // 100 if stream.queue == "l40s" else dice.on_curve(curve)
            yield Job(run=f"{stream.queue}-{number}", task=str(task) if tasks > 1 else "", queue=stream.queue, nodes=nodes, amount=amount,
                      plan=plan_of(stream, max(1, length), size is not None and amount == WHOLE_NODE, dice), **shared)  # type: ignore[arg-type]  # fmt: skip

    def describe(self, queue: str, team: int, phase: str, submit: int, dice: Dice) -> dict[str, object]:
        crew = CREWS[team]
        user, project = crew.person(dice)
        spot = queue in {"h100", "a100"} and phase != "training" and dice.happens(shapes.PREEMPTIBLE)
        return {
            "submit": submit,
            "crew": crew,
            "project": project,
            "user": user,
            "phase": phase,
            "torch": dice.happens(crew.framework),
            "preemptible": spot,
            "labelled": not dice.happens(UNLABELLED),
        }

    def set_pieces(self) -> Iterator[Job]:
        """Our own choice: three long runs over many nodes, the holder's work on its reserved nodes, and night work of others there."""
        dice = Dice(self.seed, "set pieces")
        for number, (day, hour, nodes, hours, team) in enumerate(
            ((3, 9, 12, 70, 0), (11, 8, 4, 100, 0), (20, 10, 16, 44, 1))
        ):
            shared = self.describe("h100", team, "training", self.calendar.at(day, hour), dice) | {"labelled": True}
            yield Job(run=f"long-{number}", task="", queue="h100", nodes=min(nodes, self.widest), amount=8,
                      plan=[(hours * 3600, "completed")], **shared)  # type: ignore[arg-type]  # fmt: skip
        for day in (5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 19, 20, 21, 22):
            for half in range(2):
                shared = self.describe("h100", GENOMICS, "training", self.calendar.at(day, 9, half * 20), dice)
                user, project = CREWS[GENOMICS].person(dice, "folding")
                shared |= {"project": project, "user": user, "labelled": True, "inside": True}
                yield Job(run=f"fold-{day}-{half}", task="", queue="h100", nodes=1, amount=8,
                          plan=[(dice.between(4, 13) * 3600, "completed")], **shared)  # type: ignore[arg-type]  # fmt: skip
        for day in (6, 13, 20):  # at night others may use the reserved nodes, and are put out in the morning
            shared = self.describe("h100", VISION, "tuning", self.calendar.at(day, 23), dice) | {
                "preemptible": True,
                "labelled": True,
            }
            yield Job(run=f"night-{day}", task="", queue="h100", nodes=1, amount=8,
                      plan=[(30 * 3600, "completed")], **shared)  # type: ignore[arg-type]  # fmt: skip

    def services(self) -> Iterator[Job]:
        """Model servers that never end: they began before the month, a new pod replaces the old one at each release, the last is still running."""
        dice = Dice(self.seed, "services")
        full = running([replicas for _, replicas in SERVICES])[-1]
        left = max(1, round(full * self.scale))
        for number, (team, replicas) in enumerate(SERVICES):
            shared = self.describe("l40s", team, "inference", self.calendar.warm_up_s + 600 * number, dice) | {
                "labelled": True
            }
            releases = [dice.between(4, 12) * 86_400 + dice.below(40_000) for _ in range(12)]
            for replica in range(min(replicas, left)):
                yield Job(run=f"serve-{number}", task=str(replica), queue="l40s", nodes=1, amount=1,
                          plan=[(seconds, "completed") for seconds in releases], **shared)  # type: ignore[arg-type]  # fmt: skip
            left = max(0, left - replicas)

    def health_checks(self) -> Iterator[Job]:
        """The platform team burns in boards every night."""
        dice = Dice(self.seed, "health")
        checks = max(1, round(12 * self.scale))
        for night in range(self.calendar.warm_up_s + 9 * 3600, self.calendar.month.end_s, 86_400):
            for number in range(checks):
                queue = ("h100", "a100")[number % 2]
                shared = self.describe(queue, PLATFORM, "evaluation", night + number * 300, dice)
                user, project = CREWS[PLATFORM].person(dice, "health")
                shared |= {"project": project, "user": user, "labelled": True, "preemptible": False}
                yield Job(run=f"health-{night}-{number}", task="", queue=queue, nodes=1, amount=1,
                          plan=[(dice.between(300, 900), "completed")], **shared)  # type: ignore[arg-type]  # fmt: skip


def in_order(jobs: list[Job]) -> list[Job]:
    jobs.sort(key=lambda job: (job.submit, job.run, job.task))
    for serial, job in enumerate(jobs):
        job.serial = serial
    return jobs


def pick(weighted: tuple[tuple[int, int], ...], dice: Dice) -> int:
    return weighted[dice.choose(running([weight for weight, _ in weighted]))][1]


def large_sizes(queue: str, wanted: int, widest: int, dice: Dice) -> list[Size]:
    """As many requests of 2, 4, 8 and more GPUs among `wanted` as Philly had."""
    if queue not in LIMIT_S or queue == "cpu":
        return []
    sizes: list[Size] = []
    for count, gpus in shapes.GPU_COUNTS[1:]:
        curve = shapes.EIGHT_GPUS if gpus == WHOLE_NODE else shapes.FEW_GPUS
        sizes += [(1, gpus, curve)] * max(1, round(Fraction(count * wanted, shapes.PHILLY_JOBS)))
    most = widest if queue == "h100" else min(4, widest)
    gangs = max(1, round(Fraction(shapes.GANGS * wanted, shapes.PHILLY_JOBS)))
    return sizes + [(min(pick(shapes.GANG_NODES, dice), most), WHOLE_NODE, shapes.MANY_GPUS) for _ in range(gangs)]


def single_size(queue: str, phase: str, dice: Dice) -> Size:
    if queue == "cpu":
        return 1, pick(CORES, dice), shapes.CPU_JOB
    amount = {"mig": shapes.SEVENTHS, "shared": shapes.QUARTERS}.get(queue, ((1, 1),))
    return 1, pick(amount, dice), shapes.NOTEBOOK if phase == "interactive" else shapes.ONE_GPU


def plan_of(stream: Stream, seconds: int, large: bool, dice: Dice) -> list[tuple[int, str]]:
    """The attempts of one request: large jobs fail and are requeued as often as Philly's did."""
    _, outcome, per_cent = stream.ends[dice.choose(running([weight for weight, _, _ in stream.ends]))]
    seconds = max(1, seconds * per_cent // 100)
    attempts = 1 + dice.choose(running(shapes.ATTEMPTS)) if large else 1
    lost = seconds * shapes.LOST_PER_CENT // 100 // max(1, attempts - 1)
    plan = [(max(30, lost * dice.between(50, 150) // 100), "failed") for _ in range(attempts - 1)]
    limit = LIMIT_S.get(stream.queue)
    final = (limit, "timeout") if limit and seconds > limit else (seconds, outcome)
    return [*plan, final]
