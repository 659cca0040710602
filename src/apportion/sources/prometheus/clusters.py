"""Several clusters in one server: each is read by itself, by the label `cluster` that its series carry.

Pods and nodes of two clusters may have the same names, so they must never meet. A stanza whose `match` says a cluster reads that one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import Interval
from apportion.sources.clusters import SETTING, state_cluster
from apportion.sources.live import Progress
from apportion.sources.outside.web import Web
from apportion.sources.prometheus.asking import SETTINGS, How, how_of
from apportion.sources.prometheus.deliver import deliver
from apportion.sources.prometheus.saved import Saved, read_saved
from apportion.sources.prometheus.selectors import Matcher, select
from apportion.sources.prometheus.server import Server
from apportion.sources.settings import stanza

LABEL = "cluster"
TELLING = ("kube_node_info", "kube_pod_info")
Source = TypeVar("Source", Server, Saved)


def clusters_in(outside: Server | Saved, how: How, span: Interval) -> list[str]:
    """Values of the label where several clusters are named; "" stands for series without it. None where the stanza's matchers say it already."""
    if any(matcher.label == LABEL for matcher in how.always):
        return []
    series = (one for name in TELLING for one in outside.series(select(name), span))
    found = sorted({one.get(LABEL, "") for one in series})
    return found if len([name for name in found if name]) > 1 else []


def matcher_of(cluster: str) -> Matcher:
    return Matcher(LABEL, "=", cluster)


def find_clusters(settings: Mapping[str, Any], base: Path, span: Interval) -> list[tuple[str, str]]:
    """Of a stanza: the clusters that it could be narrowed to, each with the `match` that does. For proposals."""
    found = stanza({**settings, SETTING: settings.get(SETTING, LABEL)}, SETTINGS)
    how = how_of(found)
    if "path" in settings:
        names = clusters_in(read_saved(found.text("path"), base, found.where, how.always), how, span)
    else:
        with Web.of(found) as web:
            names = clusters_in(Server(web, how.always), how, span)
    before = [str(found.settings["match"])] if found.settings.get("match") else []
    return [(name, ",".join([*before, str(matcher_of(name))])) for name in names if name]


def deliver_each(
    outside: Source, how: How, window: Interval, files: tuple[FileDigest, ...] = ()
) -> Iterator[Delivery | Progress]:
    """One delivery of the window, whatever clusters it holds."""
    parts: list[Delivery] = []
    names = clusters_in(outside, how, window)
    for name in names:
        narrow = replace(outside, always=(*outside.always, matcher_of(name)))
        own = replace(how, cluster=name or how.cluster, always=narrow.always)
        for item in deliver(narrow, own, window, files):
            if isinstance(item, Delivery):
                parts.append(state_cluster(item, own.cluster))
            else:
                yield item
    if not names:
        yield from deliver(outside, how, window, files)
    else:
        yield join_deliveries(parts)


def join_deliveries(parts: list[Delivery]) -> Delivery:
    tables = {name: pa.concat_tables([part.tables[name] for part in parts]) for name in parts[0].tables}
    return replace(
        parts[0], tables=tables, problems=tuple(dict.fromkeys(problem for part in parts for problem in part.problems))
    )
