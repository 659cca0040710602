"""Boards that could do more than the work asks for: a cheaper model of the same cluster has the memory and the speed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from fractions import Fraction
from typing import NamedTuple

from apportion.model.money import GRAIN, to_grains
from apportion.reports.advice.slices import peak_of
from apportion.reports.advice.work import Saving, Work
from apportion.reports.held import places
from apportion.reports.words import percent

GIB = 2**30
ROOM = Fraction(12, 10)  # above the most memory that was in use
FULL = Fraction(9, 10)  # the busiest look may fill so much of the slower board
SLOWER = Fraction(3, 2)  # so many times as long, for the least saving
KEPT = ("inference",)  # its answers would come later


class Board(NamedTuple):
    """Of the makers' data sheets: GiB, dense 16-bit tensor operations in 10^12 a second, GB a second from memory."""

    gib: int
    speed: int
    stream: int


BOARDS: Mapping[str, Board] = {
    "T4": Board(16, 65, 320), "V100": Board(32, 125, 900), "A10": Board(24, 125, 600), "L4": Board(24, 121, 300), "A30": Board(24, 165, 933),
    "A40": Board(48, 150, 696), "L40": Board(48, 181, 864), "L40S": Board(48, 362, 864), "A100": Board(80, 312, 2039), "H100": Board(80, 989, 3350),
    "H200": Board(141, 989, 4800), "B200": Board(180, 2250, 8000),
}  # fmt: skip


def board_of(model: str) -> str:
    """The name of its data sheet, from a scheduler's: `NVIDIA-A100-SXM4-80GB` is an A100. Empty where it is none of these, or has less memory."""
    words = model.upper().replace("_", "-").replace(" ", "-").split("-")
    name = next((word for word in words if word in BOARDS), "")
    sizes = [int(word[:-2]) for word in words if word.endswith("GB") and word[:-2].isdigit()]
    return "" if any(size < BOARDS[name].gib for size in sizes if name) else name


def models(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most by the difference of the prices, at least if it takes half as long again. Only where the memory in use was told."""
    del zone
    prices = prices_of(works)
    for work in works:
        for name in fitting(work):
            ratio = cheaper(prices, board_of(work.model), name)
            if ratio is not None and ratio * SLOWER < 1:
                yield Saving("model", work, 1 - ratio * SLOWER, 1 - ratio, proof=proof(work, name), instead=name)
                break


def fitting(work: Work) -> list[str]:
    """Lesser boards on which the work would go on as before, the slowest first."""
    own, peak = BOARDS.get(board_of(work.model)), peak_of(work) if on_whole_boards(work) else None
    if own is None or peak is None or not peak or work.told.memory is None or work.phase in KEPT:
        return []
    found = []
    for name, other in sorted(BOARDS.items(), key=lambda one: one[1].speed):
        shares = Fraction(other.speed, own.speed), Fraction(other.stream, own.stream)
        if max(shares) < 1 and peak <= FULL * min(shares) and work.told.memory * ROOM <= other.gib * GIB:
            found.append(name)
    return found


def on_whole_boards(work: Work) -> bool:
    return all(one.held % work.base == 0 for one in work.stretches)


def prices_of(works: Sequence[Work]) -> Mapping[str, Mapping[str, Fraction]]:
    """What an hour of each board came to in the month, by currency."""
    money: dict[tuple[str, str], int] = defaultdict(int)
    held: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for work in works:
        for currency, amount in work.amounts.items():
            key = board_of(work.model), currency
            money[key] += to_grains(amount)
            held[key] += work.hours(work.held)
    found: dict[str, dict[str, Fraction]] = defaultdict(dict)
    for (name, currency), grains in money.items():
        found[name][currency] = Fraction(grains, GRAIN) / held[name, currency]
    return found


def cheaper(prices: Mapping[str, Mapping[str, Fraction]], own: str, other: str) -> Fraction | None:
    """What it costs for each unit of money: the worst of the currencies in which both have a price."""
    both = set(prices.get(own, ())) & set(prices.get(other, ()))
    return max((prices[other][currency] / prices[own][currency] for currency in both), default=None)


def proof(work: Work, name: str) -> str:
    peak = peak_of(work) or Fraction(0)
    used = Fraction(work.told.memory or 0, GIB)
    return f"at most {percent(places(peak))} busy and {int(used)} GiB in use; {name} has {BOARDS[name].gib}"
