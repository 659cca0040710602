"""Lines that are not usage (tax, credits, fees, unused commitments) follow the charges of the lines they belong to."""

from collections import defaultdict
from collections.abc import Iterable

from apportion.engine.account import Account, Column, Entry, divide_up, with_sign_of_sum
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar
from apportion.engine.lines import Tranche
from apportion.engine.price import spread, system_entry

FOLLOWED = ("usage", "burst", "idle", "overhead", "credit")  # of credits only what was lent is there yet


def charge_followers(tranches: Iterable[Tranche], account: Account, calendar: Calendar, bearers: Bearers) -> Account:
    """Each follower over the charges of its account and service, else of its whole bill; under their pools, days, reasons and owners."""
    out = Account()
    totals: dict[tuple[str, str, int], list[Tranche]] = defaultdict(list)
    for tranche in tranches:
        totals[tranche.bill, tranche.component, tranche.family].append(tranche)
    for (bill, component, family), lines in sorted(totals.items()):
        column = Column(bill, component)
        followed = charges_of(account, bill, family, bearers) or charges_of(account, bill, None, bearers)
        if not followed:
            nowhere(out, column, lines, calendar, bearers)
            continue
        grains = sum(line.grains for line in lines)
        for entry, part in zip(followed, divide_up(grains, followed.values(), sum(followed.values())), strict=True):
            out.add(entry._replace(column=column), part)
    return out


def charges_of(account: Account, bill: str, family: int | None, bearers: Bearers) -> dict[Entry, int]:
    """The charges of a bill's lines, all of them or those of one account and service, with the sign of their sum; empty where they come to 0.

    What a holder lent is taken off what it pays for reserving it: followers follow what is owed after lending.
    """
    sums: dict[Entry, int] = defaultdict(int)
    for entry, grains in account:
        if entry.column.bill == bill and entry.reason in FOLLOWED and (family is None or entry.column.family == family):
            owed = entry._replace(column=Column(bill, ""), bearer=bearers.owner_of(entry.bearer))
            sums[owed._replace(reason="idle", cause="reserved") if owed.reason == "credit" else owed] += grains
    return dict(sorted(with_sign_of_sum(sums).items(), key=lambda item: (item[0][:5], bearers.rank(item[0].bearer))))


def nowhere(out: Account, column: Column, lines: Iterable[Tranche], calendar: Calendar, bearers: Bearers) -> None:
    for line in lines:
        for _, day, grains in spread(line, "day", calendar):
            out.add(system_entry(column, "", day, "no demand", bearers), grains)
