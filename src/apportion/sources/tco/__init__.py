"""The cost of one's own hardware: an inventory of what was bought, leased, maintained and subscribed to, and who works on it, as monthly cost lines.

Each line says in its ChargeDescription how it was computed. EffectiveCost is what was used up (amortisation by the day), BilledCost what
was paid in that month; over the life of an asset that was disposed of both come to what it cost less what it fetched. Months are read alone or
together, in any order, with the same lines. A month without a line is delivered too, so that it replaces what an earlier inventory said of it.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from apportion.errors import InputError
from apportion.model.delivery import Delivery, Scope
from apportion.model.times import Interval, Period, local_day
from apportion.sources.tco.build import CONTRACTS, Context, fleet_in, streams
from apportion.sources.tco.days import month_span, period_of
from apportion.sources.tco.document import Inventory
from apportion.sources.tco.electricity import powered, sites_in
from apportion.sources.tco.lines import cost_lines
from apportion.sources.tco.load import Loaded, load
from apportion.sources.tco.months import items
from apportion.sources.tco.settings import How, how_of

LONGEST_MONTHS = 240
STANZA = """\
# What your own hardware costs: an inventory of assets, leases, contracts and staff.
[[sources]]
name = "own"
kind = "tco"
path = "inventory.yaml"
currency = "EUR"
time_zone = "UTC"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each month from `since` (or the first purchase) to `until` (or this month); with `window`, those whose middle lies in it."""
    how = how_of(settings)
    loaded = load(how.path, base, how.where)
    periods = months_of(loaded.inventory, how, window)
    if not periods:
        return
    context = Context(currency_of(loaded, how), month_span(periods[-1]).end, loaded.written)
    fleet = fleet_in(loaded.inventory)
    all_streams = list(streams(loaded.inventory, fleet, context))
    account = loaded.inventory.inventory or how.source
    sites = sites_in(loaded, base, how, context.currency)
    files = (*loaded.files, *(file for site in sites for file in site.files))
    for period in periods:
        billing = period.interval(how.zone)
        power = powered(sites, fleet, period, how)
        found = (item for stream in all_streams for item in items(stream, fleet, period, how.zone))
        lines = cost_lines((*found, *power.items), how, account, billing)
        scopes = (Scope(how.issuer, (account,), (), (billing,), role=how.role), *power.scopes)
        yield Delivery(how.source, billing, {"cost_lines": lines}, power.problems, files, scopes)


def months_of(inventory: Inventory, how: How, window: Interval | None) -> list[Period]:
    """Where the stanza does not say, from the first day that anything costs to this month, or to what was asked for."""
    days = [asset.bought for asset in inventory.assets]
    for key in CONTRACTS:
        days += [one.from_ for one in getattr(inventory, key)]
    today = local_day(window.end_s, how.zone) if window else datetime.now(how.zone).date()
    first, last = how.since or period_of(min(days, default=today)), how.until or period_of(today)
    if how.since and how.until and last < first:
        message, hint = f"until {last} lies before since {first}", "both are months, and both are read"
        raise InputError("inventory-order", message, where=how.where, hint=hint)
    found = list(islice((one for one in months_from(first, last) if is_asked(one, how, window)), LONGEST_MONTHS + 1))
    if len(found) > LONGEST_MONTHS:
        message, hint = f"{first} to {last} is more than {LONGEST_MONTHS} months", 'say from when on: since = "2024-01"'
        raise InputError("window-too-wide", message, where=how.where, hint=hint)
    return found


def is_asked(period: Period, how: How, window: Interval | None) -> bool:
    """A zone's midnight is some hours off the window's."""
    span = period.interval(how.zone)
    return window is None or window.start_s <= (span.start_s + span.end_s) // 2 < window.end_s


def months_from(first: Period, last: Period) -> Iterator[Period]:
    while first <= last:
        yield first
        first = first.next


def currency_of(loaded: Loaded, how: How) -> str:
    found = loaded.inventory.currency or how.currency
    if not found:
        hint = "add currency: EUR to the inventory, or currency to the stanza"
        raise InputError("inventory-key", "no currency is given", where=loaded.written.file, hint=hint)
    return found
