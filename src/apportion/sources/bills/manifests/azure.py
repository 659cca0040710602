"""Azure's exports. Each run writes all of its period again into a folder of its own, and the older ones stay there:

    ROOT/EXPORT/20261001-20261031/[202610050300/]RUN/manifest.json, part_0_0001.csv, ...     RUN is a GUID
    ROOT/EXPORT/20261001-20261031/EXPORT_RUN.csv                                             before there were manifests

Of each period of an export only the newest run counts, by its manifest's time, else by the folder's. A run's manifest is written last: where others
have one, a run without is not finished. Which of several runs without any time is the newest cannot be told, and is refused; so are two exports of the
same costs.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from operator import itemgetter
from typing import Any

from apportion.errors import InputError
from apportion.sources.bills.manifests.listed import Listed, document
from apportion.sources.bills.manifests.plain import DATA, entries
from apportion.sources.files.paths import Stated, format_of
from apportion.sources.files.places import Place

GUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
WRITTEN = re.compile(
    rf"(?P<export>(?:.*/)?)(?P<period>\d{{8}}-\d{{8}})/(?:(?P<time>\d{{12}})/)?(?:(?P<run>{GUID})/)?(?P<file>[^/]+)"
)
NAMED = re.compile(rf".*_(?P<run>{GUID})(?:[_.].*)?")
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of an export left behind; `time` is that of its folder, where it has one."""

    export: str
    period: str
    time: str
    files: list[str] = field(default_factory=list)

    @property
    def manifest(self) -> str:
        return next((name for name in self.files if name.rpartition("/")[2] == MANIFEST), "")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The newest run of a period. `costs` says what it is an export of, as far as that is known."""

    run: Run
    costs: tuple[str, ...]

    @property
    def days(self) -> tuple[str, str]:
        first, _, last = self.run.period.partition("-")
        return first, last


def select(place: Place) -> tuple[Listed, ...] | None:
    names = place.names
    runs = runs_of(names)
    if not runs or any(
        name.endswith("-Manifest.json") for run in runs for name in run.files
    ):  # those are reports of AWS
        return None
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.export, run.period].append(run)
    chosen = [newest(place, found) for found in groups.values()]
    apart(chosen)
    inside = {name for run in runs for name in run.files}
    others = [Listed(name, Stated()) for name in names if name not in inside and format_of(name) in DATA]
    found = (*(one for each in chosen for one in listed(place, each.run)), *others)
    if not found:
        raise InputError(
            "no-rows",
            "the newest runs of the export list no files",
            where=chosen[-1].run.files[0],
            hint="has it run yet?",
        )
    return found


def runs_of(names: Sequence[str]) -> list[Run]:
    runs: dict[tuple[str, ...], Run] = {}
    for name in names:
        if (found := WRITTEN.fullmatch(name)) is None:
            continue
        named = NAMED.fullmatch(found["file"])
        export, period, time = found["export"], found["period"], found["time"] or ""
        key = (export, period, time, (found["run"] or (named["run"] if named else "")).lower())
        runs.setdefault(key, Run(export, period, time)).files.append(name)
    return list(runs.values())


def newest(place: Place, runs: Sequence[Run]) -> Chosen:
    finished = [run for run in runs if run.manifest] or runs
    dated = []
    for run in finished:
        told = document(place, run.manifest) if run.manifest else {}
        dated.append((time_of(run, told), Chosen(run, costs_of(run, told))))
    dated.sort(key=itemgetter(0))
    if len(dated) > 1 and (not dated[0][0] or dated[-2][0] == dated[-1][0]):
        run = dated[-1][1].run
        raise InputError(
            "undated-runs",
            f"{len(dated)} runs of the export lie in {run.export}{run.period}, and nothing says which is the newest",
            where=run.files[0],
            hint="keep only the newest one there, or fetch the folders with their manifest.json",
        )
    return dated[-1][1]


def time_of(run: Run, told: dict[str, Any]) -> str:
    """When it was started, in a form that sorts; empty where nobody says."""
    info = told.get("runInfo")
    written = info.get("submittedTime") if isinstance(info, dict) else None
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        return run.time
    return f"{moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC):%Y%m%d%H%M%S%f}"


def costs_of(run: Run, told: dict[str, Any]) -> tuple[str, ...]:
    """Its type and what it covers, else its folder: two exports of one type over one scope are the same costs."""
    config = told.get("exportConfig")
    facts = config if isinstance(config, dict) else {}
    kind, resource = str(facts.get("type", "")), str(facts.get("resourceId", "")).lower()
    scope = resource.partition("/providers/microsoft.costmanagement/")[0]
    return (kind.casefold(), scope) if kind and resource else (run.export,)


def apart(chosen: Sequence[Chosen]) -> None:
    """No day of the same costs in two exports."""
    for first, second in pairwise(sorted(chosen, key=lambda one: (one.costs, one.days))):
        if first.costs == second.costs and second.days[0] <= first.days[1]:
            raise InputError(
                "overlapping-exports",
                f"{first.run.export}{first.run.period} and {second.run.export}{second.run.period} hold days of the same costs",
                where=second.run.files[0],
                hint="name one export in `path`; of exports over a few days keep those that do not overlap",
            )


def listed(place: Place, run: Run) -> Iterator[Listed]:
    if run.manifest:
        yield from entries(place, run.manifest)
    else:
        yield from (Listed(name, Stated()) for name in run.files if format_of(name) in DATA)
