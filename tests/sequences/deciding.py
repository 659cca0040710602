"""Decisions on jobs that change later: sequences by number, and what every team owes after each step, by definition.

A job costs 10.00 an hour (2 of a node's 8 GPUs at 5.00). Applying a month looks at every decision again, in the order in which they were made: a
job that was moved is another team's, whatever it costs; a sponsor pays for a job all that it costs or an amount, at most what its team owes.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

JOBS = {"j1": "b", "j2": "a", "j3": "b"}
OTHERS = ("c", "office")
HOUR = 10
Step = tuple[str, str, str, int]  # what, job or team, who pays, hours or amount (0: all of it)


@dataclass(frozen=True)
class Choice:
    """`amount` 0 is all of it."""

    what: str
    name: str
    other: str
    amount: int
    lowered: bool = False


@dataclass
class Month:
    hours: dict[str, int] = field(default_factory=lambda: dict.fromkeys(JOBS, 24))
    applied: dict[str, int] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)

    def owed(self, hours: dict[str, int]) -> tuple[dict[str, int], list[Choice]]:
        """By team; and the choices of more than is left."""
        found = dict.fromkeys({*JOBS.values(), *OTHERS}, 0)
        for job, team in JOBS.items():
            found[team] += HOUR * hours[job]
        short = []
        for one in self.choices:
            team = JOBS.get(one.name, one.name)
            cost = HOUR * hours[one.name] if one.name in JOBS else found[team]
            left = cost if one.what == "move" else max(0, min(cost, found[team]))
            moves = min(left, one.amount) if one.amount else left
            short += [one] if moves < one.amount and not one.lowered else []
            found[team] -= moves
            found[one.other] += moves
        return found, short

    def allows(self, step: Step) -> bool:
        """A job is decided on once, of what is posted of it."""
        what, name, _, amount = step
        found, _ = self.owed(self.applied)
        team = JOBS.get(name, name)
        left = min(HOUR * self.applied[name], found[team]) if name in JOBS else found[team]
        known = name in JOBS and any(one.name == name for one in self.choices)
        return not known and left > 0 and (amount <= left or what == "move")

    def lower(self, short: list[Choice]) -> None:
        self.choices = [replace(one, lowered=one.lowered or one in short) for one in self.choices]


def draw(number: int) -> Iterator[Step]:
    chance = random.Random(number)
    yield "apply", "", "", 0
    for _ in range(chance.randint(6, 10)):
        what = chance.choice(["hours", "hours", "move", "spare", "spare", "team", "apply", "apply", "close"])
        job, other = chance.choice([*JOBS]), chance.choice(OTHERS)
        if what == "hours":
            yield what, job, "", chance.choice([0, 1, 3, 24, 30, 60])
        elif what == "team":
            yield "spare", JOBS[job], other, HOUR * chance.choice([1, 5, 20, 40])
        else:
            yield (
                what,
                job,
                other,
                HOUR * chance.choice([1, 10, 20]) if what == "spare" and chance.random() < 0.5 else 0,
            )
    yield "apply", "", "", 0


def corrects_a_decision(steps: list[Step]) -> bool:
    """Whether some job is decided on and costs something else when the month is applied after that."""
    month, decided = Month(), set[str]()
    for step in steps:
        what, name, other, amount = step
        if what == "apply":
            if any(month.hours[job] != month.applied.get(job) for job in decided):
                return True
            month.applied = dict(month.hours)
        elif what == "hours":
            month.hours[name] = amount
        elif what in ("move", "spare") and month.allows(step):
            month.choices.append(Choice(what, name, other, amount))
            decided |= {name} & set(JOBS)
    return False
