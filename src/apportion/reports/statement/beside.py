"""What owners would owe by rules to come, beside what they owe: sums of the same rows, at every level."""

from dataclasses import dataclass

from apportion.reports.statement.facts import Facts
from apportion.reports.statement.shape import DRIVERS, Change, Preview
from apportion.reports.statement.sums import Key, Sums, added, single, where


@dataclass(frozen=True, slots=True)
class Beside:
    """By owner at a level; empty where nothing is to come, or where it cannot be computed."""

    owed: Sums
    charged: Sums
    carried: Sums
    changes: Sums

    @property
    def keys(self) -> set[Key]:
        """Those who would owe or carry something."""
        return {key for sums in (self.owed, self.carried) for key in sums if single(sums, key)}


def beside(facts: Facts, level: str) -> Beside:
    if facts.coming is None or facts.coming.now is None:
        return Beside({}, {}, {}, {})
    coming, now = facts.coming, facts.coming.now
    return Beside(
        owed=added(now, level),
        charged=added(where(now, charged=True), level),
        carried=added(coming.carried, level),
        changes=added(coming.changes, level, ["driver", "pool"]),
    )


def preview(facts: Facts, made: Beside, key: Key) -> Preview | None:
    if facts.coming is None:
        return None
    said = facts.coming.said
    if facts.coming.now is None:
        return Preview(said.policy, said.version, said.until, None, None, ())
    charged = single(made.charged, key) + single(made.carried, key)
    return Preview(said.policy, said.version, said.until, single(made.owed, key), charged, changed(made.changes, key))


def changed(sums: Sums, key: Key) -> tuple[Change, ...]:
    """What moved an owner's figure, of sums by driver and pool."""
    found = [Change(driver, pool, int(amount)) for (driver, pool), amount in sums.get(key, {}).items() if amount]
    return tuple(sorted(found, key=lambda one: (DRIVERS.index(one.driver), -abs(one.amount), one.pool)))
