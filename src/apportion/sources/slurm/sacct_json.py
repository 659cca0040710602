"""What `sacct --json` and slurmrestd say of jobs, as the same columns of text as `sacct -P`; every data_parser from 22.05 on.

Numbers are plain, null or `{set, infinite, number}`; a state is a word or a list of words; TRES are lists. Steps repeat what the job holds and are passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError

BLOCK_ROWS = 2**16
INFINITE = 2**63 - 1  # what a count without a value looks like when it is written out
NOW = ("REQUEUED", "RESIZING", "PREEMPTED", "NODE_FAIL")  # of several words, these say how the attempt ended


def blocks(document: Any, name: str) -> Iterator[pa.Table]:
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    if not isinstance(jobs, list):
        raise InputError(
            "bad-response",
            f"{name} holds no list of jobs",
            where=name,
            hint="save it with sacct --json, or ask slurmrestd for /slurmdb/VERSION/jobs",
        )
    rows = (row_of(job) for job in jobs if isinstance(job, Mapping))
    while block := list(islice(rows, BLOCK_ROWS)):
        table = pa.table({key: pa.array([row[key] for row in block], pa.string()) for key in block[0]})
        yield pa.table({key: pc.if_else(pc.equal(table[key], ""), None, table[key]) for key in table.column_names})
    yield pa.table({key: pa.array([], pa.string()) for key in row_of({})})  # so that there is one, also without jobs


def row_of(job: Mapping[str, Any]) -> dict[str, str]:
    times, state = inner(job, "time"), inner(job, "state")
    reservation, comment = inner(job, "reservation"), inner(job, "comment")
    return {
        "jobidraw": text(job.get("job_id")),
        "jobid": shown_id(job),
        "cluster": text(job.get("cluster")) or text(inner(job, "association").get("cluster")),
        "user": text(job.get("user")) or text(inner(job, "association").get("user")),
        "group": text(job.get("group")),
        "account": text(job.get("account")) or text(inner(job, "association").get("account")),
        "partition": text(job.get("partition")),
        "qos": text(job.get("qos")),
        "wckey": text(inner(job, "wckey").get("wckey")),
        "reservation": reservation["name"] if isinstance(reservation.get("name"), str) else "",
        "reservationid": positive(reservation.get("id")),
        "jobname": text(job.get("name")),
        "submit": positive(times.get("submission")),
        "start": positive(times.get("start")),
        "end": positive(times.get("end")),
        "elapsedraw": text(number(times.get("elapsed"))),
        "suspended": text(number(times.get("suspended"))),
        "state": state_word(state.get("current")),
        "exitcode": exit_code(inner(job, "exit_code"), state_word(state.get("current"))),
        "nodelist": text(job.get("nodes")),
        "alloctres": tres_text(inner(job, "tres").get("allocated")),
        "consumedenergyraw": energy(job.get("steps")),
        "timelimitraw": text(number(times.get("limit"))),
        "restarts": text(number(job.get("restart_cnt"))),
        "admincomment": text(comment.get("administrator")),
        "comment": text(comment.get("job")),
        "container": text(job.get("container")),
        "submitline": text(job.get("submit_line")),
    }


def inner(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key)
    return value if isinstance(value, Mapping) else {}


def text(value: object) -> str:
    return "" if value is None or isinstance(value, bool | Mapping | list) else str(value)


def number(value: Any) -> int | None:
    """A count, where there is one."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < INFINITE:
        return None
    return value


def positive(value: Any) -> str:
    return str(number(value) or "")


def state_word(current: Any) -> str:
    if isinstance(current, Sequence) and not isinstance(current, str):
        words = [str(word) for word in current]
        return next((word for word in NOW if word in words), words[0] if words else "")
    return text(current)


def shown_id(job: Mapping[str, Any]) -> str:
    """`9_3` of an array, `31+1` of a het job."""
    own = text(job.get("job_id"))
    array, het = inner(job, "array"), inner(job, "het")
    task, part = number(array.get("task_id")), number(het.get("job_offset"))
    if (base := number(array.get("job_id"))) and task is not None:
        return f"{base}_{task}"
    if (base := number(het.get("job_id"))) and part is not None:
        return f"{base}+{part}"
    return own


def exit_code(told: Mapping[str, Any], state: str) -> str:
    """22.05 says 0 of jobs that failed or were requeued: that is no exit code."""
    signal = inner(told, "signal")
    returned, by = number(told.get("return_code")), number(signal.get("id", signal.get("signal_id")))
    if returned is None and by is None:
        return ""
    found = f"{returned or 0}:{by or 0}"
    return "" if found == "0:0" and state != "COMPLETED" else found


def tres_text(entries: Any) -> str:
    """As sacct writes it; memory is in MiB."""
    found = []
    for entry in entries if isinstance(entries, list) else ():
        count = number(entry.get("count"))
        kind, name = text(entry.get("type")), text(entry.get("name"))
        if count:
            found.append(f"{kind}/{name}={count}" if name else f"{kind}={count}{'M' if kind == 'mem' else ''}")
    return ",".join(found)


def energy(steps: Any) -> str:
    """Joules of all steps, which is what sacct's ConsumedEnergyRaw of a job is."""
    known = [
        inner(inner(step, "statistics"), "energy").get("consumed") for step in steps or () if isinstance(step, Mapping)
    ]
    return str(sum(number(consumed) or 0 for consumed in known) or "")
