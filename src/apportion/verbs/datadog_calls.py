"""Telling Datadog through its own client, which waits as X-RateLimit-Reset says. Keys and failures are handled as where Datadog is asked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

from apportion.errors import ProjectError
from apportion.render.datadog.gauges import Gauge
from apportion.sources.datadog.asking import connected, failures, form
from apportion.sources.datadog.settings import server_of
from apportion.sources.outside.web import persisting
from apportion.sources.settings import Stanza
from apportion.verbs.project import Project
from apportion.verbs.toml import FILE

WHERE = f"[datadog] of {FILE}"
MENDING = (
    "see api_key and app_key under [datadog]: the application key needs the permissions cloud_cost_management_read and "
    "cloud_cost_management_write, and site must be theirs"
)
PAGE = 100


@dataclass(frozen=True, slots=True)
class File:
    """A file of custom costs that Datadog holds; its days are None where it does not say."""

    id: str
    first: date | None
    last: date | None


@dataclass(frozen=True, slots=True)
class Calls:
    """What can be asked of one server."""

    client: Any
    host: str
    retries: int

    def files(self, provider: str) -> list[File]:
        """All of a provider's, page by page."""
        found: list[File] = []
        number = 1
        while True:
            some = self.call("list_custom_costs_files", page_number=number, page_size=PAGE, filter_provider=[provider])
            rows = some.to_dict().get("data") or []
            found += [file_of(row) for row in rows]
            if len(rows) < PAGE:
                return found
            number += 1

    def tags(self, file: str) -> Mapping[str, str]:
        """Of its first item: all of ours have the same marks."""
        data = self.call("get_custom_costs_file", file_id=file).to_dict().get("data") or {}
        content = (data.get("attributes") or {}).get("content") or []
        tags: Mapping[str, str] = (content[0].get("Tags") or {}) if content else {}
        return tags

    def upload(self, items: Sequence[Mapping[str, Any]]) -> str:
        """Its id; empty where the answer does not say."""
        line = form("custom_costs_file_line_item")
        names = {wire: name for name, wire in line.attribute_map.items()}
        body = [line(**{names[key]: value for key, value in item.items()}) for item in items]
        answer = self.call("upload_custom_costs_file", body=body).to_dict()
        return str((answer.get("data") or {}).get("id") or "")

    def delete(self, file: str) -> None:
        self.call("delete_custom_costs_file", file_id=file)

    def call(self, name: str, **given: Any) -> Any:
        from datadog_api_client.v2.api import cloud_cost_management_api  # noqa: PLC0415  # an extra, and slow

        api: Any = cloud_cost_management_api
        return self.persisted(getattr(api.CloudCostManagementApi(self.client), name), given)

    def submit(self, gauges: Sequence[Gauge], at_s: int) -> None:
        from datadog_api_client.v2.api import metrics_api  # noqa: PLC0415

        api: Any = metrics_api
        series = [
            form("metric_series")(
                metric=one.metric,
                type=form("metric_intake_type").GAUGE,
                points=[form("metric_point")(timestamp=at_s, value=one.value)],
                tags=list(one.tags),
            )
            for one in gauges
        ]
        self.persisted(api.MetricsApi(self.client).submit_metrics, {"body": form("metric_payload")(series=series)})

    def persisted(self, call: Any, given: Mapping[str, Any]) -> Any:
        def once() -> Any:
            with failures(self.host, WHERE, MENDING):
                return call(**given)

        return persisting(self.retries, once)


def file_of(row: Mapping[str, Any]) -> File:
    period = (row.get("attributes") or {}).get("charge_period") or {}
    first, last = (day_of(period.get(end)) for end in ("start", "end"))
    return File(str(row["id"]), first, last)


def day_of(milliseconds: Any) -> date | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date() if milliseconds else None


@contextmanager
def calling(project: Project) -> Iterator[Calls]:
    server = server_of(settings_of(project))
    with connected(server, WHERE) as client:
        yield Calls(client, urlsplit(server.url).netloc, server.retries)


def settings_of(project: Project) -> Stanza:
    found = project.settings.datadog
    if not found:
        raise ProjectError(
            "no-datadog",
            f"{FILE} does not say how to reach Datadog",
            where=str(project.folder / FILE),
            hint='add [datadog] with site, api_key = "env:DD_API_KEY" and app_key = "env:DD_APP_KEY"',
        )
    return Stanza(found, WHERE)


def provider_of(project: Project) -> str:
    """Under which the costs stand at Datadog."""
    return str(settings_of(project).text("provider", "Apportion"))
