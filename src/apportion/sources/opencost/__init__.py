"""OpenCost and Kubecost: `/allocation`, `/assets` and `/cloudCost`, a day at a time, from the server or from saved answers.

Their hours are usage, their assets capacity and money. The money is a reference unless the stanza says `role = "bill"` and who sends
it. Their split of it among pods is never taken: it does not add up to the assets, and each known reason is corrected or told as a problem.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval
from apportion.sources.files.paths import input_files
from apportion.sources.live import Live, Progress
from apportion.sources.opencost.asking import ask
from apportion.sources.opencost.day import SETTINGS, Day, Reading, named, reading_of
from apportion.sources.opencost.doubts import doubts, listed
from apportion.sources.opencost.lines import cost_lines, scopes
from apportion.sources.opencost.probe import probe
from apportion.sources.opencost.saved import days
from apportion.sources.opencost.supply import capacity, sizes
from apportion.sources.opencost.usage import usage, workloads
from apportion.sources.outside.web import Web
from apportion.sources.settings import stanza

STANZA = """\
[[sources]]
name = "opencost"
kind = "opencost"
url = "http://localhost:9003"     # kubectl -n opencost port-forward svc/opencost 9003; Kubecost: http://localhost:9090
# flavour = "kubecost"            # found by itself
# role = "bill"                   # if you have no other bill; their cost is a reference otherwise
# issuer = "Amazon Web Services, Inc."  # who sends that bill
# capacity = false                # if Prometheus or Kubernetes says what nodes have
# currency = "USD"                # the currency that its prices are in
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery for the window asked for, or for each window that saved answers speak for."""
    found = stanza(settings, SETTINGS)
    reading = reading_of(found)
    if "path" in settings:
        files = input_files(found.text("path"), base, ("json",), found.where)
        yield from (delivery(day, reading, found.where) for day in days(files, reading, window))
        return
    if window is None:
        raise ProjectError("no-period", "a server is asked for a window", where=found.where, hint="name a period")
    with Web.of(found) as web:
        for item in ask(web, reading, window):
            yield (
                item
                if isinstance(item, Progress)
                else delivery(item[0], replace(reading, flavour=item[1].flavour), found.where)
            )


def delivery(day: Day, reading: Reading, where: str) -> Delivery:
    day = named(day, reading.cluster, where)
    lines = cost_lines(day, reading)
    tables = {"cost_lines": lines}
    problems = list(day.problems)
    if reading.report == "allocation":
        tables["usage"] = usage(day, reading.source, sizes(day))
        if reading.capacity:
            tables["capacity"] = capacity(day, reading.source)
        tables["workloads"] = workloads(day, reading.source)
        problems += doubts(day, reading)
    return Delivery(reading.source, day.window, tables, listed(problems), tuple(day.files), scopes(lines, day, reading))


SOURCE = Live(
    read=read,
    probe=probe,
    stanza=STANZA,
    overlap_s=2 * DAY_S,  # Kubecost adjusts to the cloud's bill a day or two later
    step_s=DAY_S,
    whole_steps=True,
)
