"""Plans as they were shown, kept under their digests, and which of them stand by the audit log."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from apportion.errors import ProjectError
from apportion.verbs.files import put
from apportion.verbs.project import Project
from apportion.verbs.settings import HIDDEN

DEED = "enforce"
FOLDER = "enforce"


class Shown(Protocol):
    @property
    def digest(self) -> str: ...

    @property
    def undo(self) -> bool: ...


P = TypeVar("P", bound=Shown)


def keep_plan(project: Project, digest: str, text: str) -> None:
    folder = project.folder / HIDDEN / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    put(folder / f"{digest}.json", text.encode())


def kept_plan(project: Project, digest: str, read: Callable[[str], P]) -> P:
    file = project.folder / HIDDEN / FOLDER / f"{digest}.json"
    try:
        plan = read(file.read_text("utf-8")) if digest.isalnum() else None
    except (OSError, ValueError, KeyError, TypeError):
        plan = None
    if plan is None or plan.digest != digest:
        hint = "run `apportion enforce`, look at the plan, and apply it by the digest that it shows"
        raise ProjectError("unknown-plan", f"there is no plan {digest!r}, or it is not what was shown", hint=hint)
    return plan


def standing_plans(project: Project, head: str, read: Callable[[str], P]) -> list[P]:
    """Those whose changes stand: since all was last put back."""
    found: list[P] = []
    for note in project.books.audit():
        if note.what == DEED and note.detail.startswith(head) and " by plan " in note.detail:
            plan = kept_plan(project, note.detail.partition(" by plan ")[2].partition(",")[0], read)
            found = [] if plan.undo else [*found, plan]
    return found
