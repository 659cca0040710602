"""What there is to say about a method: shown by `methods`, written into the reference, and run by `split`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apportion.engine.sharing.given import Given, Shares

EFFICIENCY = "efficiency: the shares add up to the bill"
SYMMETRY = "symmetry: equal demands pay equally"
NULL_PLAYER = "null player: whoever used nothing pays nothing"
ADDITIVITY = "additivity: two bills shared apart or together come to the same"
MONOTONE = "demand monotonicity: using more never costs less"
SPLIT_PROOF = "split-proofness: appearing as two owners, half and half, changes nothing"
TIME_SPLIT = "split-proofness in time: appearing as two owners, each in other slots, changes nothing"
TIME_SHIFT = "time-shift safety: moving demand off the peak never costs more"
STAND_ALONE = "stand-alone: nobody pays more than it would alone"
CORE = "core: no group pays more than it would by itself"


@dataclass(frozen=True, slots=True)
class Method:
    """One way to share. `policy` is how a policy writes it today, empty while only `split` knows it; `share` is None where only a policy does."""

    name: str
    share: Callable[[Given], Shares] | None
    reads: tuple[str, ...]
    formula: str
    holds: tuple[str, ...]
    breaks: tuple[str, ...]
    choose: str
    example: Mapping[str, Any]
    idle: str = "hidden in the rate: users of the pool pay it"
    burst: str = "the same rate as everything else"
    reservation: str = "ignored"
    policy: str = ""
