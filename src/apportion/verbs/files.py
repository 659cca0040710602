"""Files that people asked for: there whole under their name, or not at all."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from apportion.books.fileio import sync_folder
from apportion.errors import ProjectError


def put(path: Path, body: bytes, before: Callable[[], None] = lambda: None) -> None:
    """Written beside its place, synced, then given its name. `before` is done when it is sure to be there: no name without it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ProjectError("no-folder", f"there is no folder {path.parent}", hint="make it first, or name another")
    if path.is_dir():
        raise ProjectError("not-a-file", f"{path} is a folder", hint="name a file in it")
    draft = folder / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        with draft.open("xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        before()
        draft.replace(path)
        sync_folder(folder)
    finally:
        draft.unlink(missing_ok=True)
