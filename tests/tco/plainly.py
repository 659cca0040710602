"""What an inventory costs, read plainly: day by day with a value that shrinks, as one would on paper. Knows nothing of the code under test."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

Key = tuple[str, str, str, str]  # month, id, node, category
DAY = timedelta(days=1)


def day(text: str) -> date:
    return date.fromisoformat(text)


def later(when: date, months: int) -> date:
    """So many months on; where there is no such day, the last before it."""
    years, month = divmod(when.month - 1 + months, 12)
    number = when.day
    while True:
        try:
            return date(when.year + years, month + 1, number)
        except ValueError:
            number -= 1


def share(given: Any, whole: Fraction) -> Fraction:
    text = str(given)
    return whole * Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


class Book:
    """Effective and billed money by month, id, node and category."""

    def __init__(self) -> None:
        self.cost: dict[Key, Fraction] = defaultdict(Fraction)
        self.cash: dict[tuple[str, str], Fraction] = defaultdict(Fraction)

    def spend(
        self, when: date, id_: str, bearers: Mapping[str, Fraction], amount: Fraction, category: str = "Usage"
    ) -> None:
        whole = sum(bearers.values())
        for node, weight in bearers.items():
            self.cost[when.isoformat()[:7], id_, node, category] += amount * weight / whole

    def pay(self, when: date, id_: str, amount: Fraction) -> None:
        self.cash[when.isoformat()[:7], id_] += amount


def read(inventory: Mapping[str, Any], last: date) -> Book:
    """Everything up to and with the day `last`."""
    book = Book()
    for asset in inventory.get("assets", ()):
        follow(asset, inventory, last, book)
    for lease in inventory.get("leases", ()):
        follow_lease(lease, inventory, last, book)
    for software in inventory.get("software", ()):
        follow_software(software, inventory, last, book)
    return book


def days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY


def stands_on(asset: Mapping[str, Any], today: date) -> str | None:
    """The node on which something stands by name on a day."""
    first = asset.get("in_service", asset.get("bought", asset.get("from")))
    gone = asset.get("disposed")
    over = asset.get("until")
    if today < day(first) or (gone and today >= day(gone)) or (over and today > day(over)):
        return None
    node = asset.get("node")
    for move in asset.get("moves", ()):
        if today >= day(move["on"]):
            node = move.get("node")
    return node


def bearers(asset: Mapping[str, Any], inventory: Mapping[str, Any], today: date) -> dict[str, Fraction]:
    place: Mapping[str, Any] = asset
    for move in asset.get("moves", ()):
        if today >= day(move["on"]):
            place = move
    if place.get("node"):
        return {place["node"]: Fraction(1)}
    if not place.get("shared_by"):
        return {asset["id"]: Fraction(1)}
    given = place["shared_by"]
    weights = given if isinstance(given, dict) else dict.fromkeys([given] if isinstance(given, str) else given, 1)
    there = sorted(
        {stands_on(one, today) or "" for one in [*inventory.get("assets", ()), *inventory.get("leases", ())]} - {""}
    )
    found: dict[str, Fraction] = {}
    for pattern, weight in weights.items():
        for name in [one for one in there if fnmatchcase(one, pattern)] if "*" in pattern else [pattern]:
            found.setdefault(name, Fraction(str(weight)))
    return found or {"": Fraction(1)}


def follow(asset: Mapping[str, Any], inventory: Mapping[str, Any], last: date, book: Book) -> None:
    id_, many = asset["id"], asset.get("count", 1)
    bought = day(asset["bought"])
    serves = day(asset.get("in_service", asset["bought"]))
    value = cost = Fraction(str(asset["price"])) * many
    salvage = share(asset.get("salvage", 0), value / many) * many
    months = asset["life_months"]
    end = later(serves, months)
    rate = None
    if asset.get("method") == "declining":
        rate = Fraction(24, months) if asset["rate"] == "double" else Fraction(str(asset["rate"])) / 100
    upgrades = {day(one["on"]): one for one in asset.get("upgrades", ())}
    gone = day(asset["disposed"]) if "disposed" in asset else None
    book.pay(bought, id_, value) if bought <= last else None
    leg, leg_value, year, a_day = serves, value, 0, Fraction(0)
    for today in days(bought, last):
        here = bearers(asset, inventory, today - DAY)
        if today == gone:
            proceeds = Fraction(str(asset.get("proceeds", 0))) * many
            book.spend(today, id_, here, value - proceeds, "Adjustment")
            book.pay(today, id_, -proceeds)
            return
        if today in upgrades:
            one = upgrades[today]
            part = share(one.get("replaces", 0), cost / many) * many / cost if cost else Fraction(0)
            proceeds, price = (Fraction(str(one.get(key, 0))) * many for key in ("proceeds", "price"))
            book.spend(today, id_, here, value * part - proceeds, "Adjustment")
            book.pay(today, id_, price - proceeds)
            value, cost = value * (1 - part) + price, cost * (1 - part) + price
            salvage = share(one["salvage"], price / many) * many if "salvage" in one else salvage * (1 - part)
            months += one.get("extends_months", 0)
            end, leg, leg_value, year = later(serves, months), today, value, 0
        if not serves <= today < end:
            continue
        if rate is None:
            a_day = (leg_value - salvage) / (end - leg).days
        elif today == later(leg, 12 * year):
            year += 1
            a_day = of_year(value, salvage, rate, (today, later(leg, 12 * year), end), asset.get("switch", "true"))
        book.spend(today, id_, bearers(asset, inventory, today), a_day)
        value -= a_day


def of_year(
    value: Fraction, salvage: Fraction, rate: Fraction, dates: tuple[date, date, date], switch: str
) -> Fraction:
    """What a day of this year takes under a declining balance."""
    first, next_year, end = dates
    whole, left = (next_year - first).days, (end - first).days
    if left <= whole:
        return (value - salvage) / left
    by_rate, evenly = value * rate / whole, (value - salvage) / left
    if switch == "true" and evenly > by_rate:
        return evenly
    return min(by_rate, (value - salvage) / whole)


def follow_lease(lease: Mapping[str, Any], inventory: Mapping[str, Any], last: date, book: Book) -> None:
    """A month's price by the days of the calendar month; what was up front by the days of the term."""
    many = lease.get("count", 1)
    first, end = day(lease["from"]), day(lease["until"])
    price, front, deposit = (Fraction(str(lease.get(key, 0))) * many for key in ("price", "up_front", "deposit"))
    for today in days(first, min(end, last)):
        month = today.replace(day=1)
        a_day = price / ((later(month, 1)) - month).days
        book.spend(today, lease["id"], bearers(lease, inventory, today), a_day + front / ((end - first).days + 1))
        book.pay(today, lease["id"], a_day)
        if today == first:
            book.pay(today, lease["id"], front + deposit)
        if today == end:
            book.pay(today, lease["id"], -deposit)


def follow_software(software: Mapping[str, Any], inventory: Mapping[str, Any], last: date, book: Book) -> None:
    """So much for each GPU and year, for those that stand somewhere on the day."""
    first, number = day(software["from"]), 0
    things: Sequence[Mapping[str, Any]] = [*inventory.get("assets", ()), *inventory.get("leases", ())]
    for today in days(first, last):
        if today == later(first, 12 * (number + 1)):
            number += 1
        year = (later(first, 12 * (number + 1)) - (later(first, 12 * number))).days
        for thing in things:
            node = stands_on(thing, today)
            gpus = thing.get("gpus", 1 if thing.get("kind") == "gpu" else 0) * thing.get("count", 1)
            if node and gpus:
                amount = Fraction(str(software["price"])) * gpus / year
                book.spend(today, software["id"], {node: Fraction(1)}, amount)
                book.pay(today, software["id"], amount)
