"""Overheads: money shared in proportion to what the owners' own pools cost them, and an owner's own charges passed on the same way."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from apportion.engine.account import Account, Column, Entry, counts, divide_up, with_sign_of_sum
from apportion.engine.bearers import Bearers
from apportion.engine.lines import Tranche
from apportion.engine.price import spread, system_entry
from apportion.engine.setting import Setting
from apportion.model.owner import Owner

SHARED = ("usage", "burst", "idle", "overhead", "credit")  # of credits only what was lent is there yet


def charge_overhead(
    name: str, tranches: Iterable[Tranche], account: Account, setting: Setting, currencies: Mapping[str, str]
) -> Account:
    """The transfers of one `by: cost` pool, to be added to the account."""
    pool, bearers = setting.policy.pools[name], setting.bearers
    out = Account()
    shares = cost_shares(account, pool.over, pool.from_owner, bearers, currencies)
    for tranche in tranches:
        column = Column(tranche.bill, tranche.component, tranche.family)
        for _, day, grains in spread(tranche, "day", setting.calendar):
            entry = system_entry(column, name, day, "no demand", bearers)._replace(reason="overhead")
            give(out, entry, grains, shares[currencies[column.bill]], bearers)
    if pool.from_owner:
        for entry, grains in passed_on(account, pool.from_owner, bearers):
            recipients = shares[currencies[entry.column.bill]]
            if recipients:
                out.add(entry._replace(pool=name), -grains)
                give(out, entry._replace(pool=name), grains, recipients, bearers)
    return out


def cost_shares(
    account: Account, over: Iterable[str] | str, source: str | None, bearers: Bearers, currencies: Mapping[str, str]
) -> defaultdict[str, dict[Owner, int]]:
    """Per currency, what each owner owes so far, of those that have the sum's sign; nobody where that comes to 0. The system's own take no part."""
    sums: dict[str, dict[Owner, int]] = defaultdict(lambda: defaultdict(int))
    for entry, grains in account:
        owner = bearers[entry.bearer].owner
        taking = not owner.is_system and owner.team != source and (over == "all" or owner.team in over)
        if taking and entry.reason in SHARED:
            sums[currencies[entry.column.bill]][owner] += grains
    out: defaultdict[str, dict[Owner, int]] = defaultdict(dict)
    for currency, owners in sums.items():
        out[currency] = with_sign_of_sum({owner: owners[owner] for owner in sorted(owners) if counts(owners[owner])})
    return out


def passed_on(account: Account, team: str, bearers: Bearers) -> list[tuple[Entry, int]]:
    """An owner's charges by day and column: the whole of them, netted."""
    sums: dict[Entry, int] = defaultdict(int)
    for entry, grains in account:
        owner = bearers[entry.bearer].owner
        if owner.team == team and entry.reason in SHARED:
            sums[Entry(entry.column, "", entry.day, "overhead", "", bearers.number(owner))] += grains
    return [(entry, grains) for entry, grains in sums.items() if grains]


def give(out: Account, entry: Entry, grains: int, shares: Mapping[Owner, int], bearers: Bearers) -> None:
    """Money to the owners that share it; it stays where `entry` says if nobody does."""
    if not shares:
        out.add(entry, grains)
        return
    for owner, part in zip(shares, divide_up(grains, shares.values(), sum(shares.values())), strict=True):
        out.add(entry._replace(reason="overhead", cause="", bearer=bearers.number(owner)), part)
