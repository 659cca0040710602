"""Compare plan and oracle over a range of seeds; stop at the first world that differs. `python -m tests.property.hunt FIRST LAST`.

`--size` (3 unless told) makes smaller worlds, `--before SEED` looks at that one first, `--methods` are those of the GPU pools instead of
what is drawn, `--boards` adds rows that hold parts of boards. `--all` goes on after a world that differs, and lists the seeds.
Exit code 0: all agree. CAUGHT: a world differs, or the engine's own checks refuse it; the world is printed. Last comes a tally.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apportion.errors import InvariantError
from tests.property.adapter import plan
from tests.property.comparison import mismatches
from tests.property.worlds import World, world

CAUGHT = 10
SHOWN = 12


@dataclass
class Tally:
    """Of worlds that were compared."""

    started: float = field(default_factory=time.monotonic)
    worlds: int = 0
    differing: list[int] = field(default_factory=list)

    def add(self, seed: int, *, differs: bool) -> None:
        self.worlds += 1
        self.differing += [seed] if differs else []

    def __str__(self) -> str:
        pace = self.worlds / max(time.monotonic() - self.started, 0.001)
        seeds = f" (seeds {', '.join(map(str, self.differing[:SHOWN]))})" if self.differing else ""
        return f"{self.worlds:,} worlds, {len(self.differing):,} differ{seeds}; {pace:.1f} a second"


def differs(one: World) -> list[str]:
    try:
        return mismatches(one, plan(one))
    except InvariantError as error:
        return [f"refused by the engine itself: {error}"]


def hunt(
    seeds: Iterable[int], size: int = 3, methods: Sequence[str] = (), *, boards: bool = False, to_the_end: bool = False
) -> int:
    tally = Tally()
    for seed in seeds:
        one = world(seed, size, methods, boards=boards)
        found = differs(one)
        tally.add(seed, differs=bool(found))
        if found and not to_the_end:
            print(one, *found[:SHOWN], f"{len(found)} differences", sep="\n")
            break
    print(tally)
    return CAUGHT if tally.differing else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.property.hunt")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--size", type=int, default=3, choices=range(4))
    parser.add_argument("--before", type=int, nargs="*", default=[], metavar="SEED")
    parser.add_argument("--methods", nargs="*", default=[], metavar="METHOD")
    parser.add_argument("--boards", action="store_true")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    seeds = [*asked.before, *range(asked.first, asked.last + 1)]
    return hunt(seeds, asked.size, asked.methods, boards=asked.boards, to_the_end=asked.all)


if __name__ == "__main__":
    sys.exit(main())
