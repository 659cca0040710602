"""What AWS writes to a bucket, or a copy of it.

Data Exports (CUR 2.0 and FOCUS):

    EXPORT/data/BILLING_PERIOD=2026-10/EXPORT-00001.snappy.parquet                      overwritten each time
    EXPORT/data/BILLING_PERIOD=2026-10/TIME-EXECUTION/EXPORT-00001.snappy.parquet       or a folder for each time
    EXPORT/metadata/BILLING_PERIOD=2026-10/[TIME-EXECUTION/]EXPORT-Manifest.json        lists the files; written last

The older Cost and Usage Report:

    REPORT/20261001-20261101/REPORT-Manifest.json                  names the assembly that counts, and its files
    REPORT/20261001-20261101/ASSEMBLY/REPORT-Manifest.json         of each assembly, where they are kept
    REPORT/20261001-20261101/[ASSEMBLY/]REPORT-1.csv.gz            or Parquet in other folders of the report

Of each billing period the newest execution or the current assembly counts, and of it the files that its manifest lists: what lies there
besides is of an earlier delivery, or of one that is still on its way. Executions are told apart by the time that their folder or manifest
says; where neither says one, which is the newest would be a guess, and is refused.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apportion.errors import InputError
from apportion.sources.bills.manifests.listed import Listed, document, meant, unknown
from apportion.sources.files.paths import Stated, format_of
from apportion.sources.files.places import Place

EXPORT = re.compile(
    r"^(?P<root>(?:.*/)?)metadata/(?P<period>BILLING_PERIOD=[0-9]{4}-[0-9]{2})/(?:(?P<run>[^/]+)/)?[^/]+-Manifest\.json$"
)
DATA = re.compile(r"^(?P<root>(?:.*/)?)data/(?P<period>BILLING_PERIOD=[0-9]{4}-[0-9]{2})/(?:(?P<run>[^/]+)/)?[^/]+$")
REPORT = re.compile(r"^(?P<root>(?:.*/)?)(?P<period>[0-9]{8}-[0-9]{8})/(?:(?P<run>[^/]+)/)?[^/]+-Manifest\.json$")
TIME = re.compile(r"^[0-9]{4}-?[0-9]{2}-?[0-9]{2}T")
CREATED = ("executionCreatedAt", "createdAt", "creationTime", "lastUpdatedAt")
Period = tuple[str, str]  # folder of the export or report, and billing period


def select(place: Place) -> tuple[Listed, ...] | None:
    names = place.names
    data = grouped(DATA, [name for name in names if format_of(name) in ("csv", "parquet")])
    exports, reports = grouped(EXPORT, names), grouped(REPORT, names)
    if not exports and not reports:
        return alone(data, names)
    listed = [one for period in exports for one in entries(place, newest(place, exports[period], period), "dataFiles")]
    listed += [one for period in reports for one in entries(place, assembled(reports[period], period), "reportKeys")]
    complete(data, exports)
    roots = tuple({root for root, _ in (*exports, *reports)})
    outside = [name for name in names if format_of(name) in ("csv", "parquet") and not name.startswith(roots)]
    return (*listed, *(Listed(name, Stated()) for name in outside))


def grouped(shape: re.Pattern[str], names: Sequence[str]) -> dict[Period, dict[str, list[str]]]:
    """Names by billing period, and by run; the empty run is what lies in the period's own folder."""
    found: dict[Period, dict[str, list[str]]] = {}
    for name in names:
        if place := shape.match(name):
            runs = found.setdefault((place["root"], place["period"]), {})
            runs.setdefault(place["run"] or "", []).append(name)
    return found


def newest(place: Place, runs: dict[str, list[str]], period: Period) -> str:
    """The manifest that counts: one that is overwritten counts alone where there is no other."""
    manifests = {run: single(names, period) for run, names in runs.items()}
    if len(manifests) == 1:
        return next(iter(manifests.values()))
    times = {run: created(run, document(place, name)) for run, name in manifests.items()}
    if not all(times.values()) or len(set(times.values())) < len(times):
        raise undecided(sorted(manifests.values()), period)
    return manifests[max(times, key=lambda run: times[run])]


def created(run: str, manifest: dict[str, Any]) -> str:
    """As text that sorts by time: digits only."""
    said = next((manifest[key] for key in CREATED if isinstance(manifest.get(key), str)), "")
    word = said if TIME.match(said) else run
    return re.sub(r"[^0-9]", "", word[:24].partition("Z")[0]) if TIME.match(word) else ""


def assembled(runs: dict[str, list[str]], period: Period) -> str:
    """The period's own manifest, which names the current assembly."""
    if "" in runs:
        return single(runs[""], period)
    if len(runs) > 1:
        raise undecided(sorted(name for names in runs.values() for name in names), period)
    return single(next(iter(runs.values())), period)


def single(names: list[str], period: Period) -> str:
    if len(names) > 1:
        raise undecided(sorted(names), period)
    return names[0]


def entries(place: Place, manifest: str, key: str) -> Iterator[Listed]:
    found = document(place, manifest).get(key)
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        raise unknown(manifest)
    names = place.names
    for entry in found:
        if entry.endswith(".zip"):
            raise InputError(
                "unknown-format",
                f"{manifest} lists {entry}, and ZIP is not read",
                where=manifest,
                hint="choose GZIP or Parquet for the report",
            )
        yield Listed(meant(entry, names, manifest), Stated())


def complete(data: dict[Period, dict[str, list[str]]], exports: dict[Period, dict[str, list[str]]]) -> None:
    """A manifest is written last: files of a period that has none are part of a delivery."""
    roots = {root for root, _ in exports}
    for root, period in sorted(set(data) - set(exports)):
        if root in roots:
            name = min(name for names in data[root, period].values() for name in names)
            raise InputError(
                "manifest-missing",
                f"{name} lies there, and no manifest of {period}: the delivery is not complete",
                where=name,
                hint="AWS writes the manifest last: ingest again once it is there, or copy `metadata` with `data`",
            )


def alone(data: dict[Period, dict[str, list[str]]], names: Sequence[str]) -> tuple[Listed, ...] | None:
    """Files of Data Exports without their manifests: of several executions only the newest counts."""
    if all(len(runs) == 1 for runs in data.values()):
        return None
    kept = {name for period, runs in data.items() for name in runs[latest(runs, period)]}
    known = {name for runs in data.values() for found in runs.values() for name in found}
    others = [name for name in names if name not in known and format_of(name) in ("csv", "parquet")]
    return tuple(Listed(name, Stated()) for name in (*sorted(kept), *others))


def latest(runs: dict[str, list[str]], period: Period) -> str:
    times = {run: created(run, {}) for run in runs}
    if len(runs) > 1 and (not all(times.values()) or len(set(times.values())) < len(times)):
        raise undecided(sorted(name for names in runs.values() for name in names), period)
    return max(runs, key=lambda run: times[run])


def undecided(names: Sequence[str], period: Period) -> InputError:
    return InputError(
        "ambiguous-delivery",
        f"{names[0]} and {names[1]} both speak for {period[1]}, and nothing says which is newer",
        where=names[0],
        hint="keep the newest of them only, or name its files in `path`",
    )
