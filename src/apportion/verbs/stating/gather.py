"""The facts of a period, as the ledger has them now or had them at some second."""

from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.minor import minor_of
from apportion.books.shapes import CLOSE, CORRECTION, PLAN
from apportion.errors import ApportionError
from apportion.model.findings import Acceptance
from apportion.model.minor import table_of
from apportion.model.money import plain, to_decimal, to_grains
from apportion.model.times import Period, parse_period
from apportion.policy.diff import diff
from apportion.policy.document import Policy
from apportion.reports.findings import accepted_text
from apportion.reports.statement.drivers import changes
from apportion.reports.statement.facts import CHANGES, OWNER, WAS, Facts, Ran, Words
from apportion.reports.statement.shape import AcceptedFinding
from apportion.verbs.agreement import basis_of, short
from apportion.verbs.corrections import before_run, runs_of
from apportion.verbs.plan import compute
from apportion.verbs.preview import Upcoming
from apportion.verbs.run_rows import owners_side
from apportion.verbs.stating.coming import coming
from apportion.verbs.stating.late import late_part
from apportion.verbs.stating.placing import carried, placed
from apportion.verbs.stating.shelf import Month, Shelf, side
from apportion.verbs.stating.wording import DISPUTE, budgets, decided, months_until, receivers, rules, sponsored
from apportion.verbs.stating.working import described, owner_columns, waste, work
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, pins_of

YEAR = 12


def gather(shelf: Shelf, month: Month, step: Step = silent, beside: Upcoming | None = None) -> Facts:
    """`beside`: rules to come."""
    project, period, policy = shelf.project, month.period, month.policy
    pins = pins_of(project)
    before = shelf.month(period.previous)
    step(f"reading the work of {period}", 0, 0)
    own = work(project, policy, period, month.minor, shelf.charges)
    kinds = described(project, policy, period, own, pins["workloads"])
    if beside:
        step(f"computing {period} by {beside.name}", 0, 0)
    step(f"comparing {period} with the month before", 0, 0)
    return Facts(
        words=words(shelf, month),
        now=month.placed,
        before=None if before is None else before.placed,
        changes=CHANGES.empty_table() if before is None else moved(shelf, month, before),
        work=own,
        waste=waste(own),
        faceted=kinds.faceted,
        was=was(shelf, month),
        carried=carried(policy, period, month.placed),
        names=kinds.names,
        runs=ran(shelf, period),
        sponsored=sponsored(policy) | decided(project.books.transfers()),
        receivers=receivers(month.placed),
        budgets=budgets(policy, period, spent(shelf, month)),
        rules=rules(policy),
        coming=coming(shelf, month, beside),
        late=month.late,
        accepted=accepted(shelf, period),
    )


def accepted(shelf: Shelf, period: Period) -> tuple[tuple[frozenset[str], AcceptedFinding], ...]:
    """The last word on each finding that was accepted until then."""
    known = [
        one
        for one in shelf.project.books.acceptances.of(str(period))
        if shelf.until_s is None or one.at_s <= shelf.until_s
    ]
    last = {one.finding.key: one for one in known}
    return tuple((frozenset(one.pools), accepted_finding(one)) for _, one in sorted(last.items()))


def accepted_finding(held: Acceptance) -> AcceptedFinding:
    finding = held.finding
    return AcceptedFinding(
        code=finding.code,
        source=finding.source,
        pool=finding.pool,
        rows=finding.rows,
        hours=plain(finding.hours) if finding.hours else "",
        unit=finding.unit,
        money=plain(finding.money) if finding.money else "",
        currency=finding.currency,
        who=held.who,
        why=held.why,
        text=accepted_text(held),
    )


def words(shelf: Shelf, month: Month) -> Words:
    policy, said = month.policy, month.policy.statements
    last = [run for run in shelf.runs.values() if run.period == str(month.period) and run.kind != CLOSE]
    return Words(
        period=str(month.period),
        currency=policy.currency,
        issuer=said.issuer,
        issued="",
        head=last[-1].head_after if last else "",
        policy=short(policy),
        basis=basis_of(policy),
        dispute=said.dispute or DISPUTE,
    )


def moved(shelf: Shelf, month: Month, before: Month) -> pa.Table:
    """What moved each owner's amount from the month before to this one."""
    return changes(side(shelf, month), side(shelf, before), same_policy(shelf, month, before))


def same_policy(shelf: Shelf, month: Month, before: Month) -> tuple[pa.Table, pa.Table] | None:
    """This month under the policy of the month before, where that says something else of money, and what of it is late."""
    old, project = before.policy, shelf.project
    if old.version == month.policy.version or all(one.effect == "no effect" for one in diff(old, month.policy)):
        return None
    plans = [run for run in shelf.runs.values() if run.period == str(month.period) and run.kind == PLAN]
    if not plans:
        return None
    try:
        made = compute(project, month.period, old, Pins(plans[-1].inputs)).plan
    except ApportionError:  # what the old rules cannot share says nothing about the new ones
        return None
    none = month.placed.filter(pc.not_equal(month.placed["kind"], ""))
    minor = minor_of(project.books.names, made.postings)
    fair = placed(month.policy, month.period, minor, shelf.others(month.period).slice(0, 0), {})
    return pa.concat_tables([fair, none]), late_part(month.policy, month.period, made.postings)


def was(shelf: Shelf, month: Month) -> pa.Table:
    """What each owner's figure of a corrected month was before each correction that this month holds."""
    mine = {run.run_id for run in shelf.runs.values() if run.kind == CORRECTION and run.period == str(month.period)}
    made: list[tuple[object, ...]] = []
    for about in sorted({shelf.runs[run].about for run in mine}):
        so_far: dict[tuple[str, ...], int] = defaultdict(int)
        for run, changed in as_said(shelf, month.policy, about).items():
            made += [(*owner, run, to_decimal(grains)) for owner, grains in so_far.items()] if run in mine else []
            for owner, grains in changed:
                so_far[owner] += grains
    return table_of(WAS, made)


def as_said(shelf: Shelf, policy: Policy, period: str) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """By how much each run, in their order, changed what a period's evidence comes to, by currency and owner."""
    runs = [run.run_id for run in runs_of(list(shelf.runs.values()), period)]
    rows = owners_side(shelf.project, runs)
    columns = {"run": rows["run_id"], "currency": rows["currency"], **owner_columns(rows, policy, rows)}
    keys = ["run", "currency", *OWNER]
    table = pa.table([*(columns[name] for name in keys), rows["amount"]], names=[*keys, "amount"])
    sums = table.group_by(keys).aggregate([("amount", "sum")])
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {run: [] for run in runs}
    for run, *owner, amount in zip(*(sums[name].to_pylist() for name in [*keys, "amount_sum"]), strict=True):
        found[run].append((tuple(owner), to_grains(amount)))
    return found


def ran(shelf: Shelf, period: Period) -> dict[str, Ran]:
    runs = list(shelf.runs.values())
    own = (run for run in runs if run.period == str(period) and run.kind not in (PLAN, CLOSE))
    return {run.run_id: Ran(run.about, run.cause, before_run(runs, run)) for run in own}


def spent(shelf: Shelf, month: Month) -> dict[str, pa.Table]:
    """Placed amounts of the months of this year up to this one, where budgets ask for them."""
    if not any(quota.money is not None for quota in month.policy.quotas):
        return {}
    found = {str(month.period): month.placed}
    for text in months_until(month.period, YEAR):
        one = shelf.month(parse_period(text)) if text != str(month.period) else None
        found |= {text: one.placed} if one else {}
    return found
