"""What is in a world, seen from its rows and its policy rather than from what the generator meant to draw."""

from collections.abc import Iterable
from fractions import Fraction
from zoneinfo import ZoneInfo

from tests.property.oracle_facts import NOT_UP, Claim, Facts
from tests.property.oracle_methods import Sharing
from tests.property.oracle_time import Breakpoints, day_span, days_touched
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
)


def features(world: World) -> set[str]:
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
        "follower": any(line.follower for line in Facts(world, Breakpoints()).lines),
    }
    found["crowded board"] = crowded(world)
    return (
        {name for name, there in found.items() if there}
        | demand_features(world)
        | {pool.method for pool in world.policy.pools.values()}
    )


def demand_features(world: World) -> set[str]:
    """From the slots that carry money: nobody there, or more asked for than there was."""
    facts = Facts(world, Breakpoints())
    found = set()
    for name, pool in world.policy.pools.items():
        if not pool.meter or pool.method == "rate_card":
            continue
        sharing = Sharing(facts, name, pool)
        sharing.run()
        if any(not seen.demand for seen in sharing.seen.values()):
            found.add("zero demand")
        if any(seen.demand > seen.capacity > 0 for seen in sharing.seen.values()):
            found.add("demand above capacity")
    return found


def crowded(world: World) -> bool:
    """Whether less counts of some board, in some pool, than was asked of it."""
    facts = Facts(world, Breakpoints())
    for name, pool in world.policy.pools.items():
        if "gpu" in pool.meter and pool.method != "time":
            only = pool.model_copy(update={"meter": {"gpu": pool.meter["gpu"]}})
            rows = [row for row in world.usage if row["meter"] == "gpu" and row["end_s"] > row["start_s"]]
            asked, counted = facts.claimed(name, only, rows), facts.claims(name, only)
            if units(asked) != units(counted):
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
