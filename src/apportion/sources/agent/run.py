"""Look, sum, write: until there is no more to see."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apportion.sources.agent.looks import Clock, Machine
from apportion.sources.agent.meter import Meter
from apportion.sources.agent.spool import Spool

BATCH_MS = 60_000


@dataclass(slots=True)
class Measured:
    """What one run wrote: by workload and by board. The first adds up to the second."""

    batches: int = 0
    looks: int = 0
    millijoules: Counter[str] = field(default_factory=Counter)
    busy_us: Counter[str] = field(default_factory=Counter)
    boards: Counter[str] = field(default_factory=Counter)  # millijoules by the counters
    ended: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, batch: Mapping[str, Any]) -> None:
        self.batches += 1
        self.looks += batch["looks"]
        for board in batch["boards"]:
            self.boards[board["uuid"]] += board["to_mj"] - board["from_mj"]
            self.ended += board["ended"]
            for share in board["shares"]:
                self.millijoules[share["workload"]] += share["mj"]
                self.busy_us[share["workload"]] += share["busy_us"] or 0


def run(machine: Machine, meter: Meter, spool: Spool, batch_ms: int = BATCH_MS) -> Measured:
    """Batches end at multiples of `batch_ms` of the wall clock, so that none crosses an hour; the last one when the run does."""
    done = Measured()
    for batch in batches(machine, meter, batch_ms):
        spool.append(batch)
        done.add(batch)
    return done


def batches(machine: Machine, meter: Meter, batch_ms: int) -> Iterator[Mapping[str, Any]]:
    while look := machine.look():
        meter.take(look)
        if (meter.found or is_due(meter.since, look.clock, batch_ms)) and (batch := meter.cut()):
            yield batch
    if batch := meter.cut():
        yield batch


def is_due(since: Clock | None, now: Clock, batch_ms: int) -> bool:
    """The wall clock entered another batch, or was set back so far that it will not for long."""
    if since is None or since == now:
        return False
    return (
        since.wall_ms // batch_ms != now.wall_ms // batch_ms
        or since.boot != now.boot
        or now.boot_ms - since.boot_ms >= 2 * batch_ms
    )
