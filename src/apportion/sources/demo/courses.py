"""How boards are used over a run, look by look, in per mille: waste of a few kinds, and honest work that resembles it."""

from collections.abc import Callable, Mapping, Sequence

from apportion.sources.demo.dice import Dice

LOOK_S = 1800
Course = Callable[[Dice, Sequence[int]], list[int]]  # the local hour of each look


def still(dice: Dice) -> int:
    """Nothing, a driver's heartbeat, or rarely somebody who has a look."""
    spot = dice.below(1000)
    return dice.between(100, 400) if spot < 5 else dice.between(20, 60) if spot < 55 else dice.below(16)


def idle(dice: Dice, hours: Sequence[int]) -> list[int]:
    """A try at the start, then nothing."""
    tries = dice.between(0, 2)
    return [dice.between(200, 900) if look < tries else still(dice) for look in range(len(hours))]


def hung(dice: Dice, hours: Sequence[int]) -> list[int]:
    last = len(hours) * dice.between(20, 60) // 100
    return [dice.between(600, 1000) if look <= last else still(dice) for look in range(len(hours))]


def overnight(dice: Dice, hours: Sequence[int]) -> list[int]:
    return [still(dice) if not 9 <= hour < 19 or dice.happens(200) else dice.between(300, 900) for hour in hours]


def small(dice: Dice, hours: Sequence[int]) -> list[int]:
    level = dice.between(60, 300)
    first = [dice.between(100, 1000)]
    return first + [level * dice.between(85, 115) // 100 for _ in hours[1:]]


def steady(dice: Dice, hours: Sequence[int]) -> list[int]:
    level = dice.between(600, 950)
    return [min(1000, level * dice.between(90, 110) // 100) for _ in hours]


def loading(dice: Dice, hours: Sequence[int]) -> list[int]:
    """Held up by its data: never much, yet too much for a slice."""
    level = dice.between(450, 650)
    return [level * dice.between(90, 110) // 100 for _ in hours]


def full(dice: Dice, hours: Sequence[int]) -> list[int]:
    return [dice.between(800, 1000) for _ in hours]


def half(dice: Dice, hours: Sequence[int]) -> list[int]:
    """Busy all along, and never more than half: steps too small for the board."""
    level = dice.between(430, 600)
    return [level * dice.between(90, 110) // 100 for _ in hours]


def light(dice: Dice, hours: Sequence[int]) -> list[int]:
    """A small model on large boards."""
    level = dice.between(60, 200)
    return [level * dice.between(85, 115) // 100 for _ in hours]


def warm_up(dice: Dice, hours: Sequence[int]) -> list[int]:
    staged = dice.between(2, 6)
    return [dice.below(10) if look < staged else dice.between(800, 1000) for look in range(len(hours))]


def pauses(dice: Dice, hours: Sequence[int]) -> list[int]:
    """Checkpoints and evaluation on the host."""
    every = dice.between(4, 8)
    return [dice.below(20) if look % every == every - 1 else dice.between(850, 1000) for look in range(len(hours))]


def bursts(dice: Dice, hours: Sequence[int]) -> list[int]:
    """Little on average, and all of the board now and then."""
    every = dice.between(4, 7)
    return [
        dice.between(700, 1000) if look % every == every - 1 else dice.between(30, 150) for look in range(len(hours))
    ]


def waiting(dice: Dice, hours: Sequence[int]) -> list[int]:
    """For another job's results, for hours, in the midst of its own work."""
    first = dice.between(3, 6)
    wait = range(first, first + dice.between(4, 10))
    return [still(dice) if look in wait else dice.between(600, 1000) for look in range(len(hours))]


def finishing(dice: Dice, hours: Sequence[int]) -> list[int]:
    """An hour or two on the host at the end."""
    rest = dice.between(2, 4)
    return [dice.between(700, 1000) for _ in hours[rest:]] + [dice.below(12) for _ in hours[:rest]]


def session(dice: Dice, hours: Sequence[int]) -> list[int]:
    """A person at work, with pauses to think."""
    return [dice.below(15) if look and dice.happens(300) else dice.between(300, 900) for look in range(len(hours))]


def day(dice: Dice, hours: Sequence[int]) -> list[int]:
    """A session with its lunch and its evening."""
    return [dice.below(15) if 12 <= hour < 14 or hour >= 19 else dice.between(300, 900) for hour in hours]


def requests(dice: Dice, hours: Sequence[int]) -> list[int]:
    """A service: quiet nights, full boards at noon."""
    return [dice.between(500, 950) if 9 <= hour < 18 else dice.between(40, 200) for hour in hours]


COURSES: Mapping[str, Course] = {
    one.__name__: one
    for one in (
        idle,
        hung,
        overnight,
        small,
        steady,
        loading,
        full,
        half,
        light,
        warm_up,
        pauses,
        bursts,
        waiting,
        finishing,
        session,
        day,
        requests,
    )
}


Host = Callable[[Dice, int], list[tuple[int, int]]]  # cores and memory in use at each of so many looks


def roomy(dice: Dice, looks: int) -> list[tuple[int, int]]:
    """A few cores of those asked for; of the memory as it comes."""
    cores, memory = dice.between(30, 300), dice.between(100, 900)
    return [(cores * dice.between(85, 115) // 100, memory * dice.between(90, 105) // 100) for _ in range(looks)]


def tight(dice: Dice, looks: int) -> list[tuple[int, int]]:
    memory = dice.between(600, 950)
    return [(dice.between(700, 1000), memory * dice.between(95, 105) // 100) for _ in range(looks)]


def spiky(dice: Dice, looks: int) -> list[tuple[int, int]]:
    """Little on average, and every core now and then."""
    every, memory = dice.between(3, 6), dice.between(600, 950)
    return [
        (dice.between(750, 1000) if look % every == every - 1 else dice.between(30, 200), memory)
        for look in range(looks)
    ]


HOSTS: Mapping[str, Host] = {one.__name__: one for one in (roomy, tight, spiky)}
