"""What Slurm said, from wherever it came, to one delivery. Pure: the same outputs and window give the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.month_parts import MonthParts
from apportion.model.times import Interval, Period, instant_text
from apportion.sources.cells.since import first_end
from apportion.sources.cells.text import rows_where
from apportion.sources.slurm.attempts import attempts, column, kept
from apportion.sources.slurm.capacity import Event, Offered, capacity
from apportion.sources.slurm.doubts import quarantined, tell_guesses, tell_withheld
from apportion.sources.slurm.energy import energy
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.nodes import Node
from apportion.sources.slurm.repeats import settled
from apportion.sources.slurm.report import Report, compare
from apportion.sources.slurm.reservations import Reservation, reservations
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.spans import Suspended, ended, spans
from apportion.sources.slurm.usage import Used
from apportion.sources.slurm.workloads import workloads

LONGEST_MONTHS = 36  # beyond it a stray date is likelier than accounting that long
MANY = 1000  # so many jobs without one that was requeued or resized are worth a word


@dataclass
class Said:
    """Everything that was read: rows of accounting as text, and what else is known of the cluster."""

    name: str
    accounting: list[tuple[str, pa.Table]] = field(default_factory=list)
    cluster: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    events: list[Event] | None = None
    reservations: list[Reservation] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    suspended: Suspended = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    files: list[FileDigest] = field(default_factory=list)
    saved: bool = False


def delivery(said: Said, asked: Interval | None, how: How) -> Delivery:
    faults = Faults(said.name, list(said.problems))
    whole = jobs(said, how, faults)
    window = how.window or asked or months(whole, said, how)
    since_s = None if how.window or asked else first_end([whole], how.zone)
    whole = ended(whole, window, how, faults)
    whole = inside(whole, window)
    used = Used(how, said.nodes, faults)
    which = used.look_up(whole)
    names = {one.number: one.name for one in said.reservations if one.number}
    when = spans(whole, window, how, said.suspended, faults)
    holdings = [used.holdings[number] for number in which]
    ran, doubtful = whole.num_rows, quarantined(whole)
    parts = MonthParts.of(window, how.zone)
    taken = tell_withheld(whole, holdings, when, parts, faults)
    if not taken.all():
        whole, which, when = whole.filter(pa.array(taken)), which[taken], when.of(taken)
        holdings = [used.holdings[number] for number in which]
    tell_guesses(whole, holdings, parts, faults)
    compare(said.reports, whole, holdings, when, faults)
    made = {
        "usage": pa.concat_tables([used.table(whole, which, when), energy(whole, holdings, when, how, faults)]),
        "workloads": workloads(whole, which, used.holdings, names, how),
        **offered(said, whole, window, how, faults),
    }
    if said.saved and not ran:  # a cluster that is asked may have been idle
        faults.note("no-rows", "no job ran in the window")
    return Delivery(
        how.source, window, made, faults.listed(), tuple(said.files), withheld=doubtful, since_s=since_s, zone=how.zone
    )


def inside(whole: pa.Table, window: Interval) -> pa.Table:
    """What touches the window; an attempt without length lies where it starts."""
    start, end = whole["start_s"], whole["end_s"]
    reaches = pc.or_(pc.greater(end, window.start_s), pc.and_(pc.equal(start, end), pc.equal(start, window.start_s)))
    return kept(whole, pc.and_(reaches, pc.less(start, window.end_s)))


def jobs(said: Said, how: How, faults: Faults) -> pa.Table:
    """All attempts of all outputs, each once."""
    parts = []
    while said.accounting:  # let go of the texts as they are understood: of a million rows they are half the memory
        name, part = said.accounting.pop(0)
        parts.append(attempts(part, how, faults.of(name)))
    if not parts:
        raise InputError(
            "no-rows",
            f"{said.name} holds no accounting of jobs",
            where=how.where,
            hint="save it as sacct.txt with the command of docs/how-to/read-slurm.md",
        )
    whole = pa.concat_tables(parts, promote_options="default").combine_chunks()
    jobs_ = pc.binary_join_element_wise(whole["cluster"], whole["job"], "/")
    if said.saved and pc.count_distinct(jobs_).as_py() == whole.num_rows:
        doubts(whole, faults)
    return settled(whole)


def doubts(whole: pa.Table, faults: Faults) -> None:
    """What a file in which no job is there twice does not have because of how it was made, where that can be seen."""
    restarts = column(whole, "restarts")
    lost = len(rows_where(pc.match_substring_regex(restarts, "^[1-9]")))
    if lost or whole.num_rows >= MANY:
        jobs_ = f"{lost} jobs were restarted" if lost else f"none of {whole.num_rows} jobs was ever requeued or resized"
        faults.note(
            "attempts-missing",
            f"{jobs_} and no job is there twice: was it saved without -D? Then earlier attempts are missing",
        )


def offered(said: Said, whole: pa.Table, window: Interval, how: How, faults: Faults) -> Mapping[str, pa.Table]:
    """Capacity and reservations, where anything is known of them."""
    if not said.nodes and not said.events and not said.reservations:
        return {}
    clusters = [name for name in pc.unique(whole["cluster"]).to_pylist() if name]
    cluster = clusters[0] if len(clusters) == 1 else how.cluster or said.cluster
    until = min(window.end_s, latest(whole, said, window)) if said.saved else window.end_s
    bounded = Interval(window.start_s, max(window.start_s, until))
    if said.events is None:
        faults.note(
            "no-events",
            "nothing says when nodes were down or drained, so all count as up; save sacctmgr show event too",
        )
    maintained = [(name, one.span) for one in said.reservations if one.is_maintenance for name in one.nodes]
    made = {"capacity": capacity(Offered(said.nodes, said.events or [], maintained, bounded, cluster), how, faults)}
    made["reservations"] = reservations(said.reservations, said.nodes, bounded, cluster, how)
    return made


def latest(whole: pa.Table, said: Said, window: Interval) -> int:
    """The last second that saved outputs speak of: nothing is known of capacity after it."""
    times = [pc.max(pc.coalesce(whole["end_s"], whole["told_s"])).as_py()]
    for event in said.events or ():
        times += [edge for edge in (event.span.start_s, event.span.end_s) if edge < 2**61]
    return max((second for second in times if second is not None), default=window.end_s)


def months(whole: pa.Table, said: Said, how: How) -> Interval:
    """The whole months, in the stanza's time zone, that the jobs cover."""
    first = pc.min(whole["start_s"]).as_py()
    if first is None:
        raise InputError(
            "no-rows",
            f"no job of {said.name} ran, and no window is set",
            where=how.where,
            hint='set window = "2026-10"',
        )
    last = pc.max(pc.coalesce(pc.subtract(whole["end_s"], 1), whole["told_s"], whole["start_s"])).as_py()
    begins, ends = (datetime.fromtimestamp(second, tz=how.zone) for second in (first, max(first, last)))
    count = (ends.year - begins.year) * 12 + ends.month - begins.month + 1
    if count > LONGEST_MONTHS:
        raise InputError(
            "window-too-wide",
            f"the jobs run from {instant_text(first)} to {instant_text(last)}, which is {count} months",
            where=how.where,
            hint='a later delivery replaces all of that: correct the stray date, or set window = "2026-10"',
        )
    return Interval(
        Period(begins.year, begins.month).interval(how.zone).start_s,
        Period(ends.year, ends.month).interval(how.zone).end_s,
    )
