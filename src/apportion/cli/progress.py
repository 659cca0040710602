"""A progress bar on stderr, on a terminal only, for what takes longer than a second."""

import sys
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

PATIENCE_S = 1


@dataclass(slots=True)
class Bar:
    """Called by verbs as `bar(what, done, total)`; total 0 means that nobody knows."""

    quiet: bool
    timer: Timer | None = None
    display: Any = None
    task: Any = None
    latest: tuple[str, int, int] = field(default=("", 0, 0))

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            self.timer = Timer(PATIENCE_S, self._start)
            self.timer.daemon = True
            self.timer.start()
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        if self.timer:
            self.timer.cancel()
            self.timer.join()
        if self.display:
            self.display.stop()

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        self.latest = (what, done, total)
        self._update()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        display = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = display.add_task("", total=None)
        display.start()
        self.display = display
        self._update()

    def _update(self) -> None:
        what, done, total = self.latest
        if self.display:
            self.display.update(self.task, description=what, completed=done, total=total or None)
