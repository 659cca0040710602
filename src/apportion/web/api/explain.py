"""`GET /api/v1/explain`: why a figure is what it is."""

from typing import Annotated

from fastapi import APIRouter, Query

from apportion.client.record import Explanation
from apportion.errors import ProjectError
from apportion.render.json import portable
from apportion.verbs.explain import explain
from apportion.web.accounts import known_names
from apportion.web.api.asked import MONTHS, Reading, about
from apportion.web.ask import Ask, NotThereError
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])
WHAT = Query(
    min_length=1,
    max_length=1024,
    description="a team, a job or run, a posting by number or hash; of all teams also a pool. `team:`, `job:`, `posting:`, `pool:` tell apart",
    examples=["vision"],
)


@router.get("/explain", dependencies=[MONTHS], **about(Deed.read, 409))
def explanation(ask: Reading, what: Annotated[str, WHAT]) -> Explanation:
    """A figure of one month, computed again from cost lines and usage and compared with what is posted."""
    name = what if ask.viewer.teams is None else theirs(ask, what)
    try:
        found = ask.desk.kept(("explain", name, str(ask.month)), lambda: explain(ask.project, name, ask.month))
    except ProjectError as error:
        if ask.viewer.teams is None:
            raise
        raise NotThereError("such figure") from error
    return Explanation.model_validate(portable(found))


def theirs(ask: Ask, what: str) -> str:
    """What it is by its full name, where it is of their teams alone; otherwise it is no figure."""
    kind, colon, name = what.partition(":")
    if not colon or kind not in ("team", "job", "posting"):
        kind, name = "", what
    if kind in ("", "team") and ask.viewer.sees(name):
        return f"team:{name}"
    if kind in ("", "job") and (run := known_names(ask).run_of(name)):
        return f"job:{run}"
    if kind in ("", "posting"):
        rows = ask.project.books.find_entries(name, ask.viewer.teams, 2)
        if len(rows) == 1:
            return f"posting:{rows['seq'][0].as_py()}"
    raise NotThereError("such figure")
