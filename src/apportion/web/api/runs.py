"""`GET /api/v1/runs/{run}`: what a job or run cost."""

from typing import Annotated

from fastapi import APIRouter, Query

from apportion.client.record import Attempt, JobFigures, RunCost, RunPeriod
from apportion.client.texts import MONTH as MONTH_FORM
from apportion.client.texts import maybe
from apportion.model.times import parse_period
from apportion.render.json import portable
from apportion.reports.cost import Cost
from apportion.reports.job import JobLine
from apportion.web.api.asked import Named, Reading, about
from apportion.web.costs import seen_cost
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])
MONTH = Query(description="only one month's part; all unless given", pattern=maybe(MONTH_FORM), examples=["2026-10"])


@router.get("/runs/{run:path}", **about(Deed.read))
def run_cost(ask: Reading, run: Named, period: Annotated[str, MONTH] = "") -> RunCost:
    """What a job cost, all attempts and array tasks together, by its id or its run's; of a team that you may see."""
    month = str(parse_period(period)) if period else ""
    return shape(seen_cost(ask, run, month))


def shape(found: Cost) -> RunCost:
    return RunCost(
        run=found.run,
        name=found.name,
        owners=list(found.owners),
        status=found.status,
        periods=[RunPeriod(**portable(share)) for share in found.shares],
        totals=[figures(line) for line in found.totals],
        attempts=[
            Attempt(
                workload=one.workload,
                outcome=one.outcome,
                start_s=one.start_s,
                end_s=one.end_s,
                figures=figures(one.line),
            )
            for one in found.attempts
        ],
        decided=[one.text for one in found.decided],
    )


def figures(line: JobLine) -> JobFigures:
    return JobFigures(**{name: portable(getattr(line, name)) for name in JobFigures.model_fields})
