"""Jobs that Slurm's prolog noted on this node (deploy/slurm/prolog.sh): where Slurm uses no cgroups, they say whose job a user's process is."""

from collections.abc import Iterator
from pathlib import Path

NOTES = Path("/run/apportion/jobs")


def noted(folder: Path, uid: int) -> dict[str, str]:
    """The user's job, where it is their only one here: of several, nobody knows which. Root's processes are the node's own."""
    mine = list(notes_of(folder, uid)) if uid else []
    return {"noted": mine[0][0], "cluster": mine[0][1]} if len(mine) == 1 else {}


def notes_of(folder: Path, uid: int) -> Iterator[tuple[str, str]]:
    """Job and cluster; a note that ends while it is read is none."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.name.isdecimal())
    except OSError:
        return
    for name in names:
        try:
            user, _, cluster = (folder / name).read_text(encoding="utf-8", errors="replace").strip().partition(" ")
        except OSError:
            continue
        if user == str(uid):
            yield name, cluster
