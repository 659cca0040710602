"""Which files of a place count now: all of them, unless the vendor's manifests say which.

Each layout is one module with `select(place) -> tuple[Listed, ...] | None`: None where the place is not laid out so, else what its
manifests list, without what older runs or versions left behind. What a manifest states about a file is held against the file:

    listed   what a manifest says about a file, and which file of the place it means
    aws      Data Exports and Cost and Usage Reports, as AWS writes them to a bucket
    azure    run folders of Azure's exports, of which the newest counts
    plain    a `manifest.json` that lists the files of its folder

A part that is named and not there (`manifest-part-missing`) or is another than the one named (`manifest-mismatch`) refuses the delivery.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from apportion.sources.bills.manifests import aws, azure, plain
from apportion.sources.bills.manifests.listed import Listed, same_size
from apportion.sources.files.paths import InputFile
from apportion.sources.files.places import Place

LAYOUTS: tuple[Callable[[Place], tuple[Listed, ...] | None], ...] = (
    aws.select,  # before Azure's: assemblies are named by GUIDs, as its runs are
    azure.select,
    plain.select,
)  # the first that knows the place


def current(place: Place, formats: Collection[str]) -> list[InputFile]:
    """The files that count, in order of name, with what was stated about them."""
    listed = next((found for select in LAYOUTS if (found := select(place)) is not None), None)
    if listed is None:
        return place.files(formats)
    stated = {one.name: one.stated for one in listed}
    files = [replace(file, stated=stated[file.name]) for file in place.picked(sorted(stated), formats)]
    for file in files:
        same_size(file)
    return files
