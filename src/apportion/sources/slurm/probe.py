"""Whether Slurm can be asked, and what is missing for exact usage; each with what mends it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from apportion.errors import ApportionError
from apportion.sources.files.paths import input_files
from apportion.sources.live import Sign
from apportion.sources.outside.command import Shell
from apportion.sources.outside.web import Web
from apportion.sources.settings import Stanza
from apportion.sources.slurm.asked import WANTED, config, fields, text
from apportion.sources.slurm.nodes import from_scontrol
from apportion.sources.slurm.rest import asked, newest
from apportion.sources.slurm.saved import FORMATS

SKEW_S = 5
OLDEST = (20, 11)


def probe_saved(found: Stanza, base: Path) -> Iterator[Sign]:
    files = input_files(found.text("path"), base, FORMATS, found.where)
    yield Sign("ok", f"{len(files)} files to read")


def probe_commands(shell: Shell) -> Iterator[Sign]:
    """Each check stands alone: one that fails does not hide the next."""
    checks = (versions, wanted_fields, database, controller, clocks)
    for check in checks:
        try:
            yield from check(shell)
        except ApportionError as error:
            yield Sign(
                "wrong", error.message, FIXES.get(check, error.hint) if error.code == "command-failed" else error.hint
            )
            if check is versions:  # nothing else can be asked
                return


def versions(shell: Shell) -> Iterator[Sign]:
    said = text(shell, "sacct", "-V").split()[-1]
    parts = tuple(int(part) for part in said.split(".")[:2] if part.isdecimal())
    if parts < OLDEST:
        yield Sign("note", f"Slurm {said} on {shell.place} is older than 20.11, which is the oldest that was tried")
    else:
        yield Sign("ok", f"Slurm {said} on {shell.place}")


def wanted_fields(shell: Shell) -> Iterator[Sign]:
    missing = [name for name in WANTED if name not in fields(shell)]
    if missing:
        yield Sign("note", f"this sacct has no {', '.join(missing)}; the rest is read")


def database(shell: Shell) -> Iterator[Sign]:
    clusters = text(shell, "sacctmgr", "-n", "-P", "show", "cluster", "format=Cluster").split()
    if clusters:
        yield Sign("ok", f"slurmdbd answers; clusters: {', '.join(clusters)}")
    else:
        yield Sign("wrong", "slurmdbd knows no cluster", "sacctmgr add cluster NAME")


def controller(shell: Shell) -> Iterator[Sign]:
    found = config(shell)
    tracked = found.get("AccountingStorageTRES", "").split(",")
    has_gpus = any(node.has.gpus for node in from_scontrol(text(shell, "scontrol", "-o", "show", "node")))
    if has_gpus and "gres/gpu" not in tracked:
        yield Sign(
            "wrong",
            "there are GPUs, and accounting does not record them",
            "add AccountingStorageTRES=gres/gpu to slurm.conf and restart slurmctld; jobs from then on are recorded",
        )
    elif has_gpus:
        yield Sign("ok", "accounting records GPUs (gres/gpu)")
    if found.get("AccountingStorageType") == "accounting_storage/none":
        yield Sign("wrong", "accounting is off", "set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf")
    private = set(found.get("PrivateData", "").split(",")) & {"jobs", "usage", "all"}
    if private:
        yield Sign(
            "note",
            f"PrivateData={','.join(sorted(private))}: only an operator sees the jobs of others",
            "sacctmgr modify user NAME set adminlevel=operator",
        )


def clocks(shell: Shell) -> Iterator[Sign]:
    """Windows end at our now; a clock that is behind has not written its last jobs yet."""
    before = int(time.time())
    there = int(text(shell, "date", "+%s"))
    skew = there - before if there < before else max(0, there - int(time.time()))
    if abs(skew) > SKEW_S:
        yield Sign(
            "wrong",
            f"the clock of {shell.place} is {abs(skew)} s {'ahead' if skew > 0 else 'behind'}",
            "timedatectl set-ntp true",
        )
    else:
        yield Sign("ok", f"the clock of {shell.place} agrees")


FIXES: dict[Callable[[Shell], Iterator[Sign]], str] = {
    versions: 'put slurm.conf where the commands find it (SLURM_CONF), or name the machine that has it: ssh = "user@host"',
    database: "systemctl start slurmdbd, and see AccountingStorageHost of slurm.conf",
    controller: "systemctl start slurmctld, and see SlurmctldHost of slurm.conf",
}


def probe_rest(web: Web, api: str) -> Iterator[Sign]:
    try:
        version = api or newest(web)
        asked(web, f"/slurm/{version}/ping")
        yield Sign("ok", f"slurmrestd answers, interface {version}")
        asked(web, f"/slurmdb/{version}/clusters")
        yield Sign("ok", "slurmdbd answers through it")
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint or "scontrol token makes a token; see token of the source")
        return
    yield Sign(
        "note",
        "slurmrestd tells nothing of past outages, so all capacity counts as up",
        "read by commands or ssh where that matters",
    )
