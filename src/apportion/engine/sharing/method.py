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
FAIR = (EFFICIENCY, SYMMETRY, NULL_PLAYER, ADDITIVITY, MONOTONE, SPLIT_PROOF)  # what most methods hold
RESPONSIVE = "responsiveness: using nothing lowers the share"
FORESIGHT = "foresight: neither the bill nor what others use changes a share"
SHIELDING = (
    "shielding: nobody's share depends on how much bigger users use, where the bill is what the cost function says"
)
ORDER_FREE = "order-freedom: no pool comes first"
CAUSATION = "causation: what pools do for each other counts"

PARAMS = {"k", "idle", "alpha", "burst_rate", "burst_price_minor"}
Case = Mapping[str, Any]


def case(bill: int, **given: Any) -> Case:
    """A small problem, as `split` takes it but for the method's name. What the method does not read is a remark on how it came about."""
    params = {name: value for name, value in given.items() if name in PARAMS}
    inputs = {name: value for name, value in given.items() if name not in PARAMS}
    return {"bill_minor": bill, **({"params": params} if params else {}), "inputs": inputs}


@dataclass(frozen=True, slots=True)
class Method:
    """One way to share. `policy` is how a policy writes it today, empty while only `split` knows it; `share` is None where only a policy does.

    `breaks` has a counterexample for every axiom that does not hold, or not in the case that brackets name.
    """

    name: str
    share: Callable[[Given], Shares] | None
    reads: tuple[str, ...]
    formula: str
    holds: tuple[str, ...]
    breaks: Mapping[str, Case]
    choose: str
    example: Mapping[str, Any]
    idle: str = "hidden in the rate: users of the pool pay it"
    burst: str = "the same rate as everything else"
    reservation: str = "ignored"
    policy: str = ""
    mind: str = ""
