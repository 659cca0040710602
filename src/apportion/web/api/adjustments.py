"""`/api/v1/adjustments`: what people decided: credits, and what settled disputes."""

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.books.shapes import StoredRun, Transfer
from apportion.client.record import Adjustment, Credit, Credited
from apportion.client.shapes import Listed
from apportion.model.money import plain
from apportion.model.times import parse_period
from apportion.verbs.adjust import Wish, adjust
from apportion.web.api.asked import Adjusting, Reading, about
from apportion.web.api.paging import Parted
from apportion.web.ask import Ask
from apportion.web.viewer import Deed

router = APIRouter(tags=["adjustments"])


@router.get("/adjustments", **about(Deed.read))
def adjustments(ask: Reading, part: Parted) -> Listed[Adjustment]:
    """What is paid for a team that you may see, or by it, in the order in which it was posted."""
    runs = {run.run_id: run for run in ask.project.books.runs()}
    seen = [made for made in ask.project.books.transfers() if ask.sees_owner(made.owner) or ask.sees_owner(made.other)]
    found = part.of(seen, lambda made: runs[made.run_id].seq)
    return Listed(items=[shape(ask, made, runs[made.run_id]) for made in found.items], next=found.next)


@router.post("/adjustments", **about(Deed.adjust, 409))
def give_credit(ask: Adjusting, credit: Credit) -> Credited:
    """A sponsor pays an amount of what an owner owes, once."""
    period = parse_period(credit.period)
    given = credit.model_dump(exclude={"period"})
    with acting(ask.viewer.name):
        done = adjust(ask.project, period, Wish(**given))
    run = next(run for run in ask.project.books.runs() if run.run_id == done.transfer.run_id)
    return Credited(adjustment=shape(ask, done.transfer, run), posted=done.posted, head=done.head)


def shape(ask: Ask, made: Transfer, run: StoredRun) -> Adjustment:
    return Adjustment(
        run_id=made.run_id,
        owner=ask.called(made.owner),
        other=ask.called(made.other),
        currency=made.currency,
        amount=plain(made.amount),
        why=made.why,
        approver=made.approver,
        reference=made.reference,
        dispute=made.dispute,
        period=run.about or run.period,
        booked=run.period,
    )
