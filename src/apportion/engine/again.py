"""Plans of one world under several policies: what does not depend on what differs between them is found once.

Each step is kept by what it reads: tables by which they are, rules by what they say. A plan is the same, digit for digit, as if it were made alone;
only a digest it has not, since it will never be posted.
"""

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from apportion.engine.backend import Backend
from apportion.engine.bearers import Bearers
from apportion.engine.claims import reach_of, reach_over, refuse_overlaps
from apportion.engine.encode import Scope, encode
from apportion.engine.exchange import exchange_of
from apportion.engine.lines import Ledgered, read_lines
from apportion.engine.plan import (
    NOT_SHARED,
    STATED,
    Plan,
    World,
    calendar_of,
    concluded,
    locate_world,
    metered,
    nodes_of,
    refuse_energy_twice,
    settle,
)
from apportion.engine.pools import PoolResult, charge_pool
from apportion.engine.resources import capacity_rows, read_resources
from apportion.engine.setting import Setting
from apportion.engine.stated import charge_stated
from apportion.engine.workloads import asked_labels, read_workforce
from apportion.model.meters import METERS
from apportion.policy.document import Policy
from apportion.policy.methods import SERVICES, VALUES_TEAMS
from apportion.policy.tree import plain

APART = (
    "policy",
    "effective",
    "pools",
    "quotas",
    "statements",
    "journal",
    "close",
)  # what sharing does not read, and the pools
PLACING = (
    "costs",
    "from",
    "usage",
    "scope",
    "component",
    "basis",
    "serves",
)  # of a pool, what cost lines are placed by
Found = TypeVar("Found")


@dataclass(slots=True)
class Again:
    """What plans on one backend have found so far; for one period, since nothing is ever forgotten."""

    backend: Backend
    found: dict[Hashable, Any] = field(default_factory=dict)
    read: list[Any] = field(default_factory=list)  # so that no other table takes the place of one that is known
    bearers: Bearers = field(default_factory=Bearers)

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        if key not in self.found:
            self.found[key] = find()
        found: Found = self.found[key]
        return found

    def which(self, *things: Any) -> tuple[int, ...]:
        """Names things by which they are."""
        self.read += things
        return tuple(map(id, things))

    def plan(self, world: World) -> Plan:
        world = self.located(world)
        lines, setting, key = self.survey(world)
        results = self.charge(lines, setting, key)
        refuse_energy_twice(results, lines, setting)
        account = settle(results, lines, setting, world.previous)
        return concluded(world, lines, setting, results, account)

    def located(self, world: World) -> World:
        if world.places is not None:
            return world
        key = ("located", self.which(world.usage, world.capacity))
        known = self.once(key, lambda: locate_world(world, self.backend))
        return replace(world, usage=known.usage, capacity=known.capacity, places=known.places, findings=known.findings)

    def survey(self, world: World) -> tuple[Ledgered, Setting, Hashable]:
        """As `plan.survey`; with it a name for all that the pools have in common."""
        policy, backend, frame = world.policy, self.backend, frame_of(world.policy)
        usage = self.lent(world.usage)
        around = self.which(world.usage, world.capacity)
        resources = self.once(("resources", around), lambda: read_resources(usage, world.capacity, world.places or {}))
        calendar = calendar_of(world)
        window, asked = calendar.window, tuple(sorted(asked_labels(policy)))
        work = ("work", self.which(world.workloads), frame, asked, window)
        workforce = self.once(work, lambda: read_workforce(world.workloads, policy, window))
        scope = Scope(window, metered(policy))
        rows = ("rows", around, work, scope.meters)
        encoded = self.once(rows, lambda: encode(usage, workforce, resources, scope, backend))
        placing = ("lines", self.which(world.cost_lines, world.rates), around, frame, placing_of(policy))
        exchange = exchange_of(policy, world.period, world.rates)
        lines = self.once(placing, lambda: read_lines(world.cost_lines, policy, world.period, resources, exchange))
        nodes = nodes_of(world, lines, resources)
        beside = frozenset[str]().union(*nodes.values()) - set(encoded.resources)
        setting = Setting(
            period=world.period,
            policy=policy,
            calendar=calendar,
            workforce=workforce,
            resources=resources,
            encoded=self.once((rows, beside), lambda: encoded.with_resources(beside)),
            capacity=self.once(("capacity", around), lambda: capacity_rows(world.capacity, METERS)),
            reservations=world.reservations,
            currencies={bill.id: bill.currency for bill in lines.bills},
            backend=backend,
            bearers=self.bearers,
            late=world.late,
            nodes=nodes,
        )
        currencies = tuple(setting.currencies.items())
        known = (rows, beside, calendar, self.which(world.reservations), currencies, world.late)
        return lines, setting, known

    def lent(self, usage: Any) -> Any:
        if not isinstance(usage, pa.Table):
            return usage
        return self.once(("lent", self.which(usage)), lambda: self.backend.lend(usage))

    def charge(self, lines: Ledgered, setting: Setting, key: Hashable) -> dict[str, PoolResult]:
        """As `plan.charge_pools`, but for pools that are known already."""
        policy, tranches, seasons = setting.policy, lines.tranches, setting.workforce.seasons
        shared = [name for name, pool in policy.pools.items() if pool.method not in NOT_SHARED]
        shared = [name for name in shared if not setting.late or len(tranches.table_of(name))]
        named = {name: tranches.resources_of(name) for name in shared}
        for season in seasons:
            own = {
                name: reach_of(policy.pools[name], named[name], setting.resources, season.persons) for name in shared
            }
            refuse_overlaps(policy, own, setting.encoded, season)
        results = {}
        for name in shared:
            pool, said = policy.pools[name], said_of(policy, name)
            whole = tranches.all_money() if pool.scope == "resource" else 0
            chance = policy.version if pool.method in VALUES_TEAMS else ""
            reach = reach_over(pool, named[name], setting.resources, seasons)
            charged = partial(charge_pool, name, tranches, reach, setting)
            said += str(sorted(setting.nodes.get(name, ())))
            results[name] = self.alike(("pool", name, said, key, whole, chance), tranches.table_of(name), charged)
        for name, pool in policy.pools.items():
            if pool.method in STATED:
                account, problems = charge_stated(name, tranches.of(name), policy, setting.calendar, setting.bearers)
                results[name] = PoolResult(account, problems=problems)
        return results

    def alike(self, place: Hashable, money: pa.Table, find: Callable[[], PoolResult]) -> PoolResult:
        """By the money itself: a price that changes elsewhere is nothing to this pool."""
        known: list[tuple[pa.Table, PoolResult]] = self.once(place, list)
        for table, result in known:
            if table.equals(money):
                return result
        known.append((money, find()))
        return known[-1][1]


def frame_of(policy: Policy) -> str:
    """What a policy says beside its pools."""
    return json.dumps({key: said for key, said in plain(policy.root).items() if key not in APART})


def said_of(policy: Policy, pool: str) -> str:
    return json.dumps(plain(policy.root)["pools"][pool])


def placing_of(policy: Policy) -> str:
    """What of the pools the cost lines are placed by."""
    pools = plain(policy.root).get("pools") or {}
    special = {name: pool.method for name, pool in policy.pools.items() if pool.method in (*SERVICES, "direct")}
    return json.dumps(
        [(name, special.get(name), {key: said[key] for key in PLACING if key in said}) for name, said in pools.items()]
    )
