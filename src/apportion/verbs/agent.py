"""Measure what the boards of this node do, for as long as it runs. Needs no project: a node has a spool, the project reads it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from apportion.sources.agent import nvml
from apportion.sources.agent.looks import Machine
from apportion.sources.agent.meter import resumed
from apportion.sources.agent.node import Node, now
from apportion.sources.agent.owners import Place
from apportion.sources.agent.run import BATCH_MS, Measured, run
from apportion.sources.agent.spool import Spool
from apportion.sources.agent.trace import Player, Recorder, played


@dataclass(frozen=True, slots=True)
class Wishes:
    """Where batches go, and under which names."""

    spool: Path
    node: str
    cluster: str = ""
    batch_ms: int = BATCH_MS


def agent(wishes: Wishes, seconds: int | None = None) -> Measured:
    """Until SIGTERM, SIGINT or the end of `seconds`; what was measured last is written then."""
    with stopping() as stop:
        return measured(wishes, node(stop, seconds))


def replay(wishes: Wishes, trace: Path) -> Measured:
    """The batches that the agent would have written for a trace; what the spool already has of it is not written again."""
    last = Spool(wishes.spool, wishes.node).last()
    meter = resumed(Place(wishes.node, wishes.cluster), "", last)
    return measured(wishes, Player(played(trace), meter.latest))


def record(trace: Path, seconds: int | None = None) -> int:
    """Looks only, into a file; how many."""
    with stopping() as stop, trace.open("x", encoding="utf-8") as file:
        recorder = Recorder(node(stop, seconds), file)
        return sum(1 for _ in iter(recorder.look, None))


def measured(wishes: Wishes, machine: Machine) -> Measured:
    spool = Spool(wishes.spool, wishes.node)
    with spool.held():
        meter = resumed(Place(wishes.node, wishes.cluster), str(now().wall_ms), spool.last())
        return run(machine, meter, spool, wishes.batch_ms)


def node(stop: Event, seconds: int | None) -> Node:
    """Boards that are missing at the start are an error; those that go missing later are waited for."""
    boards = nvml.boards()
    return Node(nvml.boards, stop, None if seconds is None else now().boot_ms + seconds * 1000, boards=boards)


@contextmanager
def stopping() -> Iterator[Event]:
    """An event that SIGTERM and SIGINT set."""
    stop = Event()
    before = {name: signal.signal(name, lambda *_: stop.set()) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
