"""Storage in use: quota and usage reports of Lustre, Storage Scale (GPFS), Ceph, ZFS, NFS and local file systems, and S3 inventories.

A report is a sample of levels. Quota commands tell the present only, so what a `command` prints is kept in a folder of the project and read with
those before it: any past window can be read again, and the evidence stays.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError, InputError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.storage.asking import ask, is_now, newest_sign
from apportion.sources.storage.delivery import deliveries
from apportion.sources.storage.reading import Read, one_view, read_reports
from apportion.sources.storage.settings import how_of

STANZA = """\
[[sources]]
name = "scratch"
kind = "storage"
command = "lfs quota -a -u /lustre/scratch"     # run by ingest; what it prints is kept in storage/scratch
# ssh = "login-1"                               # where it runs, unless here
# path = "reports/*.txt"                        # saved reports instead of a command; the time of each stands in its name
# by = "user"                                   # whose quotas, where the reports list users and groups
# held = "quota"                                # what is held: used (the default) or quota
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """A delivery for each month of saved reports, or for the window asked for; a `command` is run where the window ends now."""
    how = how_of(settings)
    if how.command and window and is_now(window):
        ask(how, base, window.end_s)
    try:
        found = read_reports(how, base, window)
    except InputError as error:
        if not how.command or not window or error.code != "no-such-file":
            raise
        found = Read()
    yield from deliveries(found, how, window)


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether the reports can be read, and whether the newest is fresh. The command itself is not run."""
    try:
        how = how_of(settings)
        found = read_reports(how, base)
        one_view(found.reports, how)
    except ApportionError as error:
        if "command" in settings and error.code == "no-such-file":
            yield Sign("note", "no report of the command was kept yet", "apportion ingest")
        else:
            yield Sign("wrong", error.message, error.hint)
        return
    yield newest_sign(found.reports, how)
    for _, problem in found.problems[:3]:
        yield Sign("note", f"{problem.where}: {problem.message} [{problem.code}]")


SOURCE = Live(read=read, probe=probe, stanza=STANZA)
