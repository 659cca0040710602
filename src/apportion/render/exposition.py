"""Metrics as text that Prometheus scrapes: its own format, or OpenMetrics where that is asked for.

Prometheus has no numbers but floats: this is the one place where an amount becomes one. The ledger is the truth; these are for charts and alerts.
"""

from typing import TYPE_CHECKING, Any

from apportion.errors import ProjectError
from apportion.reports.metrics.family import Filled, Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric


def exposed(found: Metrics, accept: str = "") -> tuple[bytes, str]:
    """The text and its kind, by what the caller says that it takes; OpenMetrics is `application/openmetrics-text`."""
    encode, kind = library().exposition.choose_encoder(accept)
    text: bytes = encode(Told(found))
    return text, kind


class Told:
    """What the library calls a collector."""

    def __init__(self, found: Metrics) -> None:
        self.found = found

    def collect(self) -> "Iterator[Metric]":
        yield from map(metric, self.found)


def metric(one: Filled) -> "Metric":
    family = one.family
    bare = family.name.removesuffix({"counter": "_total", "info": "_info"}.get(family.kind, ""))
    made: Metric = library().Metric(bare, family.says, family.kind, family.unit)
    for values, number in one.samples.items():
        made.add_sample(family.name, dict(zip(family.labels, values, strict=True)), float(number))
    return made


def library() -> Any:
    try:
        import prometheus_client  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ProjectError(
            "metrics-missing",
            f"metrics are asked for, and the Python package that writes them is not installed ({error})",
            hint='pip install "apportion[metrics]"',
        ) from error
    return prometheus_client
