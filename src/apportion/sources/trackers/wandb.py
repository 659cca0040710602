"""Weights & Biases: runs by its GraphQL API, or exported as lines of JSON, as labels on the jobs and pods that they name.

A run names its job by what W&B captured of Slurm's environment (`metadata.slurm` of an export), by its config, or by tags such as
`slurm.job_id:4242` and `pod_uid:…`. Asked for a window: runs that began in it, and those that showed life after its start.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text, parse_instant
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.outside.web import WEB_SETTINGS, Web
from apportion.sources.settings import Stanza, stanza
from apportion.sources.trackers.runs import NAMING, Naming, Run, delivery, measures_of, model_of, workloads_of
from apportion.sources.trackers.saved import documents

SETTINGS = (*WEB_SETTINGS, "entity", "projects", *NAMING)
PAGE = 200
QUERY = (
    "query Runs($entity: String!, $project: String!, $filters: JSONString, $first: Int, $after: String) {"
    " project(name: $project, entityName: $entity) { runs(filters: $filters, first: $first, after: $after) {"
    " edges { node { name displayName state config summaryMetrics group jobType sweepName createdAt heartbeatAt tags user { username } } }"
    " pageInfo { endCursor hasNextPage } } } }"
)
STANZA = """\
[[sources]]
name = "wandb"
kind = "wandb"
path = "runs/*.jsonl"                # exported runs, one a line; or ask the server:
# url = "https://api.wandb.ai"
# username = "api"
# password = "env:WANDB_API_KEY"
# entity = "my-team"
# projects = ["pretraining"]
# cluster = "hpc"                    # of runs that name none
# tokens = ["train/tokens"]          # the summary's key that counts them; samples likewise
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery of the window's runs, or of all runs that were exported."""
    found = stanza(settings, SETTINGS)
    naming = Naming.of(found)
    if "path" in settings:
        yield exported(found, base, naming, window)
        return
    if window is None:
        raise ProjectError("no-period", "a server is asked for a window", where=found.where, hint="name a period")
    entity, projects = found.text("entity"), found.names("projects")
    if not projects:
        raise ProjectError(
            "missing-setting",
            "the setting projects is missing",
            where=found.where,
            hint='such as projects = ["pretraining"]',
        )
    runs = []
    with Web.of(found) as web:
        for number, project in enumerate(projects):
            yield Progress(number, len(projects), project)
            runs += [
                run_of({**row, "project": project}, naming, window) for row in search(web, entity, project, window)
            ]
    yield delivery(runs, naming, window)


def search(web: Web, entity: str, project: str, window: Interval) -> Iterator[Mapping[str, Any]]:
    alive = {"createdAt": {"$lt": instant_text(window.end_s)}, "heartbeatAt": {"$gte": instant_text(window.start_s)}}
    asked: dict[str, Any] = {"entity": entity, "project": project, "filters": json.dumps(alive), "first": PAGE}
    while True:
        answer = web.post("/graphql", document={"query": QUERY, "variables": asked})
        runs = runs_in(answer, web.where, f"{entity}/{project}")
        yield from (edge["node"] for edge in runs.get("edges") or () if isinstance(edge, Mapping) and edge.get("node"))
        page = runs.get("pageInfo") or {}
        if not page.get("hasNextPage") or page.get("endCursor") in (None, asked.get("after")):
            return
        asked["after"] = page["endCursor"]


def runs_in(answer: Any, where: str, project: str) -> Mapping[str, Any]:
    found = ((answer.get("data") or {}).get("project") or {}).get("runs") if isinstance(answer, Mapping) else None
    if not isinstance(found, Mapping):
        errors = answer.get("errors") if isinstance(answer, Mapping) else None
        said = (
            errors[0].get("message", "")
            if isinstance(errors, list) and errors and isinstance(errors[0], Mapping)
            else ""
        )
        raise InputError(
            "bad-response",
            f"there is no project {project} to see: {said}"[:200],
            where=where,
            hint="see entity, projects and password of the source",
        )
    return found


def run_of(row: Mapping[str, Any], naming: Naming, window: Interval | None) -> Run:
    """Of the API or of an export: the same fields in two spellings."""
    config = config_of(row.get("config"))
    tags = {**config, **captured(row), **tagged(row.get("tags"))}
    start = second(row, "createdAt", "created_at")
    end = second(row, "heartbeatAt", "heartbeat_at") or (window.end_s if window else start)
    if str(row.get("state") or "") == "running" and window:
        end = max(end, window.end_s)
    user = row.get("user")
    identity = text(row, "id", "run_id") if "displayName" not in row else text(row, "name")
    labels = {
        "ml.tracker": "wandb",
        "ml.run": identity or text(row, "name"),
        "ml.run_name": text(row, "displayName", "display_name", "name"),
        "ml.experiment": text(row, "project"),
        "ml.group": text(row, "group"),
        "ml.job_type": text(row, "jobType", "job_type"),
        "ml.sweep": text(row, "sweepName", "sweep_name", "sweep"),
        "ml.user": str(user.get("username") or "") if isinstance(user, Mapping) else text(row, "user", "username"),
        "ml.model": model_of(tags, naming),
    }
    measures = measures_of((summary_of(row), config), naming)
    return Run(labels["ml.run"], Interval(start, max(start, end)), labels, tags, measures)


def text(row: Mapping[str, Any], *keys: str) -> str:
    return next((row[key] for key in keys if isinstance(row.get(key), str) and row[key]), "")


def second(row: Mapping[str, Any], *keys: str) -> int:
    said = text(row, *keys)
    return parse_instant(said if said.endswith("Z") or "+" in said else f"{said}Z") if said else 0


def summary_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The last value of each metric, by lower-case key."""
    found = unpacked(row.get("summaryMetrics") or row.get("summary_metrics") or row.get("summary"))
    return {str(key).lower(): value for key, value in found.items()}


def unpacked(given: Any) -> Mapping[str, Any]:
    """The API hands objects over as text."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, Mapping) else {}


def config_of(config: Any) -> dict[str, str]:
    """Plain values by lower-case key; the API wraps each as `{"value": …}`."""
    plain = {
        key: value.get("value") if isinstance(value, Mapping) and "value" in value else value
        for key, value in unpacked(config).items()
    }
    return {str(key).lower(): str(value) for key, value in plain.items() if isinstance(value, str | int)}


def captured(row: Mapping[str, Any]) -> dict[str, str]:
    """What W&B kept of Slurm's environment, its keys without the prefix."""
    metadata = row.get("metadata")
    slurm = metadata.get("slurm") if isinstance(metadata, Mapping) else row.get("slurm")
    return (
        {f"slurm.{str(key).lower()}": str(value) for key, value in slurm.items()} if isinstance(slurm, Mapping) else {}
    )


def tagged(tags: Any) -> dict[str, str]:
    """`key:value` and `key=value`; a tag without either is itself."""
    found = {}
    for tag in tags if isinstance(tags, list) else ():
        key, mark, value = str(tag).replace("=", ":", 1).partition(":")
        found[key.strip().lower()] = value.strip() if mark else key
    return found


def exported(found: Stanza, base: Path, naming: Naming, window: Interval | None) -> Delivery:
    files, rows = [], []
    for digest, values in documents(found, base, "jsonl"):
        files.append(digest)
        rows += [value for value in values if isinstance(value, Mapping)]
    runs = list({run.id: run for run in (run_of(row, naming, window) for row in rows)}.values())
    if not runs:
        raise InputError("no-rows", "there is no run in the export", where=files[0].name if files else naming.source)
    span = window or Interval(min(run.life.start_s for run in runs), max(run.life.end_s for run in runs) + 1)
    inside = [run for run in runs if run.life.start_s < span.end_s and run.life.end_s >= span.start_s]
    return delivery(inside, naming, span, files)


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Is there a run, and do runs say where they ran?"""
    found = stanza(settings, SETTINGS)
    naming = Naming.of(found)
    if "path" in settings:
        rows = [row for _, values in documents(found, base, "jsonl") for row in values if isinstance(row, Mapping)]
        yield placed(rows, naming, "exported")
        return
    with Web.of(found) as web:
        for project in found.names("projects"):
            asked = {"entity": found.text("entity"), "project": project, "first": PAGE}
            runs = runs_in(web.post("/graphql", document={"query": QUERY, "variables": asked}), web.where, project)
            yield placed([edge["node"] for edge in runs.get("edges") or ()], naming, f"of {project}")


def placed(rows: list[Mapping[str, Any]], naming: Naming, which: str) -> Sign:
    count = sum(bool(workloads_of(run_of(row, naming, None), naming)) for row in rows)
    fix = "" if count == len(rows) else 'in the job script: export WANDB_TAGS="slurm.job_id:$SLURM_JOB_ID"'
    return Sign("ok" if not fix else "note", f"{count} of {len(rows)} runs {which} name a job or a pod", fix)


SOURCE = Live(read=read, probe=probe, stanza=STANZA, overlap_s=DAY_S)
