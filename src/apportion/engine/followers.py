"""Lines that are not usage (tax, credits, fees, unused commitments) follow the charges of the lines they belong to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

from apportion.engine.account import Account, Column, Entry, counts, divide_up, with_sign_of_sum
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar
from apportion.engine.lines import Tranche
from apportion.engine.price import spread, system_entry

K = TypeVar("K")
FOLLOWED = ("usage", "burst", "idle", "overhead", "credit")  # of credits only what was lent is there yet


def charge_followers(tranches: Iterable[Tranche], account: Account, calendar: Calendar, bearers: Bearers) -> Account:
    """Each follower over the charges of its account and service, else of its whole bill: over owners, and inside an owner over its pools, days and reasons."""
    out = Account()
    totals: dict[tuple[str, str, int], list[Tranche]] = defaultdict(list)
    for tranche in tranches:
        totals[tranche.bill, tranche.component, tranche.family].append(tranche)
    for (bill, component, family), lines in sorted(totals.items()):
        column = Column(bill, component)
        charges = charges_of(account, bill, family, bearers)
        if not owner_shares(charges):
            charges = charges_of(account, bill, None, bearers)
        shares = owner_shares(charges)
        if not shares:
            nowhere(out, column, lines, calendar, bearers)
        for owner, grains in share_out(sum(line.grains for line in lines), shares):
            for entry, part in share_out(grains, with_sign_of_sum(charges[owner])):
                out.add(entry._replace(column=column), part)
    return out


def charges_of(account: Account, bill: str, family: int | None, bearers: Bearers) -> dict[int, dict[Entry, int]]:
    """By owner, the charges of a bill's lines, all of them or those of one account and service.

    What a holder lent is taken off what it pays for reserving it: followers follow what is owed after lending.
    """
    found: dict[int, dict[Entry, int]] = defaultdict(lambda: defaultdict(int))
    for entry, grains in account:
        if entry.column.bill == bill and entry.reason in FOLLOWED and (family is None or entry.column.family == family):
            owed = entry._replace(column=Column(bill, ""), bearer=bearers.owner_of(entry.bearer))
            owed = owed._replace(reason="idle", cause="reserved") if owed.reason == "credit" else owed
            found[owed.bearer][owed] += grains
    return {owner: dict(sorted(found[owner].items())) for owner in sorted(found, key=bearers.rank)}


def owner_shares(charges: Mapping[int, Mapping[Entry, int]]) -> dict[int, int]:
    """What each owner owes, refunds taken off."""
    owed = {owner: sum(entries.values()) for owner, entries in charges.items()}
    return with_sign_of_sum({owner: grains for owner, grains in owed.items() if counts(grains)})


def share_out(grains: int, shares: Mapping[K, int]) -> Iterable[tuple[K, int]]:
    return zip(shares, divide_up(grains, shares.values(), sum(shares.values())), strict=True)


def nowhere(out: Account, column: Column, lines: Iterable[Tranche], calendar: Calendar, bearers: Bearers) -> None:
    for line in lines:
        for _, day, grains in spread(line, "day", calendar):
            out.add(system_entry(column, "", day, "no demand", bearers), grains)
