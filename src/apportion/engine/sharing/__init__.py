"""How one bill is shared: pure functions over exact fractions, one per method."""

from apportion.engine.sharing.given import SplitError
from apportion.engine.sharing.method import Method
from apportion.engine.sharing.methods import ELSEWHERE, METHODS
from apportion.engine.sharing.solve import Solution, solve

__all__ = ["ELSEWHERE", "METHODS", "Method", "Solution", "SplitError", "solve"]
