"""Compare plan and oracle over a range of seeds; stop at the first world that differs. `python -m tests.property.hunt FIRST LAST`.

Exit code 0: all agree. CAUGHT: a world differs, or the engine's own checks refuse it; the world is printed.
"""

import sys
from collections.abc import Iterable

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


def hunt(seeds: Iterable[int], size: int = 3) -> int:
    for seed in seeds:
        one = world(seed, size)
        found = differs(one)
        if found:
            print(one, *found[:SHOWN], f"{len(found)} differences", sep="\n")
            return CAUGHT
    return 0


if __name__ == "__main__":
    sys.exit(hunt(range(int(sys.argv[1]), int(sys.argv[2]) + 1)))
