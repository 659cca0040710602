"""Credits and adjustments: transfers between owners. Whoever is relieved, somebody named pays, with reason `subsidy`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apportion.engine.account import Account, Column, Entry, counts, part_of
from apportion.engine.bearers import Bearers
from apportion.engine.price import Used
from apportion.engine.setting import Setting
from apportion.engine.workloads import declared
from apportion.model.currencies import is_money
from apportion.model.money import GRAIN, to_grains
from apportion.policy.document import Policy
from apportion.policy.rules import Adjustment

ADJUSTABLE = ("usage", "burst", "idle", "overhead", "credit", "adjustment")
WHOLE = 100
Amounts = Sequence[tuple[Entry, int]]


@dataclass(frozen=True, slots=True)
class Books:
    """What adjustments look at besides the account."""

    policy: Policy
    bearers: Bearers
    days: Sequence[date]
    currencies: Mapping[str, str]
    previous: Mapping[str, Decimal]


def give_credits(pool: str, credited: Sequence[Used], setting: Setting) -> Account:
    """`credited[n]` is what credit rule n gives back in full; the rule's percent of it moves to whoever pays. Nobody can pay for carbon."""
    out, policy, bearers = Account(), setting.policy, setting.bearers
    for rule, used in zip(policy.pools[pool].credit, credited, strict=True):
        payer = bearers.number(declared(rule.paid_by, policy))
        for (column, day, bearer), grains in used.items():
            if not is_money(setting.currency_of(column)):
                continue
            back = part_of(grains, rule.percent / WHOLE)
            out.add(Entry(column, pool, day, "credit", rule.outcome, bearer), -back)
            out.add(Entry(column, pool, day, "subsidy", rule.outcome, payer), back)
    return out


def in_order(rules: Sequence[Adjustment]) -> list[Adjustment]:
    """Percentages as listed, then what bounds the totals."""
    return sorted(rules, key=lambda rule: rule.percent is None)


def adjust(account: Account, rule: Adjustment, books: Books) -> Account:
    """The transfers of one adjustment, on the amounts as they stand."""
    chosen = [(entry, grains) for entry, grains in account if concerns(rule, entry, books)]
    moves = percentages(chosen, rule.percent) if rule.percent is not None else bound(account, chosen, rule, books)
    out = Account()
    sponsor = books.bearers.number(declared(rule.sponsor, books.policy))
    for entry, moved in moves:
        out.add(entry._replace(reason="adjustment", cause=rule.why), moved)
        out.add(entry._replace(reason="subsidy", cause=rule.why, bearer=sponsor), -moved)
    return out


def percentages(chosen: Amounts, percent: Fraction) -> Amounts:
    return [(entry, part_of(grains, percent / WHOLE)) for entry, grains in chosen]


def bound(account: Account, chosen: Amounts, rule: Adjustment, books: Books) -> Amounts:
    """What brings a team's total inside its bounds, over what the team owes by day, pool and bill, in proportion to its size.

    By size, whatever its sign: what a small change of the evidence moves stays small where charges and credits nearly cancel out.
    A team without charges is bounded, too: on the days of the bills, by their money.
    """
    owed: dict[Entry, int] = defaultdict(int)
    for entry, grains in chosen:
        if books.currencies[entry.column.bill] == books.policy.currency:
            bearer = books.bearers.owner_of(entry.bearer)
            owed[entry._replace(column=Column(*entry.column[:2]), reason="", cause="", bearer=bearer)] += grains
    total = sum(owed.values())
    change = bounded(total, rule, books) - total
    if not change:
        return []
    sizes = sizes_of(owed) or sizes_of(bill_days(account, rule, books))
    whole = sum(sizes.values())
    return [(entry, change * size // whole) for entry, size in sizes.items()]


def sizes_of(owed: Mapping[Entry, int]) -> dict[Entry, int]:
    return {entry: abs(grains) for entry, grains in owed.items() if counts(grains)}


def bill_days(account: Account, rule: Adjustment, books: Books) -> Mapping[Entry, int]:
    """What the bills in the policy's currency come to by component and day, as entries of the rule's team in no pool."""
    team = books.bearers.number(declared(rule.team or "", books.policy))
    money: dict[Entry, int] = defaultdict(int)
    for entry, grains in account:
        if books.currencies[entry.column.bill] == books.policy.currency and rule.holds_on(books.days[entry.day]):
            money[Entry(Column(*entry.column[:2]), "", entry.day, "", "", team)] += grains
    return money


def concerns(rule: Adjustment, entry: Entry, books: Books) -> bool:
    bearer = books.bearers[entry.bearer]
    day = books.days[entry.day]
    return (
        entry.reason in ADJUSTABLE
        and is_money(books.currencies[entry.column.bill])
        and not bearer.owner.is_system
        and (rule.team is None or bearer.owner.team == rule.team)
        and (rule.pool is None or entry.pool == rule.pool)
        and (rule.from_ is None or day >= rule.from_)
        and (rule.until is None or day <= rule.until)
        and (rule.when is None or (bearer.worked and rule.when.matches(bearer.named)))
    )


def bounded(total: int, rule: Adjustment, books: Books) -> int:
    """A total inside the rule's bounds: a cap, a floor, less a grant while it lasts, or so many percent of change since the last period."""
    if rule.cap is not None:
        total = min(total, part_of(GRAIN, rule.cap))
    if rule.floor is not None:
        total = max(total, part_of(GRAIN, rule.floor))
    if rule.grant is not None:
        total -= min(part_of(GRAIN, rule.grant), max(total, 0))
    before = books.previous.get(rule.team or "")
    if rule.smooth is not None and before is not None:
        last = to_grains(before)
        room = part_of(abs(last), rule.smooth / WHOLE)
        total = min(max(total, last - room), last + room)
    return total
