"""What is said while nobody watches: a JSON object a line, without a secret, and spans where somebody collects them."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from apportion.verbs.project import open_project
from tests import processes
from tests.loopback import listening
from tests.processes import PATIENCE_S
from tests.sync.conftest import PROGRAM

SECRET = "swordfish-4711"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@dataclass
class Collector:
    """What an OpenTelemetry collector takes over HTTP."""

    address: str = ""
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    def take(self, body: bytes) -> None:
        for one in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {pair.value.string_value for pair in one.resource.attributes if pair.key == "service.name"}
            self.spans += [span for scope in one.scope_spans for span in scope.spans]

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            found.take(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler) as address:
        found.address = address
        yield found


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {**kept, "NO_PROXY": "127.0.0.1", **more}


def attributes(span: Span) -> dict[str, Any]:
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in span.attributes}


def test_a_round_is_told_line_by_line_and_span_by_span(mine: Path, collector: Collector) -> None:
    """A source of loopback that refuses, with a key that stands in the environment alone."""
    with (mine / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[sources]]\nname = "gone"\nkind = "prometheus"\nurl = "http://127.0.0.1:9"\n')
        file.write('retries = 0\nsince = 2026-10-01\ntoken = "env:GONE_KEY"\n')
    sent = environment(GONE_KEY=SECRET, APPORTION_LOG="json", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address)
    command = [sys.executable, "-c", PROGRAM, "--project", str(mine), "sync", "--quiet"]
    done = processes.run(command, env=sent, text=True)
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"time", "level", "event", "logger", "trace_id", "span_id"} <= set(lines[0])
    by_step = {(one["event"], one.get("subject")): one for one in lines}
    assert by_step["ingest", "acme"]["outcome"] == "done"
    assert (by_step["ingest", "gone"]["level"], by_step["ingest", "gone"]["outcome"]) == ("error", "failed")
    assert by_step["round ends", None]["status"] == "failed"
    assert done.stdout == ""
    assert SECRET not in done.stderr
    assert not any(SECRET in str(span) for span in collector.spans)

    whole = collector.named("sync")
    assert collector.services == {"apportion"}
    assert {one["trace_id"] for one in lines} == {whole.trace_id.hex()}
    steps = [span for span in collector.spans if span.parent_span_id == whole.span_id]
    assert {span.name for span in steps} >= {"ingest", "plan", "health", "notify"}
    sources = {attributes(span)["apportion.subject"]: span for span in steps if span.name == "ingest"}
    assert set(sources) == {"acme", "jobs", "nodes", "gone"}
    assert sources["gone"].status.code == 2  # ERROR
    assert sources["acme"].span_id.hex() == by_step["ingest", "acme"]["span_id"]


def test_without_a_collector_nothing_of_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "apportion.toml").write_text('[project]\nname = "new"\n', "utf-8")
    script = f"import sys\ntry:\n    {PROGRAM}\nfinally:\n    print(sorted(n for n in sys.modules if n.startswith('opentelemetry')))"
    command = [sys.executable, "-c", script, "--project", str(tmp_path), "sync", "-o", "json"]
    done = processes.run(command, env=environment(), text=True)
    told, _, modules = done.stdout.rpartition("\n[")
    assert modules == "]\n", modules
    assert json.loads(told)["status"] == "ok", told  # a project that has nothing yet is well


def test_an_extra_that_is_missing_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "opentelemetry"
    blocked.mkdir()
    (blocked / "__init__.py").write_text("raise ImportError\n")
    script = "from apportion.verbs import traces; print(traces.start())"
    sent = environment(PYTHONPATH=str(tmp_path), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    done = processes.run([sys.executable, "-c", script], env=sent, text=True, check=True)
    assert "apportion[otel]" in done.stdout


def test_a_server_tells_of_requests_and_of_no_key(mine: Path, collector: Collector, tmp_path: Path) -> None:
    open_project(mine).books.close()
    log = tmp_path / "log"
    sent = environment(OTEL_EXPORTER_OTLP_ENDPOINT=collector.address, OTEL_SERVICE_NAME="costs")
    command = [sys.executable, "-c", PROGRAM, "--project", str(mine), "serve", "--port", "0", "--log-format", "json"]
    with (
        log.open("w") as said,
        processes.Process(command, env=sent, stdout=processes.PIPE, stderr=said, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            link = process.stdout.readline().removeprefix("Open ").strip()
            address, _, path = link.partition("/login")
            with httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE_S) as client:
                assert client.get("/livez").json() == client.get("/readyz").json() == {"status": "ok"}
                assert client.get(f"/login{path}").status_code == 303
                assert client.get("/teams/vision", headers={"traceparent": PARENT}).status_code < 500
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
    text = log.read_text("utf-8")
    asked = {one["path"]: one for one in map(json.loads, text.splitlines()) if one["event"] == "request"}
    assert set(asked) == {"/login", "/teams/vision"}  # probes come too often to be told
    assert asked["/teams/vision"]["trace_id"] == TRACE
    assert path.partition("=")[2] not in text
    assert collector.services == {"costs"}
    (span,) = [one for one in collector.spans if one.trace_id.hex() == TRACE]
    assert (span.name, span.kind) == ("GET /teams/{team:path}", Span.SPAN_KIND_SERVER)
    assert "vision" not in str(span)
