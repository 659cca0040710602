"""Storage in use: quota and usage reports of Lustre, Storage Scale (GPFS), Ceph, ZFS, NFS and local file systems, and S3 inventories.

A report is a sample of levels. Quota commands tell the present only, so what a `command` prints is kept among the files at `path` and read with
them: any past window can be read again, and the evidence stays.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.storage.asking import ask, newest_sign
from apportion.sources.storage.delivery import deliveries
from apportion.sources.storage.reading import one_view, read_reports
from apportion.sources.storage.settings import how_of

STANZA = """\
[[sources]]
name = "scratch"
kind = "storage"
path = "storage/scratch"                        # a folder of saved reports; the time of each stands in its name
# command = "lfs quota -a -u /lustre/scratch"   # run by ingest; what it prints is kept in that folder
# ssh = "login-1"                               # where it runs, unless here
# by = "user"                                   # whose quotas, where the reports list users and groups
# held = "quota"                                # what is held: used (the default) or quota
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """A delivery for each month of reports, or for the window asked for; `command` is run first and its report kept."""
    how = how_of(settings)
    if how.command:
        ask(how, base)
    yield from deliveries(read_reports(how, base), how, window)


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether the reports can be read, and whether the newest is fresh."""
    asks = "command" in settings
    try:
        how = how_of(settings)
        found = read_reports(how, base)
        one_view(found.reports, how)
    except ApportionError as error:
        if asks and error.code == "no-such-file":
            yield Sign("note", "no report of the command was kept yet", "apportion ingest")
        else:
            yield Sign("wrong", error.message, error.hint)
        return
    yield newest_sign(found.reports, how)
    for _, problem in found.problems[:3]:
        yield Sign("note", f"{problem.where}: {problem.message} [{problem.code}]")


SOURCE = Live(read=read, probe=probe, stanza=STANZA)
