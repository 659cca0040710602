"""`GET /api/v1/me`: who one is here, and what one may do."""

from fastapi import APIRouter

from apportion.client.shapes import Me
from apportion.web.api.asked import Reading, about
from apportion.web.viewer import Deed

router = APIRouter(tags=["people"])


@router.get("/me", **about(Deed.read))
def me(ask: Reading) -> Me:
    """Who you are, and what you may see and do."""
    viewer = ask.viewer
    return Me(
        name=viewer.name,
        role=viewer.role.value,
        by=viewer.by,
        teams=None if viewer.teams is None else sorted(viewer.teams),
        deeds=sorted(deed.value for deed in viewer.deeds),
    )
