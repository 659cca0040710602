"""Which of the things that once led money astray are in a world, seen from its rows and its policy."""

from collections.abc import Callable, Iterable, Iterator

from apportion.model.meters import METERS
from tests.property.oracle_facts import Facts, Line
from tests.property.oracle_findings import pool_hours
from tests.property.oracle_identity import Row
from tests.property.oracle_methods import Sharing, Usage
from tests.property.oracle_parts import Parted
from tests.property.oracle_settle import counts_as_cost, rule_of, users_of
from tests.property.oracle_time import Breakpoints, day_of
from tests.property.worlds import World

NEED_CAPACITY = ("capacity_rate", "two_part", "resource_weighted")
PLACE = ("source", "workload", "label_set", "meter", "resource", "cluster", "start_s")


class Seen:
    """A world with its facts and its pools at work, made once for all features."""

    def __init__(self, world: World) -> None:
        self.world, self.facts = world, Facts(world, Breakpoints())
        self.uses = [row for row in world.usage if row["end_s"] > row["start_s"]]
        self.sharings: list[Parted] = []
        for name, pool in world.policy.pools.items():
            if pool.meter and pool.method != "rate_card":
                self.sharings.append(Parted(self.facts, name, pool))
                self.sharings[-1].run()

    def usages(self) -> Iterator[Usage]:
        """The slots that carry money, in every pool."""
        return (usage for sharing in self.sharings for usage in sharing.seen.values())

    def lines(self, sharing: Sharing) -> list[Line]:
        return [line for line in self.facts.lines if line.name == sharing.name and line.amount]


def repeated_ids(seen: Seen) -> bool:
    """Rows of one id, of two teams."""
    teams: dict[str, set[str]] = {}
    for row in seen.uses:
        owner = seen.facts.owner(seen.facts.workloads.labels(row), day_of(row["start_s"], seen.facts.zone))
        teams.setdefault(row["workload"], set()).add(owner.team)
    return any(len(names) > 1 and has_sets(seen, workload) for workload, names in teams.items())


def has_sets(seen: Seen, workload: str) -> bool:
    return len({row.get("label_set") for row in seen.world.workloads if row["workload"] == workload}) > 1


def equal_rows(seen: Seen) -> bool:
    return twice(tuple(sorted(row.items(), key=str)) for row in seen.uses)


def other_ends(seen: Seen) -> bool:
    """Rows that share all but the end."""
    ends: dict[object, set[int]] = {}
    for row in seen.uses:
        rest = tuple(sorted(((key, value) for key, value in row.items() if key != "end_s"), key=str))
        ends.setdefault(rest, set()).add(row["end_s"])
    return any(len(found) > 1 for found in ends.values())


def boards_one_by_one(seen: Seen) -> bool:
    """Several rows of one board or core each, of one workload on one node at one time."""
    ones = [row for row in seen.uses if row["allocated"] == METERS[row["meter"]].base and not METERS[row["meter"]].flow]
    return twice((*place(row), row["end_s"]) for row in ones)


def doubled_nodes(seen: Seen) -> bool:
    """Two clusters with a node of one name, both used."""
    return twice(name for _, name in {seen.facts.known.of(row) for row in seen.uses})


def use_alone(seen: Seen) -> bool:
    return any(row["allocated"] is None and row["used"] for row in seen.uses)


def unused_nodes(seen: Seen) -> bool:
    """Money tied to a node of which the pool counts no use."""
    for sharing in seen.sharings:
        used = {claim.resource for claim in sharing.claims}
        tied = {sharing.scope_of(line) for line in seen.lines(sharing)}
        if tied - used - {None}:
            return True
    return False


def no_capacity(seen: Seen) -> bool:
    """Use and money, and no capacity, where it would set the price."""
    return any(
        sharing.pool.method in NEED_CAPACITY
        and not sharing.offers
        and any(usage.demand for usage in sharing.seen.values())
        for sharing in seen.sharings
    )


def above_capacity(seen: Seen) -> bool:
    return any(pool_hours(seen.facts, sharing.name, sharing.pool) for sharing in seen.sharings)


def dormant_floors(seen: Seen) -> bool:
    ran = {claim.who.team for sharing in seen.sharings for claim in sharing.claims}
    return any(rule.floor and rule.team not in ran for rule in seen.world.policy.adjustments)


def even_elsewhere(seen: Seen) -> bool:
    """Idle shared evenly, also by a team that used the pool in none of the slots that carry money."""
    for sharing in seen.sharings:
        there = {claim.who.team for usage in sharing.seen.values() for claim, _, units in usage.claims if units}
        late = set(users_of(sharing, seen.facts.window)) - there
        if late and any(rule_of(sharing.pool, idle) == "even" and idle.entry.amount for idle in sharing.idles):
            return True
    return False


def capped_sponsors(seen: Seen) -> bool:
    rules = seen.world.policy.adjustments
    return bool({rule.team for rule in rules if rule.cap is not None} & {rule.sponsor for rule in rules})


def taxed_lending(seen: Seen) -> bool:
    """A follower on a bill on which something was lent, of that service or of none."""
    lent = {
        (entry.bill, entry.group)
        for sharing in seen.sharings
        for entry in sharing.entries
        if counts_as_cost(entry) and entry.reason == "credit"
    }
    return any((seen.facts.bill(line.row), line.group) in lent for line in seen.facts.lines if line.follower)


def place(row: Row) -> tuple[object, ...]:
    return tuple(row.get(name) for name in PLACE)


def twice(values: Iterable[object]) -> bool:
    listed = list(values)
    return len(set(listed)) < len(listed)


MORE: dict[str, Callable[[Seen], bool]] = {
    "repeated ids with other users": repeated_ids,
    "equal rows": equal_rows,
    "rows that share all but the end": other_ends,
    "one row per board": boards_one_by_one,
    "two clusters with equal node names": doubled_nodes,
    "use and no allocation": use_alone,
    "nodes with money and no use": unused_nodes,
    "use and no capacity": no_capacity,
    "use above capacity": above_capacity,
    "floors of teams that never ran": dormant_floors,
    "even idle with users of other hours": even_elsewhere,
    "capped sponsors": capped_sponsors,
    "taxes over lending": taxed_lending,
}
