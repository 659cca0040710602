"""Commands as people and cron give them, each in a process of its own, forked from one that has imported the program once."""

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

import apportion.verbs.erase
import apportion.verbs.gc
import apportion.verbs.hooks
import apportion.verbs.ingest  # noqa: F401  # so that commands need not
from apportion.cli.main import main
from tests.processes import PATIENCE_S


def obey(arguments: list[str], said: str) -> None:
    with open(said, "w", encoding="utf-8") as file:  # noqa: PTH123
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(arguments)
    sys.stdout.flush()


@dataclass(frozen=True)
class Command:
    words: list[str]
    process: ForkServerProcess
    said: Path

    def done(self) -> str:
        """What it said, once it has ended well."""
        code, text = self.ended()
        assert code == 0, (self.words, code, text)
        return text

    def ended(self) -> tuple[int | None, str]:
        self.process.join(PATIENCE_S)
        return self.process.exitcode, self.said.read_text("utf-8")


@dataclass(frozen=True)
class Hands:
    """On one project."""

    context: ForkServerContext
    project: Path
    folder: Path

    def begin(self, *words: str) -> Command:
        said = self.folder / os.urandom(6).hex()
        process = self.context.Process(target=obey, args=(["--project", str(self.project), *words], str(said)))
        process.start()
        return Command([*words], process, said)

    def do(self, *words: str) -> str:
        return self.begin(*words).done()


@contextmanager
def hands(project: Path) -> Iterator[Hands]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.served.hands"])
    with TemporaryDirectory() as folder:
        yield Hands(context, project, Path(folder))
