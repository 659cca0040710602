"""Slurm's accounting: every attempt of every job, what it held on which node, capacity and its outages, and reservations.

From saved outputs of its commands (`path`), by running them here or over ssh, or through slurmrestd (`url`). Totals are those of sreport, to the second,
but for what sreport itself gets wrong. One delivery a window.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.outside.command import Shell
from apportion.sources.settings import Stanza, stanza
from apportion.sources.slurm.asked import read_commands
from apportion.sources.slurm.delivery import Said, delivery
from apportion.sources.slurm.probe import probe_commands, probe_rest, probe_saved
from apportion.sources.slurm.rest import read_rest, web_of
from apportion.sources.slurm.saved import read_saved
from apportion.sources.slurm.settings import SETTINGS, how_of

STANZA = """\
[[sources]]
name = "slurm"
kind = "slurm"
# ssh = "user@login-node"          # run sacct there; without it, here
# path = "slurm"                   # or a folder with saved outputs of sacct, scontrol and sacctmgr
# time_zone = "Europe/Berlin"      # of saved outputs that print local time
# suspended = "free"               # suspended time counts as held unless said otherwise
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None) -> Iterator[Delivery | Progress]:
    """One delivery of the window, or of all that saved files hold."""
    found = stanza(settings, SETTINGS)
    how = how_of(found)
    if "path" in settings:
        said = Said(found.text("path"), saved=True)
        yield from read_saved(found, base, how, said)
    else:
        said = Said("slurm", cluster=how.cluster)
        yield from read_live(found, window, said)
    yield delivery(said, window, how)


def read_live(found: Stanza, window: Interval | None, said: Said) -> Iterator[Progress]:
    if window is None:
        raise ProjectError(
            "missing-setting",
            "Slurm is asked for a window",
            where=found.where,
            hint='or read files: path = "sacct.txt"',
        )
    if "url" in found.settings:
        with web_of(found) as web:
            yield from read_rest(web, found.text("api", ""), window, said)
    else:
        yield from read_commands(Shell.of(found), window, how_of(found), said)


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    found = stanza(settings, SETTINGS)
    how_of(found)
    if "path" in settings:
        yield from probe_saved(found, base)
    elif "url" in settings:
        with web_of(found) as web:
            yield from probe_rest(web, found.text("api", ""))
    else:
        yield from probe_commands(Shell.of(found))


# slurmdbd is told late of what ended while it was down, and mended runaways are rewritten.
SOURCE = Live(read, probe, STANZA, overlap_s=2 * DAY_S)
