"""Kubernetes through Prometheus, VictoriaMetrics, Thanos or Mimir: pods, nodes, volumes and what they used, from raw samples.

Samples are integrated here, bucket by bucket, as they were scraped: no look-back bills a pod that is gone, no extrapolation, no join that fails
while a pod's name changes hands. Any past window can be read again and says the same. Gaps are bridged up to half an hour and listed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.live import Live, Progress
from apportion.sources.outside.web import Web
from apportion.sources.prometheus.asking import SETTINGS, how_of
from apportion.sources.prometheus.clusters import deliver_each
from apportion.sources.prometheus.probe import probe
from apportion.sources.prometheus.saved import read_saved
from apportion.sources.prometheus.server import Server
from apportion.sources.settings import stanza

STANZA = """\
[[sources]]
name = "k8s"
kind = "prometheus"
url = "http://localhost:9090"     # Prometheus, VictoriaMetrics, Thanos or Mimir
# token = "env:PROMETHEUS_TOKEN"  # or username and password
cluster = "CHOOSE-A-NAME"         # part of every pod's id; the same as in your other sources of this cluster
# match = 'cluster="research"'    # where the server holds several clusters and this stanza is to read one of them
# since = "2026-11-01"            # the first day to read; that of last month unless given
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery of the window, from the server at `url` or from answers saved in `path`."""
    found = stanza(settings, SETTINGS)
    how = how_of(found)
    if "path" in settings:
        saved = read_saved(found.text("path"), base, found.where, how.always)
        yield from deliver_each(saved, how, window or saved.days(), saved.digests)
        return
    if window is None:
        raise ValueError("a server is asked for a window")
    with Web.of(found) as web:
        yield from deliver_each(Server(web, how.always), how, window)


SOURCE = Live(read=read, probe=probe, stanza=STANZA)
