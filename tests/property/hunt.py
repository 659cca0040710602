"""Compare plan and oracle over a range of seeds; stop at the first world that differs. `python -m tests.property.hunt FIRST LAST`.

`--size` (3 unless told) makes smaller worlds, `--before SEED` looks at that one first, `--methods` are those of the GPU pools instead of
what is drawn, `--boards` adds rows that hold parts of boards.
Exit code 0: all agree. CAUGHT: a world differs, or the engine's own checks refuse it; the world is printed.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

from apportion.errors import InvariantError
from tests.property.adapter import plan
from tests.property.comparison import mismatches
from tests.property.worlds import World, world

CAUGHT = 10
SHOWN = 12


def differs(one: World) -> list[str]:
    try:
        return mismatches(one, plan(one))
    except InvariantError as error:
        return [f"refused by the engine itself: {error}"]


def hunt(seeds: Iterable[int], size: int = 3, methods: Sequence[str] = (), *, boards: bool = False) -> int:
    for seed in seeds:
        one = world(seed, size, methods, boards=boards)
        found = differs(one)
        if found:
            print(one, *found[:SHOWN], f"{len(found)} differences", sep="\n")
            return CAUGHT
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.property.hunt")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--size", type=int, default=3, choices=range(4))
    parser.add_argument("--before", type=int, nargs="*", default=[], metavar="SEED")
    parser.add_argument("--methods", nargs="*", default=[], metavar="METHOD")
    parser.add_argument("--boards", action="store_true")
    asked = parser.parse_args()
    return hunt([*asked.before, *range(asked.first, asked.last + 1)], asked.size, asked.methods, boards=asked.boards)


if __name__ == "__main__":
    sys.exit(main())
