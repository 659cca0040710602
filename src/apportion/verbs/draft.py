"""Drafts of the policy: proposed, looked at, then adopted or dropped. Adopting writes the file and posts nothing; `plan` shows what it changes."""

from collections.abc import Callable, Sequence
from difflib import unified_diff
from hashlib import sha256
from importlib import resources
from pathlib import Path
from stat import S_IMODE
from typing import Any

from apportion.books.drafts import draft as drafted
from apportion.books.drafts import sync_folder
from apportion.books.proposals import ADOPTED, DROPPED, OPEN, Proposal, refuse_ended
from apportion.errors import PolicyError, ProjectError
from apportion.model.times import instant_text
from apportion.policy import diff as clauses
from apportion.policy.edit import Edited, NewOwner, with_owner, with_setting
from apportion.policy.load import load_policy
from apportion.policy.tree import Path as Place
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.project import Project


def propose(project: Project, text: str, why: str) -> Proposal:
    """Keep the whole text of a policy that somebody wants instead of the file's. It must be a sound one, and another one."""
    if not why.strip():
        raise ProjectError("no-reason", "a draft says why it is wanted", hint="give a reason")
    now = policy_text(project)
    load_policy(text, project.settings.policy)
    if text == now:
        raise PolicyError("same-policy", f"the draft says what {project.settings.policy} says", hint="change something")
    return project.books.proposals.add(f"{project.policy.version}:{digest(now)}", text, why.strip())


def drafts(project: Project, status: str = "") -> Listing[Proposal]:
    """Drafts of the policy, oldest first; all of them, or those of a status."""
    found = [one for one in project.books.proposals.all() if status in ("", one.status)]
    return Listing(found, lambda: draft_list(found, f"{counted(len(found), 'draft')}."))


def draft(project: Project, number: int) -> Proposal:
    """One of them, with its text."""
    return project.books.proposals.one(number)


def drop(project: Project, number: int, why: str = "") -> Proposal:
    """End a draft without adopting it."""
    return project.books.proposals.end(number, DROPPED, why)


def adopt(project: Project, number: int) -> Proposal:
    """Make a draft the policy file; posts nothing. The file becomes the draft, whole, if it still is what the draft was drawn up from."""
    found = draft(project, number)
    refuse_ended(found)
    load_policy(found.text, project.settings.policy)
    file = (project.folder / project.settings.policy).resolve()
    return replace_file(file, found, lambda before: project.books.proposals.end(number, ADOPTED, found.why, before))


def replace_file(file: Path, found: Proposal, end: Callable[[Callable[[], None]], Proposal]) -> Proposal:
    """Named within the transaction that ends the draft; a file that already says it only needs that."""
    with drafted(file) as made:
        now = file.read_bytes()
        if now == found.text.encode():
            return end(lambda: None)
        if sha256(now).hexdigest() != found.base_sha256:
            raise PolicyError(
                "draft-outdated",
                f"{file.name} is not what draft {found.number} was drawn up from",
                where=str(file),
                hint=f"look at `apportion draft show {found.number}`, and propose it again from the file as it is now",
            )
        made.file.write(found.text.encode())
        made.place.chmod(S_IMODE(file.stat().st_mode))
        made.sync()
        ended = end(made.name)
        sync_folder(file.parent)
        return ended


def is_current(project: Project, found: Proposal) -> bool:
    """Whether the file still is what the draft was drawn up from."""
    return digest(policy_text(project)) == found.base_sha256


def looked_at(project: Project, found: Proposal) -> dict[str, Any]:
    """What it changes: `clauses` as sentences, the `diff` of the texts; against the file while it is open, else against its base where the books have it."""
    old = policy_text(project) if found.status == OPEN else base_text(project, found)
    if old is None:
        return {"clauses": (), "diff": "", "old": ""}
    file = project.settings.policy
    told = clauses.diff(load_policy(old, file), load_policy(found.text, file))
    return {"clauses": tuple(one.sentence for one in told), "diff": unified(old, found.text, file), "old": old}


def base_text(project: Project, found: Proposal) -> str | None:
    known = (one.text for one in project.books.policies() if one.version == found.base_version)
    return next(known, None)


def unified(old: str, new: str, file: str) -> str:
    """As `diff -u` prints it."""
    return "\n".join(unified_diff(old.splitlines(), new.splitlines(), file, f"{file} (draft)", lineterm=""))


def owner_edit(project: Project, rule: NewOwner, place: int | None = None) -> Edited:
    """The policy file with one more owner rule; see `policy/edit`."""
    return with_owner(policy_text(project), project.settings.policy, rule, place)


def setting_edit(project: Project, settings: list[tuple[Place, str]]) -> Edited:
    """The policy file with other values at some places."""
    edited = Edited(policy_text(project), 1)
    for path, value in settings:
        edited = with_setting(edited.text, project.settings.policy, path, value)
    return edited


def policy_text(project: Project) -> str:
    """As it is on the disk, line ends and all."""
    return read_text(project.folder / project.settings.policy)


def read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError("no-policy-file", f"{file} cannot be read: {error}", where=str(file)) from error


def facet_rules() -> str:
    """Rules to start from, as the part of a policy that they are."""
    return resources.files("apportion.verbs.proposing").joinpath("facets.yaml").read_text(encoding="utf-8")


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def draft_list(found: Sequence[Proposal], title: str) -> Sheet:
    names = ("number", "status", "when", "who", "base", "why")
    rows = tuple(
        (str(one.number), one.status, instant_text(one.at_s), one.who, one.base_version[:12], one.why) for one in found
    )
    return Sheet(title, (Table(tuple(Column(name, name) for name in names), rows),), {"drafts": found})
