"""A real Prometheus through `ingest`, at odd times of the day: what is in the books at the end is the schedule."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from apportion.model.meters import GPU
from apportion.verbs import due
from apportion.verbs.ingest import ingest
from apportion.verbs.project import open_project
from tests.prometheus.test_truth import ran
from tests.prometheus.world import World

MINUTES = (1, 187, 700, 730, 1111, 1500)  # after midnight, when somebody ran it; then at the end


def test_ingest_at_odd_times_adds_up(url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    since = datetime.fromtimestamp(world.start, UTC).date()
    (tmp_path / "apportion.toml").write_text(
        f'[[sources]]\nname = "k8s"\nkind = "prometheus"\ncluster = "c"\nurl = "{url}"\nmatch = \'cluster="{world.cluster}"\'\nsince = {since}\n',
        encoding="utf-8",
    )
    project = open_project(tmp_path)
    for now in [*(world.start + 60 * minutes for minutes in MINUTES), world.end]:
        monkeypatch.setattr(due, "now_s", lambda now=now: now)
        ingest(project)
    gpus: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for row in project.books.scan("usage").to_pylist():
        uid = row["workload"].rpartition("/")[2]
        if row["meter"] == "gpu":
            gpus[uid] += row["allocated"] * (row["end_s"] - row["start_s"])
        elif row["meter"] == "network":
            moved[uid] += row["allocated"]
    assert gpus == {pod.uid: int(pod.run_s * pod.gpus * GPU) for pod in ran(world) if pod.gpus}
    assert moved == {pod.uid: total for pod in ran(world) if (total := world.moved_bytes(pod))}
    (again,) = ingest(project)
    assert (again.deliveries, again.changed) == (0, 0)
