"""One file that two sources of different clusters read: its work counts in each of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from apportion.model.delivery import FileDigest
from apportion.model.finding_codes import treatment_of
from apportion.model.findings import Finding, natural, share_of, unit_of
from apportion.model.times import Interval
from apportion.verbs.project import Project

Units = Mapping[tuple[str, str], int]


def find_shared_files(project: Project, window: Interval) -> dict[str, tuple[str, str]]:
    """Of deliveries that touch a window. By source, the other one, first by name, that reads a file of it for another cluster; and the file's name.

    Sources of one cluster see the same work, of which the policy's `decides` says whose word counts.
    """
    clusters = {source.name: str(source.settings.get("cluster", "")) for source in project.sources}
    if len({*clusters.values()}) < 2:
        return {}
    readers: dict[str, dict[str, str]] = defaultdict(dict)
    for source, file in read_files(project, window):
        readers[file.sha256][source] = file.name
    found: dict[str, tuple[str, str]] = {}
    for names in readers.values():
        for name in sorted(names):
            other = next((one for one in sorted(names) if clusters.get(one, "") != clusters.get(name, "")), "")
            if other and other < name:
                found.setdefault(name, (other, names[name]))
    return found


def read_files(project: Project, window: Interval) -> Iterator[tuple[str, FileDigest]]:
    """Sources and the files of which they have usage that counts."""
    for row in project.books.deliveries():
        inside = row["start_s"] < window.end_s and row["end_s"] > window.start_s
        if inside and row["superseded_by"] is None and row["rows"].get("usage"):
            yield from (
                (row["source"], file) for file in project.books.delivered_files(row["delivery_id"]) if file.rows
            )


def tell_shared_files(shared: Mapping[str, tuple[str, str]], taken: Units) -> Iterator[Finding]:
    """With the hours that the later source by name has of what both count."""
    for name, (other, file) in sorted(shared.items()):
        meters = sorted(meter for source, meter in taken if source == name and taken.get((other, meter)))
        both = {meter: min(taken[name, meter], taken[other, meter]) for meter in meters}
        both = {meter: units for meter, units in both.items() if units}
        if not both:
            continue
        shares = {meter: share_of(units, taken[name, meter], lost=False) for meter, units in both.items()}
        meter = max(both, key=lambda key: (shares[key], key))
        yield Finding(
            "file-in-two-sources",
            f"{file} is read by source '{other}' of another cluster, too: its work counts in both",
            treatment_of("file-in-two-sources").remedy,
            source=name,
            hours=natural(both[meter], meter),
            unit=unit_of(meter),
            share=shares[meter],
        )
