"""Service pools that serve each other: storage, network and platform on the way to the teams.

A pool with shares passes its money on; whoever has none keeps what arrives. Reciprocal sharing takes one pool after another out of
the loop: its money goes to its receivers, and whoever sent to it sends to them instead. What then comes back to a sender
is its own use, which is stripped. That is exact Gaussian elimination in whole numbers, and it shows a loop without an exit by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from apportion.engine.sharing.given import Given, Shares, add, refuse
from apportion.engine.sharing.method import CAUSATION, FAIR, ORDER_FREE, Method, case

MOST_POOLS = 100
MOST_CELLS = 20_000
MOST_BITS = 4_096  # pools times the width of a share: what rerouting can grow a number to
Row = dict[str, int]


@dataclass(frozen=True, slots=True)
class Loop:
    """Money by place, and for each pool in which proportions it is passed on."""

    money: Shares
    rows: dict[str, Row]

    def pass_on(self, pool: str, row: Mapping[str, int]) -> None:
        total, money = sum(row.values()), self.money.pop(pool)
        if total == 0:
            refuse("singular_service_loop", f"the money of {pool!r} never leaves the service pools", "shares")
        for receiver, weight in row.items():
            add(self.money, receiver, money * weight / total)


def service_loop(given: Given) -> Loop:
    money, shares = given.money("costs"), given.table("shares", "negative_weight")
    rows = {pool: whole_row(row) for pool, row in shares.items() if row}
    cells = [weight for row in rows.values() for weight in row.values()]
    widest = max(cells, default=0).bit_length()
    if len(rows) > MOST_POOLS or len(cells) > MOST_CELLS or len(rows) * widest > MOST_BITS:
        refuse("too_large", f"at most {MOST_POOLS} pools may pass money on, in shares of a few digits", "shares")
    for name in (*shares, *(receiver for row in rows.values() for receiver in row)):
        money.setdefault(name, Fraction(0))
    return Loop(money, rows)


def whole_row(row: Mapping[str, Fraction]) -> Row:
    scale = lcm(*(weight.denominator for weight in row.values()))
    whole = {receiver: int(weight * scale) for receiver, weight in row.items() if weight}
    common = gcd(*whole.values()) or 1
    return {receiver: weight // common for receiver, weight in whole.items()}


def reciprocal(given: Given) -> Shares:
    loop = service_loop(given)
    waiting = dict(loop.rows)
    for pool in loop.rows:
        row = {receiver: weight for receiver, weight in waiting.pop(pool).items() if receiver != pool}
        loop.pass_on(pool, row)
        for sender, weights in waiting.items():
            waiting[sender] = rerouted(weights, pool, row)
    return loop.money


def rerouted(weights: Row, pool: str, row: Row) -> Row:
    """What was sent to `pool` goes to its receivers instead; only proportions matter, so the row is scaled to stay whole."""
    through = weights.get(pool, 0)
    if not through:
        return weights
    total = sum(row.values())
    direct = {receiver: weight * total for receiver, weight in weights.items() if receiver != pool}
    for receiver, weight in row.items():
        direct[receiver] = direct.get(receiver, 0) + through * weight
    common = gcd(*direct.values()) or 1
    return {receiver: weight // common for receiver, weight in direct.items()}


def step_down(given: Given) -> Shares:
    loop, order = service_loop(given), given.names("order")
    if set(order) != set(loop.rows):
        refuse("invalid_order", "order must name every pool that passes money on once", "order")
    for place, pool in enumerate(order, 1):
        pass_beyond(loop, pool, order[:place])
    return loop.money


def direct_method(given: Given) -> Shares:
    loop = service_loop(given)
    pools = list(loop.rows)
    for pool in pools:
        pass_beyond(loop, pool, pools)
    return loop.money


def pass_beyond(loop: Loop, pool: str, closed: Sequence[str]) -> None:
    behind = set(closed)
    loop.pass_on(pool, {receiver: weight for receiver, weight in loop.rows[pool].items() if receiver not in behind})


COSTS = {"Y": 726000, "Z": 400000, "X1": 0, "X2": 0}
SERVICES = {"Y": {"Z": 20, "X1": 40, "X2": 40}, "Z": {"Y": 30, "X1": 30, "X2": 40}}

METHODS = (
    Method(
        name="reciprocal",
        share=reciprocal,
        reads=("costs", "shares"),
        formula="g = d + S^T * g solved exactly (S without own use, rows scaled to 1); then g by S to those who pass nothing on",
        holds=(
            *FAIR,
            ORDER_FREE,
        ),
        breaks={},
        mind="nobody checks it by hand",
        choose="pools serve each other: storage, network, platform",
        example={"bill_minor": 1126000, "inputs": {"costs": COSTS, "shares": SERVICES}},
        idle="may be one of the receivers",
        burst="does not arise",
        policy="reciprocal",
    ),
    Method(
        name="step_down",
        share=step_down,
        reads=("costs", "shares", "order"),
        formula="pools in the given order pass all they hold to those not yet closed, in proportion to their shares",
        holds=(*FAIR,),
        breaks={
            ORDER_FREE: case(1126000, costs=COSTS, shares=SERVICES, order=["Y", "Z"]),
        },
        choose="an order of services is agreed, and each step is to be read by hand",
        example={"bill_minor": 1126000, "inputs": {"costs": COSTS, "shares": SERVICES, "order": ["Y", "Z"]}},
        idle="may be one of the receivers",
        burst="does not arise",
        policy="step_down",
    ),
    Method(
        name="direct_method",
        share=direct_method,
        reads=("costs", "shares"),
        formula="every pool passes its own cost to those who pass nothing on; services between pools are ignored",
        holds=(
            *FAIR,
            ORDER_FREE,
        ),
        breaks={
            CAUSATION: case(1126000, costs=COSTS, shares=SERVICES),
        },
        choose="pools hardly serve each other",
        example={"bill_minor": 1126000, "inputs": {"costs": COSTS, "shares": SERVICES}},
        idle="may be one of the receivers",
        burst="does not arise",
    ),
)
