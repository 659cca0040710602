"""What the books must come to, by a model that knows neither: dictionaries of exact amounts, and six rules.

A bill says what each team cost. Applying a month books the difference between its bill and what is believed of it: in the month itself
while it is open, else in the month after the last closed one. A transfer moves money between two teams. A closed month takes nothing.
A credit that was decided, of all that a team owes or of an amount, is of what the team owes now: whenever a month is applied anew it is looked at again.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal

EXACT = Context(prec=60)
MONTHS = tuple(f"2025-{number:02d}" for number in range(3, 9))
TEAMS = ("bio", "speech", "vision")
Amounts = dict[str, Decimal]  # by team
Bills = dict[str, Amounts]  # by the month that the bill is of


def following(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year + number // 12}-{number % 12 + 1:02d}"


def table() -> defaultdict[str, Amounts]:
    return defaultdict(lambda: defaultdict(Decimal))


@dataclass
class Spared:
    """A credit that was decided: `amount` None is all that is owed; `moved` is what it came to. `lowered`: at most the amount."""

    teams: tuple[str, str]
    amount: Decimal | None
    moved: Decimal
    lowered: bool = False


@dataclass
class Model:
    said: Bills = field(default_factory=dict)  # by the vendor, as delivered
    believed: Bills = field(default_factory=table)  # of a month's bill, wherever it is booked
    booked: dict[str, Bills] = field(default_factory=lambda: defaultdict(table))
    planned: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))  # what a month's own bill came to
    corrected: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))  # by what is booked in a month
    touched: set[str] = field(default_factory=set)  # months that hold a run, of whatever kind
    closed: list[str] = field(default_factory=list)
    decided: dict[str, list[Spared]] = field(default_factory=lambda: defaultdict(list))
    moved: Bills = field(default_factory=table)  # by transfers that nobody looks at again

    def deliver(self, month: str, team: str, amount: Decimal) -> Amounts:
        self.said[month] = {**self.said.get(month, {}), team: amount}
        return self.said[month]

    def place(self, month: str) -> str:
        """Where a difference of this month's bill is booked."""
        return following(max(self.closed)) if month in self.closed else month

    def late(self, month: str) -> Amounts:
        """What is not booked yet."""
        said, believed = self.said.get(month, {}), self.believed[month]
        found = {team: EXACT.subtract(said.get(team, Decimal(0)), believed[team]) for team in {*said, *believed}}
        return {team: amount for team, amount in found.items() if amount}

    def apply(self, month: str) -> None:
        place, late = self.place(month), self.late(month)
        for team, amount in late.items():
            self.add(place, month, team, amount)
            self.believed[month][team] = EXACT.add(self.believed[month][team], amount)
            counted = self.planned if place == month else self.corrected
            counted[place] = EXACT.add(counted[place], amount)
        if late:
            self.follow(month, place)
        if place == month:
            self.touched.add(month)

    def follow(self, month: str, place: str) -> None:
        """Every credit of the month, as it is of what is owed now."""
        for one, moves, _ in self.looked_at(month):
            change = EXACT.subtract(moves, one.moved)
            one.moved = moves
            self.add(place, month, one.teams[0], -change)
            self.add(place, month, one.teams[1], change)

    def looked_at(self, month: str) -> list[tuple[Spared, Decimal, bool]]:
        """In their order: what each moves of what is believed now, and whether that is less than was decided."""
        said = self.said.get(month, {})
        owed = {team: EXACT.add(said.get(team, Decimal(0)), self.moved[month][team]) for team in TEAMS}
        found = []
        for one in self.decided[month]:
            left = max(owed[one.teams[0]], Decimal(0))
            moves = left if one.amount is None else min(left, one.amount)
            found.append((one, moves, one.amount is not None and moves < one.amount))
            for team, amount in zip(one.teams, (-moves, moves), strict=True):
                owed[team] = EXACT.add(owed[team], amount)
        return found

    def stops(self, month: str) -> bool:
        """Whether applying it would leave a credit of more than is owed."""
        return bool(self.late(month)) and any(short and not one.lowered for one, _, short in self.looked_at(month))

    def lower(self, month: str) -> None:
        for one, _, short in self.looked_at(month):
            one.lowered = one.lowered or short

    def transfer(self, month: str, giver: str, taker: str, amount: Decimal) -> None:
        for team, change in ((giver, -amount), (taker, amount)):
            self.add(month, month, team, change)
            self.moved[month][team] = EXACT.add(self.moved[month][team], change)

    def stands(self, month: str, team: str) -> Decimal:
        """What a team owes of a month's bill, wherever it is booked."""
        total = Decimal(0)
        for bills in self.booked.values():
            total = EXACT.add(total, bills[month][team])
        return total

    def spare(self, month: str, teams: tuple[str, str], amount: Decimal, *, everything: bool = False) -> None:
        """The second pays for the first: in the month while it is open, else where its corrections go."""
        place = self.place(month)
        self.decided[month].append(Spared(teams, None if everything else amount, amount))
        self.add(place, month, teams[0], -amount)
        self.add(place, month, teams[1], amount)

    def add(self, place: str, bill: str, team: str, amount: Decimal) -> None:
        self.touched.add(place)
        self.booked[place][bill][team] = EXACT.add(self.booked[place][bill][team], amount)

    def owed(self, place: str) -> dict[tuple[str, str], Decimal]:
        """What a month holds, by bill and team; nothing is left out but what came to nothing."""
        rows = {(bill, team): amount for bill, teams in self.booked[place].items() for team, amount in teams.items()}
        return {key: amount for key, amount in rows.items() if amount}

    def bills(self, place: str) -> dict[str, Decimal]:
        """What a month holds of each bill."""
        found: dict[str, Decimal] = defaultdict(Decimal)
        for (bill, _), amount in self.owed(place).items():
            found[bill] = EXACT.add(found[bill], amount)
        return found

    def minor(self, place: str, digits: int) -> dict[str, int]:
        """Each bill of a month, rounded once."""
        units = {bill: whole(EXACT.scaleb(amount, digits)) for bill, amount in self.bills(place).items()}
        return {bill: amount for bill, amount in units.items() if amount}


def whole(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), ROUND_HALF_EVEN, EXACT))
