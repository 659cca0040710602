"""Sites drawn by a seed: the document and files that describe one, and what is true of it, quarter of an hour by quarter of an hour.

The truth is kept as plain tables over quarters, filled by the generator itself; nothing of the code under test is asked.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apportion.model.times import Interval
from apportion.sources.tco.facility.drawn import Node
from apportion.sources.tco.facility.frames import Folder
from apportion.sources.tco.facility.site import Ground, Site, read_sites

QUARTER = 900
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
MONTHS = ((2026, 3), (2026, 4), (2026, 10), (2026, 11), (2026, 6))
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def site_of(document: dict[str, Any], base: Path) -> Site:
    ground = Ground(Folder(base), "UTC", "EUR", lambda _: "inventory.yaml:1:1")
    return read_sites(document, ground)[0]


def iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class World:
    """`kw`, `pue`, `price`, `grams` at each quarter; `guessed` where the grams are the fallback."""

    seed: int
    base: Path
    whole: bool = False  # every node is there all month
    chance: random.Random = field(init=False)
    document: dict[str, Any] = field(default_factory=dict)
    kw: dict[tuple[str, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    pue: dict[int, Fraction] = field(default_factory=dict)
    price: dict[int, Fraction] = field(default_factory=dict)
    grams: dict[int, Fraction] = field(default_factory=dict)
    guessed: set[int] = field(default_factory=set)
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.zone = ZoneInfo(self.chance.choice(ZONES))
        year, month = self.chance.choice(MONTHS)
        following = date(year + month // 12, month % 12 + 1, 1)
        first, last = (datetime(day.year, day.month, 1, tzinfo=self.zone) for day in (date(year, month, 1), following))
        self.month = Interval(int(first.timestamp()), int(last.timestamp()))
        self.quarters = range(self.month.start_s, self.month.end_s, QUARTER)
        self.document = {"name": "hall", "time_zone": str(self.zone), "nodes": ["n*"]}
        self.add_nodes()
        self.add_pue(date(year, month, self.chance.randint(2, 27)))
        self.add_price()
        self.add_energy()
        self.add_carbon()

    def number(self, low: int, high: int, places: int) -> tuple[str, Fraction]:
        digits = self.chance.randint(low * 10**places, high * 10**places)
        value = Fraction(digits, 10**places)
        whole, rest = divmod(abs(digits), 10**places)
        return f"{'-' if digits < 0 else ''}{whole}.{rest:0{places}d}", value

    def local(self, second: int) -> datetime:
        return datetime.fromtimestamp(second, self.zone)

    def write(self, name: str, header: str, rows: list[str]) -> str:
        self.chance.shuffle(rows)
        (self.base / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return name

    def add_nodes(self) -> None:
        hours = (self.month.end_s - self.month.start_s) // 3600
        for n in range(self.chance.randint(1, 3)):
            start, end = sorted(self.chance.sample(range(-48, hours + 48), 2))
            whole = self.chance.random() < 0.4 or self.whole
            span = self.month if whole else Interval(self.month.start_s + start * 3600, self.month.start_s + end * 3600)
            self.nodes.append(Node(f"n{n}", span))

    def there(self, node: Node) -> list[int]:
        return [q for q in self.quarters if node.service.start_s <= q < node.service.end_s]

    def add_pue(self, change: date) -> None:
        (early, before), (late, after) = self.number(1, 2, 3), self.number(1, 2, 2)
        kind = self.chance.randrange(3)
        if kind == 0:
            self.document["pue"], after = early, before
        elif kind == 1:
            self.document["pue"] = [{"value": early}, {"value": late, "from": change.isoformat()}]
        else:
            self.document["pue"] = [
                {"value": late, "from": change.isoformat(), "until": change.isoformat()},
                {"value": early},
            ]
        for q in self.quarters:
            day = self.local(q).date()
            changed = day == change if kind == 2 else day >= change
            self.pue[q] = after if changed else before

    def add_price(self) -> None:
        kind = self.chance.randrange(3)
        if kind == 0:
            text, value = self.number(0, 1, 4)
            self.document["tariff"] = text
            self.price = dict.fromkeys(self.quarters, value)
        elif kind == 1:
            self.add_time_of_use()
        else:
            rows = []
            for hour in range(self.month.start_s - 3600, self.month.end_s + 3600, 3600):
                text, value = self.number(-50, 300, 2)
                rows.append(f"{iso(hour)},{text}")
                self.price |= dict.fromkeys(range(hour, hour + 3600, QUARTER), value / 1000)
            self.document["tariff"] = {"path": self.write("prices.csv", "start,price_per_mwh", rows)}

    def add_time_of_use(self) -> None:
        (peak, high), (night, low), (rest, middle) = (self.number(0, 1, 3) for _ in range(3))
        first, last = sorted(self.chance.sample(range(1, 24), 2))
        late = self.chance.randint(20, 23)
        day = self.chance.randrange(7)
        self.document["tariff"] = {
            "prices": [
                {"price": peak, "days": ["mon-fri"], "hours": f"{first}:30-{last}:45"},
                {"price": night, "days": [WEEK[day]], "hours": [f"{late}-1:15"]},
                {"price": rest},
            ]
        }
        for q in self.quarters:
            moment = self.local(q)
            clock = (moment.hour, moment.minute)
            if moment.weekday() < 5 and (first, 30) <= clock < (last, 45):
                self.price[q] = high
            elif moment.weekday() == day and (clock >= (late, 0) or clock < (1, 15)):
                self.price[q] = low
            else:
                self.price[q] = middle

    def add_energy(self) -> None:
        self.kind = self.chance.choice(("readings", "counters", "factor", "hours"))
        getattr(self, f"add_{self.kind}")()

    def add_readings(self) -> None:
        """Hourly or half-hourly; some are lacking, and count nothing."""
        unit, worth = self.chance.choice((("kWh", 1), ("joules", 3_600_000), ("Wh", 1000)))
        rows = []
        for node in self.nodes:
            for start in range(self.month.start_s - 7200, self.month.end_s + 7200, 3600):
                if self.chance.random() < 0.02:
                    continue
                text, value = self.number(0, 12, 0) if unit == "joules" else self.number(0, 12, 3)
                rows.append(f"{node.name},{iso(start)},{iso(start + 3600)},{text}")
                for q in range(start, start + 3600, QUARTER):
                    self.kw[node.name, q] = value / worth
        self.document["energy"] = {"measured": {"path": self.write("readings.csv", f"node,start,end,{unit}", rows)}}

    def add_counters(self) -> None:
        """Read at odd quarters; now and then set back to 0."""
        rows = []
        for node in self.nodes:
            at, shows = self.month.start_s - 3600, Fraction(1000)
            rows.append(f"{node.name},{iso(at)},1000.000")
            while at < self.month.end_s:
                later = at + QUARTER * self.chance.randint(1, 90)
                _, drawn = self.number(0, 20, 3)
                reset = self.chance.random() < 0.03
                shows = drawn if reset else shows + drawn
                rows.append(f"{node.name},{iso(later)},{float(shows):.3f}")
                for q in range(at, later, QUARTER):
                    self.kw[node.name, q] = drawn * 3600 / (later - at)
                at = later
        self.document["energy"] = {"measured": {"path": self.write("counters.csv", "node,at,kWh", rows)}}

    def add_factor(self) -> None:
        (idle, low), (full, high), (share, used) = (
            self.number(1, 300, 1),
            self.number(300, 9000, 0),
            self.number(0, 1, 2),
        )
        self.document["energy"] = {
            "modelled": {"idle_watts": idle, "full_watts": {"n0": full, "*": full}, "utilisation": share}
        }
        for node in self.nodes:
            for q in self.there(node):
                self.kw[node.name, q] = (low + (high - low) * used) / 1000

    def add_hours(self) -> None:
        (idle, low), (full, high) = self.number(1, 300, 1), self.number(300, 9000, 0)
        rows = []
        for node in self.nodes:
            for hour in range(self.month.start_s, self.month.end_s, 3600):
                text, used = self.number(0, 100, 1)
                rows.append(f"{node.name},{iso(hour)},{text}")
                for q in range(hour, hour + 3600, QUARTER):
                    self.kw[node.name, q] = (low + (high - low) * used / 100) / 1000
        path = self.write("used.csv", "node,start,percent", rows)
        self.document["energy"] = {"modelled": {"idle_watts": idle, "full_watts": full, "utilisation": {"path": path}}}

    def add_carbon(self) -> None:
        fallback, value = self.number(100, 500, 1)
        rows = []
        for hour in range(self.month.start_s, self.month.end_s, 3600):
            text, grams = self.number(0, 900, 2)
            known = self.chance.random() > 0.05
            rows.append(f"{iso(hour)},{text if known else ''},7")
            for q in range(hour, hour + 3600, QUARTER):
                self.grams[q] = grams if known else value
                self.guessed |= set() if known else {q}
        path = self.write("grid.csv", "start,DE,FR", rows)
        self.document |= {"region": "DE", "carbon": {"path": path, "fallback": fallback}}

    def expected(self) -> dict[tuple[str, date], list[Fraction]]:
        """By node and day: kWh with PUE, money, grams known, grams guessed."""
        found: dict[tuple[str, date], list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 4)
        for node in self.nodes:
            for q in self.there(node):
                kwh = self.kw[node.name, q] / 4 * self.pue[q]
                known, guess = (0, self.grams[q]) if q in self.guessed else (self.grams[q], 0)
                parts = (kwh, kwh * self.price[q], kwh * known, kwh * guess)
                key = (node.name, self.local(q).date())
                found[key] = [old + new for old, new in zip(found[key], parts, strict=True)]
        return found


def day_of(second: int, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(second, zone).date()


def next_day(day: date) -> date:
    return day + timedelta(days=1)
