"""What sacct's fields hold, and the headers of exports that come without one: to notice a file that is read with another file's header."""

import re
from collections.abc import Sequence

from apportion.errors import InputError
from apportion.model.times import parse_instant, zone_named
from apportion.sources.cells.shapes import Expectation, expect
from apportion.sources.slurm.attempts import duration

XDMOD = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit", "Eligible", "Start", "End", "Elapsed",
    "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
)  # fmt: skip
XDMOD_WITH_GRES = tuple(
    name for field in XDMOD if field != "QOS" for name in (("ReqGRES", field) if field == "ReqTRES" else (field,))
)
XDMOD_BEFORE_TRES = tuple(name for name in XDMOD_WITH_GRES if name != "AllocTRES")
KNOWN_HEADERS = {
    "Open XDMoD's Slurm export": XDMOD,
    "an older Slurm export of Open XDMoD, with ReqGRES and AllocTRES": XDMOD_WITH_GRES,
    "an older Slurm export of Open XDMoD, with ReqGRES": XDMOD_BEFORE_TRES,
}
TIME = re.compile(r"[0-9]{9,12}|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}(?:Z|[+-][0-9:]{4,5})?|Unknown|None", re.ASCII)
STATE = re.compile(r"[A-Z][A-Z_]*(?: by .*)?\+?", re.ASCII)
EXIT_CODE = re.compile(r"[0-9]+:[0-9]+", re.ASCII)
COUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?[KMGT]?", re.ASCII)
NO_LIMIT = frozenset({"unlimited", "partition_limit", "invalid"})
TRES = re.compile(r"(?:[a-z][^=]*=[^=,]*)(?:,[a-z][^=]*=[^=,]*)*", re.ASCII)
CLOCK_CHANGES_S = (1800, 3600)  # local times on a day on which clocks change
UTC = zone_named("UTC")


def is_duration(cell: str) -> bool:
    return duration(cell) is not None or cell.casefold() in NO_LIMIT


def instant(cell: str) -> int | None:
    """In UTC, whatever zone it was: only differences are asked for."""
    if cell.isdecimal():
        return int(cell)
    try:
        return parse_instant(cell, UTC)
    except InputError:
        return None


def agree(rows: Sequence[tuple[str, ...]]) -> list[bool | None]:
    """Of elapsed, start, end and where it is there suspended time: whether the first is what lies between the others."""
    return [runs_as_long(*row) for row in rows]


def runs_as_long(elapsed: str, start: str, end: str, suspended: str = "") -> bool | None:
    begins, ends, ran = instant(start), instant(end), duration(elapsed)
    if begins is None or ends is None or ran is None:
        return None
    apart = abs(ends - begins - ran - (duration(suspended) or 0))
    return apart <= 1 or apart in CLOCK_CHANGES_S


def waited(rows: Sequence[tuple[str, ...]]) -> list[bool | None]:
    """Of Start, Submit, Elapsed and ElapsedRaw, where no elapsed time says more: until 22.05 a resized job starts before its new submission."""
    return [None if short or raw else starts_late(start, submit) for start, submit, short, raw in rows]


def starts_late(start: str, submit: str) -> bool | None:
    begins, asked = instant(start), instant(submit)
    return None if begins is None or asked is None or begins == asked else begins > asked


def allocated(rows: Sequence[tuple[str, ...]]) -> list[bool | None]:
    """Of AllocTRES and ReqTRES: false where nodes or billing are said of the second alone. Slurm says both of what a job got, and of a request at most both."""
    return [got_as_asked(*row) for row in rows]


def got_as_asked(got: str, asked: str) -> bool | None:
    """None where both say the same of them."""
    one, other = ({entry.partition("=")[0] for entry in cell.split(",")} & {"node", "billing"} for cell in (got, asked))
    return None if one == other or not asked else not other - one


EXPECTED = (
    *expect(("Submit", "Eligible", "Start", "End"), "times", lambda cell: TIME.fullmatch(cell) is not None),
    *expect(("Elapsed", "ElapsedRaw", "Suspended", "Timelimit", "TimelimitRaw"), "durations", is_duration),
    *expect(("State",), "states of a job", lambda cell: STATE.fullmatch(cell) is not None),
    *expect(("ExitCode",), "exit codes", lambda cell: EXIT_CODE.fullmatch(cell) is not None),
    *expect(
        ("NNodes", "NCPUS", "AllocCPUS", "ReqCPUS", "UID", "GID"),
        "counts",
        lambda cell: COUNT.fullmatch(cell) is not None,
    ),
    *expect(("AllocTRES", "ReqTRES"), "TRES such as cpu=8,mem=64G", lambda cell: TRES.fullmatch(cell) is not None),
    *(
        Expectation(elapsed, "the time from Start to End", agree, ("Start", "End"), ("Suspended",))
        for elapsed in ("Elapsed", "ElapsedRaw")
    ),
    Expectation("Start", "times after Submit", waited, ("Submit",), ("Elapsed", "ElapsedRaw")),
    Expectation("AllocTRES", "what jobs got (ReqTRES alone has its node= or billing=)", allocated, ("ReqTRES",)),
)
