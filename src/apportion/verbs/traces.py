"""What belongs together in logs and traces: spans, each in another, under one trace id.

Where OTEL_EXPORTER_OTLP_ENDPOINT is set and the extra `otel` is installed, spans go there; without either nothing of OpenTelemetry is imported, and
the ids are for the log alone. Spans name steps, sources, months and routes, never an amount, a person or a query.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from apportion import __version__

WANTED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")  # W3C traceparent
Values = Mapping[str, str | int]


@dataclass(slots=True)
class Span:
    """`sent` is OpenTelemetry's own, where spans are sent."""

    trace_id: str
    span_id: str
    sent: Any = None

    def say(self, values: Values) -> None:
        if self.sent is not None:
            self.sent.set_attributes(values)

    def rename(self, name: str) -> None:
        if self.sent is not None:
            self.sent.update_name(name)

    def fail(self, why: str) -> None:
        if self.sent is not None:
            from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415  # an extra

            self.sent.set_status(Status(StatusCode.ERROR, why))


NOW: ContextVar[Span | None] = ContextVar("span", default=None)
_tracers: list[Any] = []


def current() -> Span | None:
    return NOW.get()


def start() -> str:
    """Once in a process. What is in the way of sending spans that somebody asked for; empty where nothing is."""
    if _tracers or not any(os.environ.get(name) for name in WANTED):
        return ""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  # an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        return f"{WANTED[0]} is set, but spans cannot be sent: install the extra, pip install 'apportion[otel]'"
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "apportion"}
    provider = TracerProvider(resource=Resource.create({**named, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _tracers.append(provider.get_tracer("apportion", __version__))
    return ""


@contextmanager
def span(name: str, values: Values | None = None, *, parent: str = "", serves: bool = False) -> Iterator[Span]:
    """`parent` is a caller's `traceparent`; otherwise it belongs to the span that it is in. `serves`: it answers somebody."""
    with _sent(name, values or {}, parent, serves=serves) if _tracers else _unsent(parent) as made:
        before = NOW.set(made)
        try:
            yield made
        finally:
            NOW.reset(before)


@contextmanager
def _unsent(parent: str) -> Iterator[Span]:
    caller, around = PARENT.fullmatch(parent), NOW.get()
    yield Span(caller[1] if caller else around.trace_id if around else token_hex(16), token_hex(8))


@contextmanager
def _sent(name: str, values: Values, parent: str, *, serves: bool) -> Iterator[Span]:
    from opentelemetry.trace import SpanKind, format_span_id, format_trace_id  # noqa: PLC0415  # an extra
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

    around = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent else None
    kind = SpanKind.SERVER if serves else SpanKind.INTERNAL
    with _tracers[0].start_as_current_span(
        name, context=around, kind=kind, attributes=values, record_exception=False, set_status_on_exception=False
    ) as sent:
        known = sent.get_span_context()
        yield Span(format_trace_id(known.trace_id), format_span_id(known.span_id), sent)
