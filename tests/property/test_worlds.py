"""The generator's own statistics: a property that is never exercised is not tested."""

from tests.property.features import WANTED, tally
from tests.property.worlds import world

SAMPLE = 300
METHODS = ("direct", "even", "fixed", "proportional", "time", "capacity_rate", "rate_card", "by_cost")


def test_every_feature_is_in_one_world_of_twenty() -> None:
    counts = tally(world(seed) for seed in range(SAMPLE))
    rare = {
        name: counts.get(name, 0)
        for name in (*WANTED, *METHODS, "late correction", "follower", "recipient's own tax or credit")
        if counts.get(name, 0) * 20 < SAMPLE
    }
    assert not rare, f"of {SAMPLE} worlds: {counts}"


def test_a_world_is_rebuilt_from_its_seed() -> None:
    assert world(7) == world(7)
    assert str(world(7, 1)) == str(world(7, 1))
    assert world(7).tables()["usage"].num_rows == len(world(7).usage)
