"""Rows of accounting to attempts: one for each time that a job held nodes, with whole times, an identity and an outcome.

An attempt is told from another by cluster, job id and time of submission: a requeued job keeps its id and is submitted anew, and ids come again after MaxJobId.
Which rows tell of one attempt is settled in repeats.py, once all are there.
"""

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError, ProjectError
from apportion.model.rows import OUTCOMES, SECOND, TEXT
from apportion.model.times import instant_text
from apportion.sources.cells.clock_changes import TOLD
from apportion.sources.cells.instants import instants
from apportion.sources.cells.text import per_distinct, rows_where
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.hostlists import NOBODY
from apportion.sources.slurm.settings import How

OUTCOME = {
    **{word.upper(): word for word in OUTCOMES},
    "DEADLINE": "timeout", "BOOT_FAIL": "node_fail", "SPECIAL_EXIT": "failed", "REVOKED": "cancelled", "LAUNCH_FAILED": "failed",
    "RESIZING": "completed",  # what the job held until it was resized; the next row goes on
    "SUSPENDED": "running", "COMPLETING": "running", "CONFIGURING": "running", "STOPPED": "running", "SIGNALING": "running",
    "STAGE_OUT": "running", "EXPEDITING": "running",
}  # fmt: skip
DURATION = re.compile(r"(?:([0-9]{1,6})-)?(?:([0-9]{1,6}):)?([0-9]{1,6}):([0-9]{2})(?:\.[0-9]+)?")
EARLIEST, LATEST = (
    10**9,
    10**10 - 1,
)  # 2001 to 2286, the times of ten digits: Slurm is younger, and a digit more or less lies outside
FEW = 100  # values that are looked at to know how times are written
KEPT = (  # fields that are read later
    "user", "group", "account", "partition", "qos", "wckey", "reservation", "reservationid", "jobname", "exitcode", "nodelist", "alloccpus", "ncpus",
    "alloctres", "consumedenergyraw", "restarts", "admincomment", "comment", "first_state", "container", "submitline",
)  # fmt: skip
WAITING = ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT_HOLD")


def column(table: pa.Table, *names: str) -> pa.Array:
    """The first of the fields that is there, as one array; nulls where none is."""
    for name in names:
        if name in table.column_names:
            found = table[name]
            return found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()
    return pa.nulls(table.num_rows, pa.string())


def attempts(raw: pa.Table, how: How, faults: Faults) -> pa.Table:
    """The rows that are attempts, with the columns id, run, job, cluster, start_s, end_s (null where it runs), told_s, suspended_s, limit_s, state, outcome;

    apart_s is by how much the time from start to end is more than what Slurm says the job ran. `withheld` is the code of why a row is not taken, else null.
    """
    require(raw, how, faults.name)
    raw = kept(raw, pc.invert(is_step(raw)))
    state = per_distinct(column(raw, "state"), lambda words: pc.replace_substring_regex(words, r"[ +].*$", ""))
    ran = pc.invert(pc.fill_null(pc.is_in(state, pa.array(WAITING)), fill_value=False))
    if "nodelist" in raw.column_names:
        ran = pc.and_(ran, pc.or_(pc.invert(nowhere(raw)), column(raw, "alloctres").is_valid()))
    raw = kept(raw.append_column("first_state", state), ran)
    times = {name: moment(raw, name, how, faults) for name in ("submit", "start", "end")}
    begun = times["start"].is_valid()
    return identified(kept(raw, begun), {name: values.filter(begun) for name, values in times.items()}, how, faults)


def nowhere(raw: pa.Table) -> pa.Array:
    """Rows whose NodeList names no node, where there is such a field."""
    if "nodelist" not in raw.column_names:
        return pa.repeat(pa.scalar(False), raw.num_rows)
    return pc.is_in(pc.fill_null(column(raw, "nodelist"), ""), pa.array(sorted(NOBODY)))


def kept(table: pa.Table, mask: pa.Array) -> pa.Table:
    """Mostly all rows stay, and then nothing is copied."""
    return table if pc.all(mask, min_count=0).as_py() else table.filter(mask)


def require(raw: pa.Table, how: How, name: str) -> None:
    """What nothing can be said without."""
    missing = [
        " or ".join(names)
        for names in (
            ("JobIDRaw", "JobID"),
            ("Start",),
            ("End", "ElapsedRaw", "Elapsed"),
            ("AllocTRES", "AllocCPUS", "NCPUS"),
        )
        if not any(name.casefold() in raw.column_names for name in names)
    ]
    if missing:
        raise InputError(
            "missing-columns",
            f"{name} lacks {', '.join(missing)}",
            where=how.where,
            hint="save it with the fields that docs/how-to/read-slurm.md lists",
        )
    if "cluster" not in raw.column_names and not how.cluster:
        raise ProjectError(
            "missing-setting",
            "nothing says which cluster the jobs ran on",
            where=how.where,
            hint='add the field Cluster to the file, or cluster = "..." to the stanza',
        )


def is_step(raw: pa.Table) -> pa.Array:
    """`17.batch`, `17.extern` and `17.0` repeat what the job holds."""
    return pc.fill_null(pc.match_substring(column(raw, "jobid", "jobidraw"), "."), fill_value=False)


def moment(raw: pa.Table, name: str, how: How, faults: Faults) -> pa.Array:
    """Seconds since 1970; `Unknown` and `None` are null. What is no time is listed, and null."""
    cells = column(raw, name)
    first = next((cell for cell in cells.unique().slice(0, FEW).to_pylist() if cell and cell[:1].isdecimal()), "")
    found = instants(cells, how.zone, "epoch" if first.isdecimal() else "iso")
    ids = column(raw, "jobidraw", "jobid")
    for row in found.bad:
        faults.job(ids[row].as_py(), "invalid-time", f"{cells[row].as_py()!r} is not a time")
    for row, code in found.clock_changes if name != "submit" else ():
        faults.job(ids[row].as_py(), code, f"{name} {cells[row].as_py()!r} {TOLD[code]}")
    stray = pc.or_(pc.less(found.values, EARLIEST), pc.greater(found.values, LATEST))
    for row in rows_where(stray):
        message = f"{name} {cells[row].as_py()!r} is {instant_text(found.values[row].as_py())}: no job of Slurm's"
        faults.job(ids[row].as_py(), "invalid-time", message)
    return pc.if_else(stray, None, found.values)


def identified(raw: pa.Table, times: Mapping[str, pa.Array], how: How, faults: Faults) -> pa.Table:
    job = column(raw, "jobidraw", "jobid")
    cluster = pc.fill_null(column(raw, "cluster"), how.cluster or "slurm")
    start, submit = times["start"], pc.coalesce(times["submit"], times["start"])
    shown = column(raw, "jobid", "jobidraw")
    base = pc.replace_substring_regex(shown, r"[_+].*$", "")
    elapsed = seconds(column(raw, "elapsedraw", "elapsed"))
    suspended = pc.fill_null(seconds(column(raw, "suspended")), 0)
    told = pc.add(start, pc.add(elapsed, suspended))
    told = pc.if_else(pc.less_equal(told, LATEST), told, None)
    limit = pc.coalesce(pc.multiply(seconds(column(raw, "timelimitraw")), 60), seconds(column(raw, "timelimit")))
    outcome = outcomes(raw, times["end"], faults)
    over = pc.not_equal(outcome, "running")
    end = pc.if_else(over, pc.coalesce(times["end"], told), times["end"])
    lasted = pc.greater(pc.coalesce(elapsed, pc.subtract(end, start), pa.scalar(0, SECOND)), 0)
    lost = nowhere(raw)
    made = {
        "id": pc.binary_join_element_wise("slurm/", cluster, "/", job, "@", pc.cast(submit, pa.string()), ""),
        "run": pc.binary_join_element_wise("slurm/", cluster, "/", base, ""),
        "job": job,
        "shown": shown,
        "task": column(raw, "jobid"),
        "cluster": cluster,
        "submit_s": submit,
        "start_s": start,
        "end_s": end,
        "told_s": told,
        "suspended_s": suspended,
        "limit_s": limit,
        "outcome": outcome,
        "apart_s": pc.if_else(over, pc.subtract(times["end"], told), None),
        "withheld": pc.if_else(lost, pa.scalar("missing-resource", TEXT), pa.scalar(None, TEXT)),
    }
    whole = pa.table({**{name: raw[name] for name in KEPT if name in raw.column_names}, **made})
    return checked(kept(whole, pc.invert(pc.and_(lost, pc.invert(lasted)))), faults)


def checked(whole: pa.Table, faults: Faults) -> pa.Table:
    """Without rows that lost their end, or end before they start."""
    end, start = whole["end_s"].combine_chunks(), whole["start_s"].combine_chunks()
    lost = pc.and_(end.is_null(), pc.not_equal(whole["outcome"], "running").combine_chunks())
    turned = pc.fill_null(pc.less(end, start), fill_value=False)
    for mask, code, message in (
        (lost, "missing-end", "the job is over and has no end; it is left out"),
        (turned, "reversed-period", "the job ends before it starts; it is left out"),
    ):
        for row in rows_where(mask):
            faults.job(whole["job"][row].as_py(), code, message)
    return kept(whole, pc.invert(pc.or_(lost, turned)))


def outcomes(raw: pa.Table, end: pa.Array, faults: Faults) -> pa.Array:
    """An outcome that nobody knows counts as completed, so that no credit is given by mistake; without a state, what has no end runs."""
    state = column(raw, "first_state")
    distinct = [word for word in state.unique().to_pylist() if word is not None]
    for word in sorted(set(distinct) - set(OUTCOME)):
        faults.note("unknown-outcome", f"nobody knows the state {word!r}; such jobs count as completed")
    ours = per_distinct(
        state,
        lambda words: pa.array(
            [None if word is None else OUTCOME.get(word, "completed") for word in words.to_pylist()], pa.string()
        ),
    )
    return pc.coalesce(ours, pc.if_else(end.is_null(), "running", "completed"))


def seconds(cells: pa.Array) -> pa.Array:
    """`1-02:03:04`, `03:04` or plain seconds; null for words such as UNLIMITED."""
    return per_distinct(cells, lambda texts: pa.array([duration(text) for text in texts.to_pylist()], SECOND))


def duration(text: str | None) -> int | None:
    if text is None:
        return None
    if text.isdecimal() and len(text) <= 12:
        return int(text)
    found = DURATION.fullmatch(text)
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest
