"""Credits and adjustments: transfers between owners. Whoever is relieved, somebody named pays, with reason `subsidy`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apportion.engine.account import Account, Entry, net
from apportion.engine.bearers import Bearers
from apportion.engine.weights import Used
from apportion.engine.workloads import declared
from apportion.model.money import GRAIN, to_grains
from apportion.policy.document import Policy
from apportion.policy.rules import Adjustment

ADJUSTABLE = ("usage", "idle", "overhead", "credit", "adjustment")
WHOLE = 100


@dataclass(frozen=True, slots=True)
class Books:
    """What adjustments look at besides the account."""

    policy: Policy
    bearers: Bearers
    days: Sequence[date]
    currencies: Mapping[str, str]
    previous: Mapping[str, Decimal]


def part_of(grains: int, share: Fraction) -> int:
    return grains * share.numerator // share.denominator


def give_credits(pool: str, credited: Sequence[Used], policy: Policy, bearers: Bearers) -> Account:
    """`credited[n]` is what credit rule n gives back in full; the rule's percent of it moves to whoever pays."""
    out = Account()
    for rule, used in zip(policy.pools[pool].credit, credited, strict=True):
        payer = bearers.number(declared(rule.paid_by, policy))
        for (column, day, bearer), grains in used.items():
            back = part_of(grains, rule.percent / WHOLE)
            out.add(Entry(column, pool, day, "credit", rule.outcome, bearer), -back)
            out.add(Entry(column, pool, day, "subsidy", rule.outcome, payer), back)
    return out


def in_order(rules: Sequence[Adjustment]) -> list[Adjustment]:
    """Percentages as listed, then what bounds the totals."""
    return sorted(rules, key=lambda rule: rule.percent is None)


def adjust(account: Account, rule: Adjustment, books: Books) -> Account:
    """The transfers of one adjustment, on the amounts as they stand; a bound scales all amounts of the team alike."""
    chosen = [(entry, grains) for entry, grains in account if concerns(rule, entry, books)]
    share = Fraction(0)
    if rule.percent is not None:
        share = rule.percent / WHOLE
    else:
        chosen = [item for item in chosen if books.currencies[item[0].column.bill] == books.policy.currency]
        total = net(grains for _, grains in chosen)
        share = Fraction(bounded(total, rule, books) - total, total) if total else share
    out = Account()
    sponsor = books.bearers.number(declared(rule.sponsor, books.policy))
    for entry, grains in chosen:
        moved = part_of(grains, share)
        out.add(entry._replace(reason="adjustment", cause=""), moved)
        out.add(entry._replace(reason="subsidy", cause="", bearer=sponsor), -moved)
    return out


def concerns(rule: Adjustment, entry: Entry, books: Books) -> bool:
    bearer = books.bearers[entry.bearer]
    day = books.days[entry.day]
    return (
        entry.reason in ADJUSTABLE
        and not bearer.owner.is_system
        and (rule.team is None or bearer.owner.team == rule.team)
        and (rule.pool is None or entry.pool == rule.pool)
        and (rule.from_ is None or day >= rule.from_)
        and (rule.until is None or day <= rule.until)
        and (rule.when is None or (bearer.worked and rule.when.matches(bearer.named)))
    )


def bounded(total: int, rule: Adjustment, books: Books) -> int:
    """A total inside the rule's bounds: a cap, a floor, or so many percent of change since the last period."""
    if rule.cap is not None:
        total = min(total, part_of(GRAIN, rule.cap))
    if rule.floor is not None:
        total = max(total, part_of(GRAIN, rule.floor))
    before = books.previous.get(rule.team or "")
    if rule.smooth is not None and before is not None:
        last = to_grains(before)
        room = part_of(abs(last), rule.smooth / WHOLE)
        total = min(max(total, last - room), last + room)
    return total
