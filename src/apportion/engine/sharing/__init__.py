"""How one bill is shared: pure functions over exact fractions, one per method.

It solves one small problem for `apportion split` and shares no code with the pools on purpose: each checks the other. Only `players` takes its sums
over subsets; the oracle in the tests goes over permutations instead.
"""

from apportion.engine.sharing.given import SplitError
from apportion.engine.sharing.method import Method
from apportion.engine.sharing.methods import ELSEWHERE, METHODS
from apportion.engine.sharing.solve import Solution, solve

__all__ = ["ELSEWHERE", "METHODS", "Method", "Solution", "SplitError", "solve"]
