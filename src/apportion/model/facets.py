"""What kind of work it was: the facets there are, and how sure one is."""

from dataclasses import dataclass
from typing import Literal

FACETS = ("phase", "framework", "family", "model", "experiment", "trial", "outcome")  # those that rules set
SIZE = "size"  # by what was held
KNOWN = (*FACETS[:-1], SIZE, FACETS[-1])
Sure = Literal["stated", "tracked", "derived", "guessed"]
SURENESS: tuple[Sure, ...] = ("stated", "tracked", "derived", "guessed")


@dataclass(frozen=True, slots=True)
class Fact:
    """One facet of a workload, and how sure it is."""

    value: str
    sure: Sure
