"""Chance that comes out the same everywhere: SplitMix64 on whole numbers, one independent stream per name.

Python's own `random` promises the same sequence for `random()` alone, which is a float; the demo must not move with a Python version.
"""

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate

MASK = (1 << 64) - 1
Curve = Sequence[tuple[int, int]]  # (per mille of the cases, value at most), ascending


class Dice:
    def __init__(self, seed: int, stream: str) -> None:
        self.state = int.from_bytes(sha256(f"{seed}/{stream}".encode()).digest()[:8], "big")

    def below(self, bound: int) -> int:
        """A whole number in `[0, bound)`."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return ((mixed ^ (mixed >> 31)) * bound) >> 64

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def happens(self, per_mille: int) -> bool:
        return self.below(1000) < per_mille

    def choose(self, sums: Sequence[int]) -> int:
        """An index, by running sums of weights."""
        return bisect_right(sums, self.below(sums[-1]))

    def on_curve(self, curve: Curve) -> int:
        """A value with the distribution of a measured curve, straight between its points."""
        spot = self.below(1_000_000)
        after = bisect_right(curve, spot, key=per_million)
        if after >= len(curve):
            return curve[-1][1]
        (left, low), (right, high) = curve[after - 1], curve[after]
        return low + (high - low) * (spot - left * 1000) // ((right - left) * 1000)


def per_million(point: tuple[int, int]) -> int:
    return point[0] * 1000


def running(weights: Sequence[int]) -> list[int]:
    return list(accumulate(weights))
