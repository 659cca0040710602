"""Asking Slurm's commands, here or over ssh: every attempt of all users that touches a window, and what the cluster is made of.

Only fields that this Slurm has are asked for (an unknown one is an error), free text last and the job's id once more after it. The delimiter is drawn anew
for each question: nobody can name a job so that it reads as another record.
"""

import secrets
from collections.abc import Iterator, Sequence

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.times import Interval, instant_text
from apportion.sources.live import Progress
from apportion.sources.outside.command import Shell
from apportion.sources.slurm.attempts import column, duration
from apportion.sources.slurm.capacity import events_of
from apportion.sources.slurm.delivery import Said
from apportion.sources.slurm.nodes import from_scontrol
from apportion.sources.slurm.reservations import associations_of, from_sacctmgr, merged
from apportion.sources.slurm.reservations import from_scontrol as reserved_now
from apportion.sources.slurm.sacct_text import Text
from apportion.sources.slurm.settings import How

WANTED = (
    "JobIDRaw", "JobID", "Cluster", "User", "Group", "Account", "Partition", "QOS", "WCKey", "Reservation", "ReservationId", "Submit",
    "Start", "End", "ElapsedRaw", "Suspended", "State", "ExitCode", "NNodes", "NodeList", "AllocCPUS", "AllocTRES", "ConsumedEnergyRaw",
    "TimelimitRaw", "Restarts", "JobName", "AdminComment", "Comment", "JobIDRaw",
)  # fmt: skip
RAN = ("Container", "SubmitLine")  # free text as well, asked for where commands are kept
IN_EPOCHS = ("env", "TZ=UTC", "SLURM_TIME_FORMAT=%s")
EVENTS = "format=Cluster,ClusterNodes,NodeName,Start,End,State,TRES,Reason"
RESERVATIONS = "format=Cluster,Name,TRES,Start,End,Assoc,Flags,ID,NodeNames"
PARTS = 6
AT_ONCE = 5000  # job ids in one question: a word of a command line holds 128 KiB


def read_commands(shell: Shell, window: Interval, how: How, said: Said) -> Iterator[Progress]:
    """Fills `said` with what the window touches."""
    said.cluster = how.cluster or config(shell).get("ClusterName", "")
    yield Progress(1, PARTS, "sacct")
    ask_jobs(shell, window, said, RAN if how.commands else ())
    yield Progress(2, PARTS, "suspended jobs")
    ask_suspended(shell, window, said)
    yield Progress(3, PARTS, "nodes")
    said.nodes |= {node.name: node for node in from_scontrol(text(shell, *IN_EPOCHS, "scontrol", "-o", "show", "node"))}
    yield Progress(4, PARTS, "events")
    bounds = (f"start={moment(window.start_s)}", f"end={moment(window.end_s)}")
    events = events_of(text(shell, *IN_EPOCHS, "sacctmgr", "-P", "show", "event", *bounds, EVENTS), how.zone)
    said.events = [event for event in events if not said.cluster or event.cluster in ("", said.cluster)]
    yield Progress(5, PARTS, "reservations")
    ids = associations_of(text(shell, "sacctmgr", "-P", "show", "assoc", "format=ID,Account,User"))
    recorded = text(shell, *IN_EPOCHS, "sacctmgr", "-P", "show", "reservation", *bounds, RESERVATIONS)
    current = text(shell, *IN_EPOCHS, "scontrol", "-o", "show", "reservation")
    found = merged(from_sacctmgr(recorded, ids, how.zone), reserved_now(current, said.cluster, how.zone))
    said.reservations += [one for one in found if not said.cluster or one.cluster in ("", said.cluster)]


def text(shell: Shell, *words: str) -> str:
    return shell.run(words).decode("utf-8", "replace")


def config(shell: Shell) -> dict[str, str]:
    """slurm.conf as the controller has it."""
    lines = text(shell, "scontrol", "show", "config").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def fields(shell: Shell, more: Sequence[str] = ()) -> list[str]:
    """Those that we want and this Slurm has; `more` before the last, which ends a record."""
    known = {name.casefold() for name in text(shell, "sacct", "-e").split()}
    return [name for name in (*WANTED[:-1], *more, *WANTED[-1:]) if name.casefold() in known]


def query(names: Sequence[str], window: Interval, delimiter: str, *more: str) -> list[str]:
    """Jobs without steps (-X), all attempts (-D), of all users (-a), amounts as they are, times in seconds."""
    bounds = ("-S", moment(window.start_s), "-E", moment(window.end_s))
    return [
        *IN_EPOCHS,
        "sacct",
        "-a",
        "-X",
        "-D",
        "-P",
        "--noconvert",
        f"--delimiter={delimiter}",
        *bounds,
        *more,
        "-o",
        ",".join(names),
    ]


def moment(second: int) -> str:
    return instant_text(second).rstrip("Z")


def drawn() -> str:
    return f"\x1f{secrets.token_hex(6)}\x1f"


def ask_jobs(shell: Shell, window: Interval, said: Said, more: Sequence[str] = ()) -> None:
    delimiter = drawn()
    told = Text("sacct", delimiter=delimiter)
    out = text(shell, *query(fields(shell, more), window, delimiter))
    said.accounting += [("sacct", block) for block in told.blocks([out.removesuffix("\n")])]
    said.problems += [Problem(f"sacct, line {line}", "malformed-row", why) for line, why in told.malformed]


def ask_suspended(shell: Shell, window: Interval, said: Said) -> None:
    """Suspended seconds inside the window: -T cuts them to it."""
    ids = sorted({job for _, block in said.accounting for job in suspended(block)})
    found: dict[tuple[str, int], int] = {}
    for first in range(0, len(ids), AT_ONCE):
        delimiter = drawn()
        words = query(
            ("JobIDRaw", "Submit", "Suspended", "JobIDRaw"),
            window,
            delimiter,
            "-T",
            "-j",
            ",".join(ids[first : first + AT_ONCE]),
        )
        for block in Text("sacct", delimiter=delimiter).blocks([text(shell, *words).removesuffix("\n")]):
            cells = (column(block, name).to_pylist() for name in ("jobidraw", "submit", "suspended"))
            found |= {
                (job, int(submit)): duration(held) or 0 for job, submit, held in zip(*cells, strict=True) if submit
            }
    said.suspended = found


def suspended(block: pa.Table) -> list[str]:
    """Jobs that were, at some time."""
    cells = (column(block, name).to_pylist() for name in ("jobidraw", "suspended"))
    return [job for job, held in zip(*cells, strict=True) if job and duration(held)]
