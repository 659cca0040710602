"""MLflow: runs by its REST API, or from saved answers, as labels on the jobs and pods that their tags name.

Asked for a window: runs that began or ended in it, and those that still run.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import DAY_S, Interval
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.outside.web import WEB_SETTINGS, Web
from apportion.sources.settings import stanza
from apportion.sources.trackers.runs import NAMING, Naming, Run, delivery, measures_of, model_of, workloads_of
from apportion.sources.trackers.saved import documents

SETTINGS = (*WEB_SETTINGS, *NAMING)
API = "/api/2.0/mlflow"
PAGE = 1000
TOGETHER = 100  # experiments in one question
STANZA = """\
[[sources]]
name = "mlflow"
kind = "mlflow"
url = "http://localhost:5000"
# token = "env:MLFLOW_TRACKING_TOKEN"
# cluster = "hpc"            # of runs whose tags name none
# tags = ["dataset"]         # more tags to keep, as ml.tag.dataset
# tokens = ["tokens_seen"]   # the metric or parameter that counts them; samples likewise
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery of the window's runs, or of all runs in saved answers."""
    found = stanza(settings, SETTINGS)
    naming = Naming.of(found)
    if "path" in settings:
        saved = list(documents(found, base, "json"))
        yield from_saved(saved, naming, window)
        return
    if window is None:
        raise ProjectError("no-period", "a server is asked for a window", where=found.where, hint="name a period")
    with Web.of(found) as web:
        names = experiments(web)
        rows: dict[str, Mapping[str, Any]] = {}
        for number, question in enumerate(questions(window)):
            yield Progress(number, 3, "runs")
            rows |= {run_id(row): row for row in search(web, sorted(names), question)}
        yield delivery([run_of(row, names, naming, window) for row in rows.values()], naming, window)


def questions(window: Interval) -> tuple[str, ...]:
    first, last = window.start_s * 1000, window.end_s * 1000
    return (
        f"attributes.start_time >= {first} AND attributes.start_time < {last}",
        f"attributes.end_time >= {first} AND attributes.end_time < {last}",
        f"attributes.status = 'RUNNING' AND attributes.start_time < {first}",
    )


def experiments(web: Web) -> dict[str, str]:
    pages = paged(web, "/experiments/search", {"max_results": PAGE, "view_type": "ALL"}, "experiments")
    return {str(one["experiment_id"]): str(one.get("name") or "") for one in pages}


def search(web: Web, ids: Sequence[str], question: str) -> Iterator[Mapping[str, Any]]:
    for start in range(0, len(ids), TOGETHER):
        asked = {
            "experiment_ids": ids[start : start + TOGETHER],
            "filter": question,
            "max_results": PAGE,
            "run_view_type": "ALL",
        }
        yield from paged(web, "/runs/search", asked, "runs")


def paged(web: Web, path: str, asked: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    token = ""
    while True:
        answer = web.post(f"{API}{path}", document={**asked, **({"page_token": token} if token else {})})
        if not isinstance(answer, Mapping):
            raise InputError("bad-response", f"{API}{path} did not answer with an object", where=web.where)
        yield from answer.get(key) or ()
        following = answer.get("next_page_token") or ""
        if not following or following == token:
            return
        token = following


def run_id(row: Mapping[str, Any]) -> str:
    info = row.get("info") or {}
    return str(info.get("run_id") or info.get("run_uuid") or "")


def run_of(row: Mapping[str, Any], names: Mapping[str, str], naming: Naming, window: Interval | None) -> Run:
    info, data = row.get("info") or {}, row.get("data") or {}
    tags, params = (
        {str(pair.get("key", "")).lower(): str(pair.get("value", "")) for pair in data.get(part) or ()}
        for part in ("tags", "params")
    )
    metrics = {str(pair.get("key", "")).lower(): pair.get("value") for pair in data.get("metrics") or ()}
    start = int(info.get("start_time") or 0) // 1000
    end = int(info.get("end_time") or 0) // 1000 or (window.end_s if window else start)
    experiment = str(info.get("experiment_id") or "")
    labels = {
        "ml.tracker": "mlflow",
        "ml.run": run_id(row),
        "ml.run_name": str(info.get("run_name") or tags.get("mlflow.runname", "")),
        "ml.experiment": names.get(experiment) or experiment,
        "ml.user": str(info.get("user_id") or tags.get("mlflow.user", "")),
        "ml.model": model_of({**params, **tags}, naming),
        "ml.parent_run": tags.get("mlflow.parentrunid", ""),
        "ml.commit": tags.get("mlflow.source.git.commit", ""),
    }
    measures = measures_of((metrics, params, tags), naming)
    return Run(run_id(row), Interval(start, max(start, end)), labels, tags, measures)


def from_saved(saved: Sequence[tuple[FileDigest, Any]], naming: Naming, window: Interval | None) -> Delivery:
    """Answers of /runs/search, and of /experiments/search for the experiments' names."""
    bodies = [body for _, body in saved if isinstance(body, Mapping)]
    names = {
        str(one["experiment_id"]): str(one.get("name") or "")
        for body in bodies
        for one in body.get("experiments") or ()
    }
    rows = {run_id(row): row for body in bodies for row in body.get("runs") or ()}
    runs = [run_of(row, names, naming, window) for row in rows.values()]
    if not runs:
        raise InputError("no-rows", "there is no run in the saved answers", where=naming.source)
    span = window or Interval(min(run.life.start_s for run in runs), max(run.life.end_s for run in runs) + 1)
    inside = [run for run in runs if run.life.start_s < span.end_s and run.life.end_s >= span.start_s]
    return delivery(inside, naming, span, [digest for digest, _ in saved])


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Reachable, and do its runs say where they ran?"""
    found = stanza(settings, SETTINGS)
    naming = Naming.of(found)
    if "path" in settings:
        yield Sign("ok", f"{len(list(documents(found, base, 'json')))} saved answers")
        return
    with Web.of(found) as web:
        names = experiments(web)
        yield Sign("ok", f"{len(names)} experiments at {web.host}")
        asked = {
            "experiment_ids": sorted(names)[:TOGETHER],
            "max_results": TOGETHER,
            "order_by": ["attributes.start_time DESC"],
        }
        latest = list(web.post(f"{API}/runs/search", document=asked).get("runs") or ()) if names else []
    placed = sum(bool(workloads_of(run_of(row, names, naming, None), naming)) for row in latest)
    if latest and placed < len(latest):
        yield Sign(
            "note" if placed else "wrong",
            f"{placed} of the latest {len(latest)} runs name a job or a pod",
            """in the job script: export MLFLOW_RUN_CONTEXT='{"slurm.job_id": "'$SLURM_JOB_ID'", "slurm.cluster": "'$SLURM_CLUSTER_NAME'"}'""",
        )
    elif latest:
        yield Sign("ok", f"the latest {len(latest)} runs all name a job or a pod")


SOURCE = Live(read=read, probe=probe, stanza=STANZA, overlap_s=DAY_S)
