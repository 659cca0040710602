"""Files that people asked for: there whole under their name, or not at all."""

from collections.abc import Callable
from pathlib import Path

from apportion.books.drafts import draft, sync_folder
from apportion.errors import ProjectError


def put(path: Path, body: bytes, before: Callable[[], None] = lambda: None) -> None:
    """Written beside its place, synced, then given its name. `before` is done when it is sure to be there: no name without it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ProjectError("no-folder", f"there is no folder {path.parent}", hint="make it first, or name another")
    if path.is_dir():
        raise ProjectError("not-a-file", f"{path} is a folder", hint="name a file in it")
    with draft(path) as made:
        made.file.write(body)
        made.sync()
        before()
        made.name()
        sync_folder(folder)
