"""`/api/v1/policies`: every version of the policy that the books know, and its text."""

from fastapi import APIRouter

from apportion.client.record import PolicyText, PolicyVersion
from apportion.client.shapes import Listed
from apportion.web.api.asked import Named, Whole, about
from apportion.web.api.paging import Parted
from apportion.web.ask import NotThereError
from apportion.web.viewer import Deed

router = APIRouter(tags=["policies"])


@router.get("/policies", **about(Deed.whole))
def policies(ask: Whole, part: Parted) -> Listed[PolicyVersion]:
    """By the day from which they are in force."""
    made = [
        PolicyVersion(version=one.version, name=one.name, file=one.file, effective=one.effective)
        for one in ask.project.books.policies()
    ]
    return part.of(made, lambda one: [one.effective, one.version])


@router.get("/policies/{version}", **about(Deed.whole))
def policy(ask: Whole, version: Named) -> PolicyText:
    """A version with its text, by its name in full or as reports shorten it."""
    found = [one for one in ask.project.books.policies() if len(version) >= 6 and one.version.startswith(version)]
    if len(found) != 1:
        raise NotThereError("such policy")
    one = found[0]
    return PolicyText(version=one.version, name=one.name, file=one.file, effective=one.effective, text=one.text)
