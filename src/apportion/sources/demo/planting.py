"""Waste on purpose, for those who test advice: known runs of every kind among honest ones that resemble them.

Only where asked for (`waste`): the demo's own month is another. What is planted is told in `Planted.kinds` alone, never in a row of evidence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple

from apportion.model.times import Interval
from apportion.sources.demo.calendar import Calendar
from apportion.sources.demo.courses import COURSES, HOSTS, LOOK_S
from apportion.sources.demo.dice import Dice, running
from apportion.sources.demo.jobs import Job, Requests
from apportion.sources.demo.organisation import CREWS
from apportion.sources.demo.schedule import Attempt

UNSEEN = 30  # per mille of looks
PATCHY, GAPS = 50, 400  # so many workloads are measured badly, and so many of their looks are missing
HOURLY = 300  # per mille of workloads are known by the hour alone
EACH: Final = 16  # of every kind in a month, waste or not
QUEUES: Final = ((5, "h100"), (3, "a100"), (2, "l40s"))
LEAST_S: Final = 4 * 3600  # what ran for less in the month is nobody's waste
CHEAP_HOURS: Final = (*range(7), *range(20, 24))  # of H100, by the contract of such a month
DEAREST: Final = "h100"  # the others have nothing both lesser and cheaper beside them
UNTOLD: Final = ("small", "light", "half")  # courses for which it matters, and is not left to chance
RELATED: Final = ("duplicate", "checkpoint", "preemptible")  # told by what other runs did
LEAST_LOST_S: Final = 3600
FAILURES = 3  # alike, before anybody calls it a habit


class Plot(NamedTuple):
    """`hours` is how long, in hours from and to; `at` the local hour of its submission, from and to; `waste` its kind, "" where it is honest."""

    course: str
    phase: str
    hours: tuple[int, int]
    at: tuple[int, int]
    most: int  # boards, or cores
    waste: str = ""
    least: int = 1
    memory: tuple[int, int] | None = None  # per mille of a board's, from and to; None as it comes
    needed: tuple[int, int] | None = None  # hours after its submission


ANY: Final = (0, 23)
PLOTS: Final = (
    Plot("idle", "training", (5, 60), ANY, 4, "idle"),
    Plot("idle", "interactive", (8, 40), (9, 17), 1, "idle"),
    Plot("hung", "training", (14, 60), ANY, 8, "hung"),
    Plot("overnight", "interactive", (19, 40), (10, 15), 1, "overnight"),
    Plot("small", "training", (6, 50), ANY, 1, "slice"),
    Plot("small", "evaluation", (6, 20), ANY, 1, "slice"),
    Plot("loading", "training", (6, 40), ANY, 1),
    Plot("warm_up", "training", (8, 30), ANY, 8),
    Plot("pauses", "training", (8, 40), ANY, 8),
    Plot("bursts", "evaluation", (8, 30), ANY, 1),
    Plot("waiting", "training", (12, 40), ANY, 8),
    Plot("finishing", "training", (8, 30), ANY, 4),
    Plot("session", "interactive", (14, 24), (12, 16), 1),
    Plot("day", "interactive", (6, 8), (9, 15), 1),
    Plot("idle", "evaluation", (1, 1), ANY, 1),  # a short try
    Plot("light", "training", (6, 30), ANY, 4, "model", 2, (50, 350)),
    Plot("light", "training", (6, 30), ANY, 4, "", 2, (880, 970)),  # its memory needs the board
    Plot("light", "training", (6, 30), ANY, 4, "", 2),  # nobody knows of its memory
    Plot("full", "training", (6, 30), ANY, 4, "", 1, (50, 350)),  # its speed needs it
    Plot("half", "training", (6, 30), ANY, 4, "batch", 1, (80, 400)),
    Plot("half", "training", (6, 30), ANY, 4, "", 1, (700, 970)),
    Plot("half", "evaluation", (6, 30), ANY, 4, "", 1, (80, 400)),  # no batches to learn from
    Plot("full", "training", (4, 7), (7, 11), 2, "night", needed=(40, 90)),
    Plot("full", "training", (4, 5), (7, 11), 2, needed=(6, 8)),  # needed today
    Plot("full", "training", (4, 5), (20, 23), 2, "night", needed=(40, 90)),  # it waits, unless the queue makes it wait longer
    Plot("full", "training", (12, 20), (7, 11), 2, needed=(40, 90)),
    Plot("session", "interactive", (5, 7), (7, 11), 1, needed=(40, 90)),
    Plot("roomy", "data", (7, 20), ANY, 32, "requests", 8),
    Plot("tight", "data", (7, 20), ANY, 32, "", 8),
    Plot("spiky", "data", (7, 20), ANY, 32, "", 8),
    Plot("roomy", "data", (1, 2), ANY, 32, "", 8),  # a short try
)
BOARD_GIB: Final = {"h100": 80, "a100": 80, "l40s": 48, "mig": 80, "shared": 48}


@dataclass(frozen=True, slots=True)
class Planted:
    """`looks`: of each workload, from when to when which per mille of its boards were used, None where nobody looked; `hosts`: of cores and of memory.
    `kinds`: of what is waste.
    """

    looks: Mapping[str, tuple[tuple[int, int, int | None], ...]]
    hosts: Mapping[str, tuple[tuple[int, int, tuple[int, int] | None], ...]]
    kinds: Mapping[str, str]


def planted_jobs(requests: Requests) -> list[Job]:
    dice = Dice(requests.seed, "planted")
    found = [job(requests, plot, f"plot-{number}-{n}", dice) for number, plot in enumerate(PLOTS) for n in range(EACH)]
    return found + [one for n in range(EACH // 2) for one in failing(requests, n, dice)]


def job(requests: Requests, plot: Plot, run: str, dice: Dice) -> Job:
    queue = QUEUES[dice.choose(running([weight for weight, _ in QUEUES]))][1] if plot.phase != "data" else "cpu"
    submit = requests.calendar.at(dice.between(2, 27), dice.between(*plot.at), dice.below(60))
    shared = requests.describe(queue, dice.below(len(CREWS)), plot.phase, submit, dice)
    shared |= {"labelled": True, "preemptible": False}
    most = min(plot.most, 4) if queue == "l40s" else plot.most
    amount = plot.least * 2 ** dice.below((most // plot.least).bit_length())
    seconds = dice.between(plot.hours[0] * 3600, plot.hours[1] * 3600)
    memory = dice.between(*plot.memory) if plot.memory else None
    needed = submit + dice.between(*plot.needed) * 3600 if plot.needed else 0
    return Job(run=run, task="", queue=queue, nodes=1, amount=amount, plan=[(seconds, "completed")],
               needed=needed, course=plot.course, waste=plot.waste, memory=memory, **shared)  # type: ignore[arg-type]  # fmt: skip


def failing(requests: Requests, number: int, dice: Dice) -> Iterator[Job]:
    """Each time at the same place; as it comes, carrying on; and at once, for a slip of the pen."""
    plot = Plot("steady", "training", (2, 8), ANY, 8)
    again = job(requests, plot, f"again-{number}", dice)
    seconds = again.plan[0][0]
    again.waste = "retries"
    again.plan = [(seconds * dice.between(98, 102) // 100, "failed") for _ in range(dice.between(3, 5))]
    again.plan += [(seconds * 3, "completed")] if dice.happens(500) else []
    onward = job(requests, plot, f"onward-{number}", dice)
    onward.plan = [(dice.between(2 * 3600, 14 * 3600), "failed") for _ in range(dice.between(2, 4))] + onward.plan
    slip = job(requests, plot, f"slip-{number}", dice)
    slip.plan = [(dice.between(300, 310), "failed") for _ in range(3)] + slip.plan
    yield from (again, onward, slip)


def planted(calendar: Calendar, attempts: Sequence[tuple[Attempt, str]], seed: int) -> Planted:
    """How every attempt, told with its id, went: by its job's course, else as honest work of its phase does."""
    dice, hosts = Dice(seed, "courses"), Dice(seed, "hosts")
    looks, host_looks, kinds = {}, {}, {}
    for attempt, workload in attempts:
        if attempt.job.queue == "cpu":
            host_looks[workload] = tuple(host_looked(attempt, hosts))
        else:
            looks[workload] = tuple(looked(calendar, attempt, dice))
        if is_waste(attempt, calendar):
            kinds[workload] = attempt.job.waste
    return Planted(looks, host_looks, kinds | retried(attempts, calendar.month) | related(attempts, calendar.month))


def looked(calendar: Calendar, attempt: Attempt, dice: Dice) -> Iterator[tuple[int, int, int | None]]:
    starts = range(attempt.start, attempt.end, LOOK_S)
    honest = {"interactive": "session", "inference": "requests"}.get(attempt.job.phase, "steady")
    shares = COURSES[attempt.job.course or honest](dice, [calendar.local(start).hour for start in starts])
    unseen = GAPS if dice.happens(PATCHY) else UNSEEN
    together = 2 if dice.happens(HOURLY) else 1
    for first in range(0, len(starts), together):
        some = shares[first : first + together]
        end = min(starts[first] + together * LOOK_S, attempt.end)
        yield starts[first], end, None if dice.happens(unseen) else sum(some) // len(some)


def host_looked(attempt: Attempt, dice: Dice) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    starts = range(attempt.start, attempt.end, LOOK_S)
    used = HOSTS[attempt.job.course or "tight"](dice, len(starts))
    unseen = GAPS if dice.happens(PATCHY) else UNSEEN
    for start, look in zip(starts, used, strict=True):
        yield start, min(start + LOOK_S, attempt.end), None if dice.happens(unseen) else look


def told(jobs: list[Job], seed: int) -> list[Job]:
    """Every run with what its tools write down: a fingerprint of its own, and often how full its boards' memory was."""
    dice = Dice(seed, "told")
    for job in jobs:
        job.config = job.config or fingerprint(seed, job.run, job.task)
        job.experiment = job.experiment or fingerprint(seed, job.run)
        if job.memory is None and job.queue != "cpu" and job.course not in UNTOLD and dice.happens(500):
            job.memory = dice.between(600, 970)
    return jobs


def fingerprint(*words: object) -> str:
    return sha256("/".join(map(str, words)).encode()).hexdigest()[:12]


def is_waste(attempt: Attempt, calendar: Calendar) -> bool:
    within = Interval(attempt.start, attempt.end).clip(calendar.month)
    job = attempt.job
    if job.waste in ("model", "night") and job.queue != DEAREST:
        return False
    if job.waste == "night" and not mostly_dear(attempt, calendar):
        return False  # it waited, or had to
    return job.waste not in ("", "retries", *RELATED) and within.seconds >= LEAST_S


def mostly_dear(attempt: Attempt, calendar: Calendar) -> bool:
    hours = [calendar.local(start).hour for start in range(attempt.start, attempt.end, LOOK_S)]
    return 2 * sum(hour not in CHEAP_HOURS for hour in hours) >= len(hours)


def retried(attempts: Sequence[tuple[Attempt, str]], month: Interval) -> dict[str, str]:
    """Every failure after the first, where there are enough of them."""
    runs: dict[str, list[tuple[Attempt, str]]] = {}
    for attempt, workload in attempts:
        if attempt.job.waste == "retries" and attempt.outcome == "failed" and attempt.start >= month.start_s:
            runs.setdefault(attempt.job.run, []).append((attempt, workload))
    return {workload: "retries" for found in runs.values() if len(found) >= FAILURES for _, workload in found[1:]}


def related(attempts: Sequence[tuple[Attempt, str]], month: Interval) -> dict[str, str]:
    """Of runs that belong together: those after the first, those that were cut short in vain, all that could have been put out."""
    found: dict[str, str] = {}
    first: dict[str, str] = {}
    put_out = {attempt.job.experiment for attempt, _ in attempts if attempt.outcome in ("preempted", "node_fail")}
    for attempt, workload in sorted(attempts, key=lambda one: one[0].start):
        job, kind = attempt.job, attempt.job.waste
        if not kind and job.is_family and job.experiment in put_out and not job.preemptible:
            kind = "preemptible"  # whatever is put out here carries on
        if kind not in RELATED or Interval(attempt.start, attempt.end).clip(month).seconds < LEAST_LOST_S:
            continue
        begun = first.setdefault(job.config, job.run)
        done = {
            "duplicate": begun != job.run and attempt.outcome == "completed",
            "checkpoint": attempt.outcome == "failed",
            "preemptible": True,
        }
        if done[kind]:
            found[workload] = kind
    return found
