"""Runs that belong together, planted: the same again, one that lost its work, one that did not; and honest ones that resemble them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from apportion.sources.demo.dice import Dice
from apportion.sources.demo.jobs import Job, Requests
from apportion.sources.demo.planting import ANY, Plot, fingerprint, job

EACH: Final = 9  # families of every kind in a month
SIBLINGS: Final = 3
FIRST_DAYS: Final = (2, 18)
DAY_S: Final = 86_400
Family = Callable[[Job, Dice], Iterator[Job]]


def families(requests: Requests) -> Iterator[Job]:
    dice = Dice(requests.seed, "families")
    for make in FAMILIES:
        for number in range(EACH):
            yield from make(first_of(requests, f"{make.__name__}-{number}", dice), dice)


def first_of(requests: Requests, run: str, dice: Dice) -> Job:
    """Most on H100, the others on A100."""
    made = job(requests, Plot("steady", "training", (8, 18), ANY, 2), run, dice)
    made.queue = "h100" if dice.happens(850) else "a100"
    made.submit = requests.calendar.at(dice.between(*FIRST_DAYS), dice.below(24), dice.below(60))
    made.is_family = True
    made.experiment = made.config = fingerprint(requests.seed, run)
    return made


def again(one: Job, number: int, dice: Dice, later_s: int, **more: object) -> Job:
    """The same work as another run, within two per cent as long."""
    seconds = one.plan[0][0] * dice.between(98, 102) // 100
    shared: dict[str, object] = {
        "run": f"{one.run}-{number}",
        "submit": one.submit + later_s,
        "plan": [(seconds, "completed")],
    }
    return replace(one, **(shared | more))  # type: ignore[arg-type]


def siblings(one: Job, dice: Dice) -> Iterator[Job]:
    """With another seed each, over a few days."""
    for number in range(SIBLINGS):
        yield again(one, number, dice, dice.between(0, 3 * DAY_S), config=f"{one.config}{number}")


def twice(one: Job, dice: Dice) -> Iterator[Job]:
    """Nobody looked whether it had been run."""
    one.waste = "duplicate"
    yield one
    for number in range(dice.between(1, 2)):
        yield again(one, number, dice, dice.between(300, 6 * 3600))


def seeds(one: Job, dice: Dice) -> Iterator[Job]:
    """Alike in all but one argument."""
    yield from siblings(one, dice)


def nightly(one: Job, dice: Dice) -> Iterator[Job]:
    """The same every day, on that day's data."""
    for number in range(4):
        yield again(one, number, dice, number * DAY_S)


def colleagues(one: Job, dice: Dice) -> Iterator[Job]:
    """Two people who each check it for themselves."""
    yield one
    yield again(one, 0, dice, dice.between(300, 6 * 3600), user=f"{one.user}0")


def after_failure(one: Job, dice: Dice) -> Iterator[Job]:
    seconds = one.plan[0][0]
    yield again(one, 0, dice, seconds + 1800)
    one.plan = [(seconds * 6 // 10, "failed")]
    yield one


def from_zero(one: Job, dice: Dice) -> Iterator[Job]:
    """It failed, and began anew."""
    yield from siblings(one, dice)
    seconds = one.plan[0][0]
    one.waste = "checkpoint"
    cuts = [(seconds * dice.between(45, 85) // 100, "failed") for _ in range(dice.between(1, 2))]
    one.plan = [*cuts, (seconds * dice.between(98, 102) // 100, "completed")]
    yield one


def resumed(one: Job, dice: Dice) -> Iterator[Job]:
    """It failed, and went on from its checkpoint: so could all of them, on capacity that is taken away now and then."""
    one.waste = "preemptible"
    yield from siblings(one, dice)
    seconds = one.plan[0][0]
    cut = seconds * dice.between(40, 75) // 100
    one.plan = [(cut, "failed"), (seconds - cut + seconds * dice.between(0, 4) // 100, "completed")]
    yield one


def resumed_cheaply(one: Job, dice: Dice) -> Iterator[Job]:
    """Where that capacity is what they run on."""
    for member in resumed(one, dice):
        member.waste, member.preemptible = "", True
        yield member


def slipped(one: Job, dice: Dice) -> Iterator[Job]:
    """It failed early: there was nothing to lose."""
    yield from siblings(one, dice)
    seconds = one.plan[0][0]
    one.plan = [(seconds * dice.between(2, 4) // 100, "failed"), (seconds, "completed")]
    yield one


FAMILIES: Final[tuple[Family, ...]] = (
    twice, seeds, nightly, colleagues, after_failure, from_zero, resumed, resumed_cheaply, slipped,
)  # fmt: skip
