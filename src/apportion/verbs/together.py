"""Files that appear together: written under other names, synced, then named in their order. What failed before that changes nothing."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from apportion.books.drafts import Draft, draft, make_folder, sync_folder

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Together:
    """Of two who write the same files at once, the second waits for the first, if both begin with the same one."""

    folder: Path
    held: ExitStack
    drafts: dict[str, Draft] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, Path]:
        """Each where it is while it has no name."""
        return {name: made.place for name, made in self.drafts.items()}

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        made = self.drafts[name] = self.held.enter_context(draft(self.folder / name))
        yield made.file
        made.sync()

    def sha256(self, name: str) -> str:
        found = hashlib.sha256()
        with self.drafts[name].place.open("rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
        return found.hexdigest()


@contextmanager
def together(folder: Path) -> Iterator[Together]:
    make_folder(folder.absolute())
    with ExitStack() as held:
        made = Together(folder, held)
        yield made
        for each in made.drafts.values():
            each.name()
        sync_folder(folder)
