"""Batches back from spools: whole lines only, each once, and each millijoule of a board's counter once, whoever wrote it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.delivery import FileDigest
from apportion.model.times import instant_text
from apportion.sources.agent.looks import Clock
from apportion.sources.agent.meter import VERSION, elapsed
from apportion.sources.agent.owners import UNMEASURED, Owner, Place, own
from apportion.sources.agent.split import apportioned
from apportion.sources.agent.spool import NAME, batch_of
from apportion.sources.files.paths import InputFile
from apportion.sources.files.stream import Stream

JUMP_MS = 2_000
LONGEST_LINE = 2**20


@dataclass(frozen=True, slots=True)
class Part:
    """What one workload got of a span, and when it was there."""

    workload: str
    millijoules: int
    busy_us: int | None
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Span:
    """One board between two readings of its counter. `counter` names a run of the counter: it begins anew with the driver."""

    node: str
    counter: tuple[str, str, int]
    model: str
    from_mj: int
    to_mj: int
    start_ms: int
    end_ms: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Kin:
    boards: set[str]
    files: list[InputFile]


@dataclass(slots=True)
class Found:
    """What the files held."""

    spans: list[Span] = field(default_factory=list)
    owners: dict[str, tuple[Owner, int]] = field(default_factory=dict)  # with the start of its first process
    models: dict[str, str] = field(default_factory=dict)  # of the board that a workload was last on
    files: list[FileDigest] = field(default_factory=list)
    problems: list[tuple[int, Problem]] = field(default_factory=list)  # with the second that they are about
    seen: set[str] = field(default_factory=set)  # digests of the batches that were taken
    newest_s: dict[str, int] = field(default_factory=dict)  # by node: until when it was measured


def together(files: Sequence[InputFile]) -> list[list[InputFile]]:
    """Files that speak of the same boards, mostly those of a node: they are compared with each other and with no others."""
    of_board: dict[str, Kin] = {}
    for file in files:
        kin = Kin(boards_of(file), [file])
        for other in {id(known): known for board in kin.boards if (known := of_board.get(board))}.values():
            kin = Kin(kin.boards | other.boards, other.files + kin.files)
        of_board |= dict.fromkeys(kin.boards, kin)
    return [kin.files for kin in {id(kin): kin for kin in of_board.values()}.values()]


def boards_of(file: InputFile) -> set[str]:
    """As its first whole line says; a file without one stands alone under its own name."""
    with Stream(file) as stream:
        batch = batch_of(stream.read(LONGEST_LINE).split(b"\n", 1)[0].decode("utf-8", errors="replace"))
    return {board["uuid"] for board in batch["boards"]} if batch else {file.name}


def read_file(file: InputFile, found: Found) -> None:
    with Stream(file) as stream:
        lines = stream.read_all().decode("utf-8", errors="replace").split("\n")
        control = rows = 0
        for number, line in enumerate(
            lines[:-1], 1
        ):  # after the last line end there is nothing, or what a kill cut off
            where = f"{file.name}:{number}"
            batch = batch_of(line)
            if batch is None:
                found.problems.append(
                    (
                        day_of(file),
                        Problem(where, "broken-batch", "the line is no whole batch; its joules are estimated"),
                    )
                )
            elif batch["version"] != VERSION:
                raise InputError(
                    "unknown-batch",
                    f"batches of version {batch['version']} are not known",
                    where=where,
                    hint="update apportion here",
                )
            elif batch["sha256"] not in found.seen:
                found.seen.add(batch["sha256"])
                rows += 1
                control += sum(board["to_mj"] - board["from_mj"] for board in batch["boards"])
                take(batch, found, where)
        found.files.append(FileDigest(file.name, stream.sha256, rows, str(control)))


def day_of(file: InputFile) -> int:
    """The first second of the day that the file's name says, 0 where somebody renamed it."""
    named = NAME.fullmatch(file.path.name)
    return int(datetime.strptime(named["day"], "%Y%m%d").replace(tzinfo=UTC).timestamp()) if named else 0


def take(batch: Mapping[str, Any], found: Found, where: str) -> None:
    since, until = Clock(**batch["from"]), Clock(**batch["to"])
    start_ms, node = until.wall_ms - elapsed(since, until), batch["node"]
    second = until.wall_ms // 1000
    if abs(since.wall_ms - start_ms) > JUMP_MS:
        text = f"the clock of {node} was set by {(start_ms - since.wall_ms) / 1000:+.1f} s before {instant_text(second)}; its times are those of the new one"
        found.problems.append((second, Problem(where, "clock-jumped", text)))
    for owner in batch["owners"]:
        made = Owner(owner["workload"], tuple(sorted(owner["labels"].items())))
        _, started = found.owners.get(made.workload, (made, owner["started_s"]))
        found.owners[made.workload] = made, min(started, owner["started_s"])
    for board in batch["boards"]:
        found.models |= {share["workload"]: board["model"] for share in board["shares"]}
        span = span_of(board, node, until, start_ms)
        found.spans.append(span)
        if board["holes_ms"]:
            text = f"{board['uuid']} on {node} was not looked at for {board['holes_ms'] / 1000:.1f} s before {instant_text(second)}: {whose(span)}"
            found.problems.append((second, Problem(where, "estimated", text)))
    found.newest_s[node] = max(second, found.newest_s.get(node, 0))


def span_of(board: Mapping[str, Any], node: str, until: Clock, start_ms: int) -> Span:
    end_ms = until.wall_ms
    parts = tuple(
        Part(
            share["workload"],
            share["mj"],
            share["busy_us"],
            min(max(share["from_ms"], start_ms), end_ms - 1),
            min(max(share["to_ms"], start_ms + 1), end_ms),
        )
        for share in board["shares"]
    )
    counter = (board["uuid"], until.boot, board["resets"])
    return Span(node, counter, board["model"], board["from_mj"], board["to_mj"], start_ms, end_ms, parts)


def whose(span: Span) -> str:
    lost = sum(part.millijoules for part in span.parts if part.workload.endswith(f"/{UNMEASURED}"))
    if lost:
        return f"{lost // 1000} J of it belong to {UNMEASURED}, since nobody knows who worked then"
    return "its joules went to those that were busy around it"


def counted_once(found: Found) -> list[Span]:
    """Along each counter: a stretch that no batch speaks of becomes `_unmeasured`, one that two speak of counts once.

    Takes the spans out of what was found, so that a large cluster is never held whole.
    """
    found.spans, taken = [], found.spans
    order = sorted(taken, key=lambda span: (span.counter, span.from_mj, span.to_mj, span.end_ms))
    spans: list[Span] = []
    for _, run in groupby(order, key=lambda span: span.counter):
        spans += along(run, found)
    return spans


def along(run: Iterable[Span], found: Found) -> Iterator[Span]:
    before: Span | None = None
    twice: list[tuple[Span, int]] = []
    for span in run:
        reached = span.from_mj if before is None else before.to_mj
        if before and span.from_mj > reached:
            yield gap_between(before, span, found)
        if span.to_mj > reached or span.from_mj == reached:
            fresh = span if span.from_mj >= reached else after(span, reached)
            yield fresh
            before = fresh
        if span.from_mj < reached:
            twice.append((span, min(reached, span.to_mj) - span.from_mj))
    counted = sum(millijoules for _, millijoules in twice)
    if counted:
        first = twice[0][0]
        text = f"{len(twice)} batches of {first.node} speak of joules of {first.counter[0]} that others speak of too; {counted // 1000} J count once"
        found.problems.append((first.end_ms // 1000, Problem(first.node, "two-agents", text)))


def gap_between(before: Span, span: Span, found: Found) -> Span:
    """The counter went on while no batch tells who worked: lost files, or an agent that began without its spool."""
    nobody = own(UNMEASURED, Place(span.node))
    start_ms, end_ms = before.end_ms, max(before.end_ms + 1, span.start_ms)
    found.owners.setdefault(nobody.workload, (nobody, start_ms // 1000))
    joules = span.from_mj - before.to_mj
    text = (
        f"no batch speaks of {joules // 1000} J of {span.counter[0]} on {span.node} between {instant_text(start_ms // 1000)} and "
        f"{instant_text(end_ms // 1000)}; they belong to {nobody.workload}"
    )
    found.problems.append((start_ms // 1000, Problem(span.node, "estimated", text)))
    part = Part(nobody.workload, joules, None, start_ms, end_ms)
    return replace(span, from_mj=before.to_mj, to_mj=span.from_mj, start_ms=start_ms, end_ms=end_ms, parts=(part,))


def after(span: Span, reached: int) -> Span:
    """What of a span lies beyond a reading of its counter, in the same proportions."""
    left, whole = span.to_mj - reached, span.to_mj - span.from_mj
    joules = apportioned(left, [part.millijoules for part in span.parts])
    parts = tuple(
        replace(part, millijoules=mine, busy_us=None if part.busy_us is None else part.busy_us * left // whole)
        for part, mine in zip(span.parts, joules, strict=True)
    )
    return replace(span, from_mj=reached, parts=parts)
