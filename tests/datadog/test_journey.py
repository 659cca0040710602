"""Days of Datadog through `ingest`: a fault on the way keeps what was read, the next run goes on, and nothing is counted twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apportion.errors import ApportionError
from apportion.model.meters import GPU
from apportion.model.times import parse_instant
from apportion.verbs.ingest import ingest
from apportion.verbs.project import Project, open_project
from tests.datadog.stub import API_KEY, APP_KEY, Metric, Stub, serving
from tests.datadog.test_datadog import POD

BACK = 3
STANZA = """\
[[sources]]
name = "dd"
kind = "datadog"
url = "{url}"
api_key = "env:STUB_API_KEY"
app_key = "env:STUB_APP_KEY"
retries = 0
since = {since}
"""


def held(project: Project) -> int:
    return sum(row["allocated"] * (row["end_s"] - row["start_s"]) for row in project.books.scan("usage").to_pylist())


def reached(project: Project) -> int:
    return max(int(row["end_s"]) for row in project.books.deliveries())


def seconds_asked(stub: Stub, since: int) -> int:
    attributes = [one["body"]["data"]["attributes"] for one in stub.seen[since:]]
    return int(sum(one["to"] - one["from"] for one in attributes)) // 1000


def test_days_that_a_fault_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", API_KEY)
    monkeypatch.setenv("STUB_APP_KEY", APP_KEY)
    since = (datetime.now(UTC) - timedelta(days=BACK)).date()
    start = parse_instant(f"{since}T00:00:00Z")
    with serving(Stub({"gpu.device.total": Metric(None, {POD: lambda _: 8.0})})) as stub:
        (tmp_path / "apportion.toml").write_text(STANZA.format(url=stub.url, since=since), encoding="utf-8")
        project = open_project(tmp_path)
        stub.half_from_s = start + 2 * 86_400  # a day may be asked for in parts, so requests are not counted
        with pytest.raises(ApportionError) as refused:
            ingest(project)
        assert refused.value.code == "half-response"
        assert "2 deliveries before it were kept" in refused.value.hint
        assert held(project) == 8 * GPU * 2 * 86_400
        ingest(project)
        assert held(project) == 8 * GPU * (reached(project) - start)
        asked = len(stub.seen)
        ingest(project)
        assert held(project) == 8 * GPU * (reached(project) - start), "the overlap is read again and counted once"
        assert seconds_asked(stub, asked) <= 2 * 86_400, "only the end is asked for again"
