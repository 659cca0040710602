"""What is in a world, seen from its rows and its policy rather than from what the generator meant to draw."""

from collections.abc import Iterable
from fractions import Fraction
from zoneinfo import ZoneInfo

from tests.property.features_more import MORE, Seen
from tests.property.oracle_boards import bounded
from tests.property.oracle_facts import NOT_UP, Claim, Line
from tests.property.oracle_time import day_span, days_touched
from tests.property.worlds import World

WANTED = (
    "two currencies",
    "negative line",
    "zero demand",
    "demand above capacity",
    "down node",
    "DST day",
    "reservation",
    "weights",
    "adjustment",
    "crowded board",
    *MORE,
)


def features(world: World) -> set[str]:
    seen = Seen(world)
    zone = ZoneInfo(world.policy.time_zone)
    spans = [(row["charge_start_s"], row["charge_end_s"]) for row in world.cost_lines] + [
        (row["start_s"], row["end_s"]) for row in world.usage
    ]
    odd_days = (day_span(day, zone) for span in spans for day in days_touched(span, zone))
    found = {
        "two currencies": len({row["BillingCurrency"] for row in world.cost_lines}) > 1,
        "negative line": any((row["EffectiveCost"] or 0) < 0 for row in world.cost_lines),
        "down node": any(row["state"] in NOT_UP and row["end_s"] > row["start_s"] for row in world.capacity),
        "DST day": any(end - start != 86_400 for start, end in odd_days),
        "reservation": bool(world.reservations or world.policy.reservations),
        "weights": any(pool.weights for pool in world.policy.pools.values()),
        "adjustment": bool(world.policy.adjustments),
        "late correction": any(row["charge_start_s"] < row["billing_start_s"] for row in world.cost_lines),
        "follower": any(line.follower for line in seen.facts.lines),
        "recipient's own tax or credit": any(is_recipients(line) for line in seen.facts.lines),
        "crowded board": crowded(seen),
        "zero demand": any(not usage.demand for usage in seen.usages()),
        "demand above capacity": any(usage.demand > usage.capacity > 0 for usage in seen.usages()),
    }
    return (
        {name for name, there in found.items() if there}
        | {name for name, is_there in MORE.items() if is_there(seen)}
        | {pool.method for pool in world.policy.pools.values()}
    )


def is_recipients(line: Line) -> bool:
    """It would follow others, were it not split for a recipient, in a pool that asks whose its lines are."""
    usage = line.row["ChargeCategory"] == "Usage" and line.row["CommitmentDiscountStatus"] != "Unused"
    return line.pool is not None and line.pool.method == "direct" and not usage and bool(line.row["AllocatedMethodId"])


def crowded(seen: Seen) -> bool:
    """Whether less counts of some board, in some pool, than was asked of it."""
    rows = [row for row in seen.uses if row["meter"] == "gpu"]
    for name, pool in seen.world.policy.pools.items():
        if "gpu" in pool.meter and pool.method != "time":
            only = pool.model_copy(update={"meter": {"gpu": pool.meter["gpu"]}})
            asked = seen.facts.claimed(name, only, rows)
            if units(asked) != units(bounded(asked, seen.facts.boards(only, asked))):
                return True
    return False


def units(claims: Iterable[Claim]) -> Fraction:
    return sum(((claim.rate + claim.held) * (claim.span[1] - claim.span[0]) for claim in claims), Fraction(0))


def tally(worlds: Iterable[World]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for world in worlds:
        for name in features(world):
            counts[name] = counts.get(name, 0) + 1
    return counts
