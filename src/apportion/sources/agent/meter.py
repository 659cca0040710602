"""Looks to batches: what each board burnt between two looks, divided and summed until a batch is cut.

The counter makes it exact: a batch speaks of the millijoules from where the one before stopped, also across a restart, a kill or
a reboot. So what was not written is not lost, and nothing is counted twice.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from apportion.sources.agent.looks import Clock, Look, Reading
from apportion.sources.agent.owners import IDLE, UNMEASURED, Owner, Place, own, owner_of
from apportion.sources.agent.split import Portion, divided

VERSION = 1
HOLE_MS = 30_000  # looks further apart than this missed something
BRIDGE_MS = 60_000  # longer holes belong to nobody: who worked in them is not known


@dataclass(slots=True)
class Share:
    """One workload's part of one board in a batch. `busy_us` is None until something was measured."""

    millijoules: int = 0
    busy_us: int | None = None
    memory: int = 0  # the most bytes at one look
    from_ms: int = 0  # wall clock: when it was first there, and until when
    to_ms: int = 0
    pids: set[int] = field(default_factory=set)

    def add(self, portions: list[Portion], memory: int, start_ms: int, end_ms: int) -> None:
        self.memory = max(self.memory, memory)
        self.from_ms, self.to_ms = self.from_ms or start_ms, end_ms
        for portion in portions:
            self.millijoules += portion.millijoules
            if portion.busy_us is not None:
                self.busy_us = (self.busy_us or 0) + portion.busy_us
            if portion.pid is not None:
                self.pids.add(portion.pid)


@dataclass(slots=True)
class Track:
    """One board: how far its counter was read and when, and who got what since the last batch."""

    uuid: str
    model: str
    at: Clock
    counted_mj: int
    from_mj: int
    resets: int = 0
    holes_ms: int = 0
    shares: dict[str, Share] = field(default_factory=dict)  # by workload
    ended: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Meter:
    """Between batches it holds sums only; `take` and `cut` are all there is to it."""

    place: Place
    run: str  # this start of the agent; batches of one run are numbered without a gap
    seq: int = 0
    since: Clock | None = None  # where the batch begins
    latest: Clock | None = None
    tracks: dict[str, Track] = field(default_factory=dict)
    closed: list[Track] = field(default_factory=list)  # boards whose counter began anew within the batch
    owners: dict[str, tuple[Owner, int]] = field(default_factory=dict)  # by workload; when its first process started
    looks: int = 0
    found: bool = False  # a board that no batch names yet: written at once, so that a kill finds where it began

    def take(self, look: Look) -> None:
        self.since = self.since or self.latest or look.clock
        for reading in look.readings:
            track = self.tracks.get(reading.uuid)
            if track is None:  # what it burnt until now is not ours to tell
                counted = reading.energy_mj
                self.tracks[reading.uuid] = Track(reading.uuid, reading.model, look.clock, counted, counted)
                self.found = True
            else:
                self.read(track, reading, look)
        self.latest = look.clock
        self.looks += 1

    def read(self, track: Track, reading: Reading, look: Look) -> None:
        passed_ms = elapsed(track.at, look.clock)
        if reading.energy_mj < track.counted_mj or track.at.boot != look.clock.boot:
            # The driver was loaded anew, and counts from nothing.
            self.closed += [track] if track.shares else []
            track = Track(reading.uuid, reading.model, track.at, 0, 0, track.resets + 1)
            self.tracks[reading.uuid] = track
        millijoules = reading.energy_mj - track.counted_mj
        track.counted_mj, track.at = reading.energy_mj, look.clock
        track.holes_ms += passed_ms if passed_ms > HOLE_MS else 0
        owners = {pid: owner_of(look.seen.get(pid), self.place) for pid in reading.pids}
        track.ended += [{"workload": owners[one.pid].workload, **asdict(one)} for one in reading.ended]
        if passed_ms > BRIDGE_MS:
            portions, nobody = [Portion(None, millijoules, None)], own(UNMEASURED, self.place)
        else:
            holders = {owners[process.pid].workload: process.pid for process in reading.processes}
            sole = next(iter(holders.values())) if len(holders) == 1 else None
            portions, nobody = divided(reading, millijoules, passed_ms * 1000, sole), own(IDLE, self.place)
        self.add(track, reading, look, [(owners.get(one.pid or 0, nobody), one) for one in portions], passed_ms)

    def add(
        self, track: Track, reading: Reading, look: Look, portions: list[tuple[Owner, Portion]], passed_ms: int
    ) -> None:
        end_ms = look.clock.wall_ms
        start_ms = end_ms - passed_ms
        for workload in {owner.workload for owner, _ in portions}:
            mine = [portion for owner, portion in portions if owner.workload == workload]
            pids = {portion.pid for portion in mine if portion.pid is not None}
            memory = sum(process.memory for process in reading.processes if process.pid in pids)
            began_ms = min((look.seen[pid].started_s * 1000 for pid in pids if pid in look.seen), default=0)
            since_ms = min(max(start_ms, began_ms), end_ms - 1)  # not before it was there, however long nobody looked
            track.shares.setdefault(workload, Share()).add(mine, memory, since_ms, end_ms)
        for owner, portion in portions:
            seen = look.seen.get(portion.pid or 0)
            started = seen.started_s if seen else start_ms // 1000
            known, earliest = self.owners.get(owner.workload, (owner, started))
            self.owners[owner.workload] = known, min(started, earliest)

    def cut(self) -> dict[str, Any] | None:
        """The batch so far, and a new one begun; None where nothing was measured since the last."""
        if self.since is None or self.latest is None or (self.since == self.latest and not self.found):
            return None
        batch = {
            "version": VERSION,
            "node": self.place.node,
            "run": self.run,
            "seq": self.seq,
            "from": asdict(self.since),
            "to": asdict(self.latest),
            "looks": self.looks,
            "boards": [board_json(track) for track in (*self.closed, *self.tracks.values())],
            "owners": [
                {"workload": workload, "labels": dict(owner.labels), "started_s": started}
                for workload, (owner, started) in sorted(self.owners.items())
            ],
        }
        self.begin(self.latest)
        return batch

    def begin(self, clock: Clock) -> None:
        self.since, self.looks, self.closed, self.owners, self.found = clock, 0, [], {}, False
        self.seq += 1
        for track in self.tracks.values():
            track.from_mj, track.holes_ms, track.shares, track.ended = track.counted_mj, 0, {}, []


def elapsed(before: Clock, now: Clock) -> int:
    """Milliseconds between two looks; over a reboot only the wall clock knows, and never less than one."""
    if before.boot == now.boot:
        return max(1, now.boot_ms - before.boot_ms)
    return max(1, now.wall_ms - before.wall_ms)


def board_json(track: Track) -> dict[str, Any]:
    return {
        "uuid": track.uuid,
        "model": track.model,
        "resets": track.resets,
        "from_mj": track.from_mj,
        "to_mj": track.counted_mj,
        "holes_ms": track.holes_ms,
        "ended": track.ended,
        "shares": [
            {
                "workload": workload,
                "mj": share.millijoules,
                "busy_us": share.busy_us,
                "memory": share.memory,
                "from_ms": share.from_ms,
                "to_ms": share.to_ms,
                "pids": sorted(share.pids),
            }
            for workload, share in sorted(track.shares.items())
        ],
    }


def resumed(place: Place, run: str, last: Mapping[str, Any] | None) -> Meter:
    """A meter that goes on where the last batch in the spool stopped."""
    meter = Meter(place, run)
    if last is None:
        return meter
    at = meter.latest = Clock(**last["to"])
    for board in last["boards"]:  # of a board that began anew within the batch the later entry stands
        uuid, counted = board["uuid"], board["to_mj"]
        meter.tracks[uuid] = Track(uuid, board["model"], at, counted, counted, board["resets"])
    return meter
