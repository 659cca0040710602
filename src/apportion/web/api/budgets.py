"""`/api/v1/budgets`: what teams and projects mean to spend a month, and what they spent. `/quotas`: what they may use, and what is left."""

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.client.agreed import Budget, BudgetSet, BudgetWish
from apportion.client.shapes import Listed, ReportAnswer
from apportion.model.times import parse_period
from apportion.render.json import portable
from apportion.reports.budgets import Spending
from apportion.reports.quotas import quota_report
from apportion.verbs import budget as verbs
from apportion.verbs.quota import quotas as used_of
from apportion.web.api.asked import OF_MONTH, Budgeting, Reading, about, require_theirs
from apportion.web.api.paging import Parted
from apportion.web.api.reports import report_answer
from apportion.web.forecasts import month_ends
from apportion.web.viewer import Deed

router = APIRouter(tags=["budgets"])


@router.get("/budgets", dependencies=[OF_MONTH], **about(Deed.read))
def budgets(ask: Reading, part: Parted) -> Listed[Budget]:
    """Those that hold in a month, of the teams that you may see."""
    found = verbs.budgets(ask.project, ask.month, ask.record, foresee=month_ends(ask))
    return part.of((shape(one) for one in found if ask.sees_owner(one.budget.owner)), lambda one: one.owner)


@router.post("/budgets", **about(Deed.budget))
def set_budget(ask: Budgeting, wish: BudgetWish) -> BudgetSet:
    """Set what a team or project that you may see means to spend a month. The same again changes nothing."""
    since = parse_period(wish.since)
    require_theirs(ask, wish.owner, "such team")
    with acting(ask.viewer.name):
        made = verbs.set_budget(ask.project, wish.owner, wish.amount, since, wish.why)
    return BudgetSet(
        owner=made.owner,
        since=made.since,
        currency=made.currency,
        amount=portable(made.amount),
        who=made.who,
        why=made.why,
    )


@router.get("/quotas", dependencies=[OF_MONTH], **about(Deed.read))
def quotas(ask: Reading) -> ReportAnswer:
    """What is used and left of the quotas of the teams that you may see, and when they run out at this pace."""
    found = used_of(ask.project, ask.month, ask.record)
    own = [one for one in found if ask.viewer.sees(one.limit.team)]
    return report_answer(quota_report(own, str(ask.month), ask.project.books.head()))


def shape(one: Spending) -> Budget:
    return Budget(
        owner=one.budget.owner,
        since=one.budget.since,
        currency=one.budget.currency,
        amount=portable(one.budget.amount),
        spent=portable(one.spent),
        left=portable(one.left),
        projected=portable(one.projected),
        who=one.budget.who,
        why=one.budget.why,
    )
