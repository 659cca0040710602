"""Who got which machine when: first fit with backfill, a queue when full, preemption, a reservation, an outage and a drain.

A *shelf* is what one request is placed on whole: a node of whole GPUs or cores, a board cut in quarters, one MIG slice.
What lies on a shelf never exceeds it, so no node is ever over-allocated.
"""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from apportion.model.times import Interval
from apportion.sources.demo.fleet import Node
from apportion.sources.demo.jobs import Job

FINISH, CHANGE, SUBMIT = 0, 1, 2  # the order of what happens in one second
PATIENCE_S = 2 * 3600  # a request that waited longer is not overtaken at its own cost any more
DEPTH = 60  # requests looked at in one pass
REQUEUE_S = 120
LOST_WORK_S = 1800  # since the last checkpoint, when a node fails
NEVER = Interval(0, 0)


@dataclass(slots=True)
class Shelf:
    node: Node
    board: int  # -1: the whole node
    size: int
    free: int
    closed: bool = False
    holder: str = ""  # the team that reserved it
    reserved: Interval = NEVER
    promised: int = 0  # when a request that waits for it expects to get it; until then only what ends before
    running: list["Attempt"] = field(default_factory=list)


@dataclass(slots=True)
class Attempt:
    job: Job
    number: int
    submit: int
    start: int
    end: int
    shelves: list[Shelf]
    outcome: str
    over: bool = False


@dataclass(slots=True)
class Upset:
    """At `at` a shelf closes; what still runs there after `grace_s` is ended with `outcome` and queued again. It opens at `until`."""

    at: int
    grace_s: int
    until: int
    outcome: str
    shelf: Shelf | None = None  # found when it happens: the most crowded one


class Queue:
    """One partition or node pool, simulated from the first request to `end_s`."""

    def __init__(
        self, shelves: list[Shelf], jobs: Iterable[Job], upsets: list[Upset], end_s: int, exact: bool = False
    ) -> None:
        self.shelves, self.end_s, self.exact = shelves, end_s, exact
        self.attempts: list[Attempt] = []
        self.pending: list[tuple[int, int, Job]] = []
        self.promised: list[Shelf] = []
        self.spots = 0
        self.serial = 0
        self.events: list[tuple[int, int, int, object]] = []
        for job in jobs:
            self.serial += 1
            self.events.append((job.submit, SUBMIT, self.serial, job))
        for upset in upsets:
            self.serial += 1
            self.events.append((upset.at, CHANGE, self.serial, upset))
        heapify(self.events)

    def run(self) -> list[Attempt]:
        while self.events and self.events[0][0] < self.end_s:
            now = self.events[0][0]
            while self.events and self.events[0][0] == now:
                what = heappop(self.events)[3]
                if isinstance(what, Job):
                    insort(self.pending, (what.submit, what.serial, what))
                elif isinstance(what, Upset):
                    self.upset(what, now)
                elif isinstance(what, Attempt) and not what.over:
                    self.finish(what, now)
            self.start_what_fits(now)
        for attempt in self.attempts:
            if not attempt.over:
                attempt.end, attempt.outcome = self.end_s, "running"
        return self.attempts

    def later(self, when: int, kind: int, what: object) -> None:
        self.serial += 1
        heappush(self.events, (when, kind, self.serial, what))

    def start_what_fits(self, now: int) -> None:
        for shelf in self.promised:
            shelf.promised = 0
        self.promised = []
        hopeless: set[tuple[int, int, bool, bool, str]] = set()
        started = []
        for position, (submit, _, job) in enumerate(self.pending[:DEPTH]):
            shape = (job.nodes, job.amount, job.preemptible, job.inside, job.crew.team)
            shelves = [] if shape in hopeless else self.place(job, now) or self.make_room(job, now)
            if shelves:
                self.start(job, shelves, now)
                started.append(position)
                continue
            hopeless.add(shape)
            if now - submit > PATIENCE_S and not self.promised:
                self.promise(job, now)
        for position in reversed(started):
            del self.pending[position]

    def promise(self, job: Job, now: int) -> None:
        """Keep the nodes that will be free first for a request that has waited long, as EASY backfill does."""
        ready = sorted(
            (max((attempt.end for attempt in shelf.running), default=now), number)
            for number, shelf in enumerate(self.shelves)
            if shelf.size >= job.amount and self.admits(shelf, job, now)
        )[: job.nodes]
        self.promised = [self.shelves[number] for _, number in ready]
        for shelf in self.promised:
            shelf.promised = ready[-1][0]

    def admits(self, shelf: Shelf, job: Job, now: int) -> bool:
        """Whether a shelf takes this job at all: not while closed; reserved ones take their holder, and others' work that may be put out."""
        if shelf.closed or (self.exact and shelf.size != job.amount) or 0 < shelf.promised < now + job.plan[0][0]:
            return False
        if job.inside:
            return job.crew.team == shelf.holder
        if not shelf.holder or job.crew.team == shelf.holder or job.preemptible:
            return True
        return now >= shelf.reserved.end_s or now + job.plan[0][0] <= shelf.reserved.start_s

    def place(self, job: Job, now: int) -> list[Shelf]:
        found = []
        backwards = (
            job.preemptible or job.amount == 8 or any(shelf.holder == job.crew.team for shelf in self.shelves[-1:])
        )
        for shelf in reversed(self.shelves) if backwards else self.shelves:
            if shelf.free >= job.amount and self.admits(shelf, job, now):
                found.append(shelf)
                if len(found) == job.nodes:
                    return found
        return []

    def make_room(self, job: Job, now: int) -> list[Shelf]:
        """Put out preemptible work on one node where that is enough."""
        if job.preemptible or job.nodes > 1 or not self.spots:
            return []
        for shelf in reversed(self.shelves):
            victims = [attempt for attempt in shelf.running if attempt.job.preemptible and attempt.start < now]
            if (
                victims
                and self.admits(shelf, job, now)
                and shelf.free + sum(attempt.job.amount for attempt in victims) >= job.amount
            ):
                while shelf.free < job.amount:
                    self.cut_short(victims.pop(), "preempted", now)
                return [shelf]
        return []

    def start(self, job: Job, shelves: list[Shelf], now: int) -> None:
        seconds, outcome = job.plan[0]
        attempt = Attempt(job, job.attempt, job.submit, now, now + seconds, shelves, outcome)
        job.attempt += 1
        self.spots += job.preemptible
        for shelf in shelves:
            shelf.free -= job.amount
            shelf.running.append(attempt)
        self.attempts.append(attempt)
        self.later(attempt.end, FINISH, attempt)

    def release(self, attempt: Attempt, now: int) -> None:
        attempt.over, attempt.end = True, now
        self.spots -= attempt.job.preemptible
        for shelf in attempt.shelves:
            shelf.free += attempt.job.amount
            shelf.running.remove(attempt)

    def finish(self, attempt: Attempt, now: int) -> None:
        self.release(attempt, now)
        attempt.job.plan.pop(0)
        if attempt.job.plan:
            self.submit_again(attempt.job, now)

    def cut_short(self, attempt: Attempt, outcome: str, now: int) -> None:
        self.release(attempt, now)
        attempt.outcome = outcome
        seconds, planned = attempt.job.plan[0]
        done = now - attempt.start
        lost = min(done, LOST_WORK_S) if outcome == "node_fail" else 0
        attempt.job.plan[0] = (max(60, seconds - done + lost), planned)
        self.submit_again(attempt.job, now)

    def submit_again(self, job: Job, now: int) -> None:
        job.submit = now + REQUEUE_S
        self.later(job.submit, SUBMIT, job)

    def upset(self, upset: Upset, now: int) -> None:
        """Called three times: when it begins, when the grace is over, when it ends."""
        if upset.shelf is None:
            candidates = [shelf for shelf in self.shelves if not shelf.holder]
            upset.shelf = max(candidates, key=lambda shelf: (len(shelf.running), shelf.size - shelf.free))
            upset.shelf.closed = True
            self.later(upset.until, CHANGE, upset)
            if upset.grace_s:
                self.later(now + upset.grace_s, CHANGE, upset)
        if now >= upset.until:
            upset.shelf.closed = False
        elif now >= upset.at + upset.grace_s:
            for attempt in list(upset.shelf.running):
                self.cut_short(attempt, upset.outcome, now)
