"""From where on a review tells something. Quiet by default: a month like the one before has little to say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where on something is told, in percent: `[review]` of apportion.toml."""

    drift: int = 10  # points by which a share moved
    least: int = 1  # of the month's money; owners with less are not told
    season: int = 50  # what is held at night or at weekends, of what is held otherwise
    peak: int = 200  # of the mean
    idle: int = 30  # of the capacity
    share: int = 50  # of a pool, by one team
    weight: int = 25  # by which a weight differs from what was measured
