"""Jobs by the id that their scheduler writes: `35` for `slurm/lab/35`, which tells clusters apart, and for its attempts `slurm/lab/35@1790000000`."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.reports.words import counted
from apportion.verbs.job_clusters import jobs_apart
from apportion.verbs.project import Project

COLUMNS = ("workload", "run", "name", "start_s")
ATTEMPT = r"(@[^/@]*|~+[0-9a-f]{16})$"  # when it was submitted, and which of several label sets it has
MOST = 10  # candidates that are listed


def known_jobs(project: Project, short: str = "") -> pa.Table:
    """All; those whose ids several clusters have by their clusters, of ids that end as `short` does."""
    jobs = project.books.scan("workloads", columns=[*COLUMNS])
    apart = jobs_apart(project, short.rpartition("/")[2])
    if not apart:
        return jobs
    rest = jobs.filter(pc.invert(pc.is_in(jobs["run"], pa.array([job.run for job in apart], pa.string()))))
    return pa.concat_tables([rest, *(job.known.select(COLUMNS).cast(jobs.schema) for job in apart)])


def without_attempt(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.replace_substring_regex(ids, ATTEMPT, "")


def full_ids(jobs: pa.Table, short: str) -> list[str]:
    """Of the runs that end so, else of the workloads; `lab/35` is narrower than `35`."""
    for column in ("run", "workload") if short else ():
        ids = pc.unique(jobs[column])
        found = ids.filter(pc.ends_with(without_attempt(ids), f"/{short}"))
        if len(found):
            return sorted(found.to_pylist())
    return []


def runs_called(jobs: pa.Table, short: str) -> list[str]:
    """The runs that such jobs belong to."""
    ids = pa.array(full_ids(jobs, short), pa.string())
    own = pc.or_(pc.is_in(jobs["run"], ids), pc.is_in(jobs["workload"], ids))
    return sorted(set(jobs.filter(own)["run"].to_pylist()))


def ambiguous_job(jobs: pa.Table, short: str, ids: Sequence[str], command: str) -> ProjectError:
    """`command` has `JOB` where the full id belongs."""
    shown = [describe_job(jobs, one) for one in ids[:MOST]]
    shown += [f"{len(ids) - MOST} more"] if len(ids) > MOST else []
    commands = [f"`{command.replace('JOB', shlex.quote(one))}`" for one in ids[:MOST]]
    message = f"{counted(len(ids), 'job')} end in {short!r}: {', '.join(shown)}"
    return ProjectError("ambiguous-job", message, hint=f"name one of them: {', '.join(commands)}")


def describe_job(jobs: pa.Table, full: str) -> str:
    rows = jobs.filter(pc.or_(pc.equal(jobs["run"], full), pc.equal(jobs["workload"], full)))
    name = next((one for one in rows["name"].to_pylist() if one), "")
    day = datetime.fromtimestamp(pc.min(rows["start_s"]).as_py(), UTC).date().isoformat()
    return f"{full} ({name + ', ' if name else ''}{day})"
