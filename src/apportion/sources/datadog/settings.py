"""A stanza of kind `datadog`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.sources.datadog.metrics import PROFILES, Measure
from apportion.sources.outside.secrets import Secret, secret
from apportion.sources.settings import Stanza, nearest, stanza

ASKING = ("site", "url", "api_key", "app_key", "ca_file", "timeout_s", "retries", "allow_link_local")
SETTINGS = (
    *ASKING, "records", "metrics", "held", "used", "filter", "by", "cluster", "interval_s", "bridge_minutes", "costs", "currency",
)  # fmt: skip
SITES = (
    "datadoghq.com", "us3.datadoghq.com", "us5.datadoghq.com", "datadoghq.eu", "ap1.datadoghq.com", "ap2.datadoghq.com", "uk1.datadoghq.com",
    "ddog-gov.com", "us2.ddog-gov.com",
)  # fmt: skip
PODS = ("kube_cluster_name", "kube_namespace", "pod_name", "host")
SERVICES = ("providername", "servicename")
INTERVALS = (20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600)  # parts of an hour: buckets of two windows meet


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    api_key: Secret | None
    app_key: Secret | None
    ca_file: str
    timeout_s: int
    retries: int
    allow_link_local: bool


@dataclass(frozen=True, slots=True)
class How:
    source: str
    where: str
    path: str
    records: str
    measures: tuple[Measure, ...]
    filter: str
    by: tuple[str, ...]
    cluster: str
    interval_s: int
    bridge_s: int
    costs: str
    currency: str

    def measure(self, metric: str) -> Measure | None:
        return next((found for found in self.measures if found.metric == metric), None)


def how_of(settings: Mapping[str, Any]) -> tuple[How, Stanza]:
    found = stanza(settings, SETTINGS)
    records = found.word("records", ("usage", "costs"), "usage")
    interval = found.number("interval_s", 300, 1, 3600)
    if interval not in INTERVALS:
        raise ProjectError(
            "invalid-setting",
            f"interval_s must be one of {', '.join(map(str, INTERVALS))}, not {interval}",
            where=found.where,
        )
    return How(
        source=found.text("name"),
        where=found.where,
        path=found.text("path", ""),
        records=records,
        measures=measures(found),
        filter=found.text("filter", ""),
        by=found.names("by", default=PODS if records == "usage" else SERVICES),
        cluster=found.text("cluster", ""),
        interval_s=interval,
        bridge_s=found.number("bridge_minutes", 15, 0, 1440) * 60,
        costs=found.text("costs", "all.cost"),
        currency=found.text("currency", "USD"),
    ), found


def measures(found: Stanza) -> tuple[Measure, ...]:
    """Those of the profile, and the stanza's own over them."""
    held, used = PROFILES[found.word("metrics", PROFILES, "gpu")]
    whole = {"held": {**held, **found.words("held", METERS)}, "used": {**used, **found.words("used", METERS)}}
    names = [metric for metrics in whole.values() for metric in metrics.values()]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise ProjectError(
            "invalid-setting", f"the metric {double} is named twice", where=found.where, hint=nearest(double, names)
        )
    return tuple(Measure(metric, meter, role) for role, metrics in whole.items() for meter, metric in metrics.items())


def server_of(found: Stanza) -> Server:
    site = found.word("site", SITES, "datadoghq.com")
    keys = {key: secret(found, key) for key in ("api_key", "app_key")}
    for key, value in keys.items():
        if value is None:
            raise ProjectError(
                "missing-setting",
                f"the setting {key} is missing",
                where=found.where,
                hint=f'{key} = "env:DD_{key.upper()}", or with file: or keyring:',
            )
    return Server(
        url=found.text("url", f"https://api.{site}").rstrip("/"),
        api_key=keys["api_key"],
        app_key=keys["app_key"],
        ca_file=found.text("ca_file", ""),
        timeout_s=found.number("timeout_s", 60, 1, 3600),
        retries=found.number("retries", 4, 0, 20),
        allow_link_local=found.flag("allow_link_local"),
    )
