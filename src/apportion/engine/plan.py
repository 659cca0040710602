"""Who owes what: the plan of a period, from its evidence and its policy.

Price and charge each pool, settle (idle, overheads, followers, credits, adjustments), round down the tree. A plan is a value: `apply` posts
it, `explain`, the reports and the pages read it.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.account import Account, Column
from apportion.engine.backend import Backend, Engine
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar, make_calendar
from apportion.engine.claims import reach_of, reach_over, refuse_overlaps
from apportion.engine.clusters import Places, locate
from apportion.engine.digest import digest_of
from apportion.engine.encode import Scope, encode
from apportion.engine.exchange import exchange_of
from apportion.engine.findings import evidence_findings
from apportion.engine.followers import charge_followers
from apportion.engine.label_sets import split_by_labels
from apportion.engine.lines import FOLLOWER, NO_POOL, PROBLEM, Bill, Ledgered, Tranches, read_lines
from apportion.engine.no_pool import find_work_in_no_pool
from apportion.engine.node_labels import find_unread_rules
from apportion.engine.node_money import NodeNames, find_nodes, find_untied
from apportion.engine.overhead import charge_overhead
from apportion.engine.pools import PoolResult, charge_pool
from apportion.engine.postings import Postings, make_postings
from apportion.engine.price import spread, system_entry
from apportion.engine.resources import Resources, capacity_rows, read_resources
from apportion.engine.rounding import leaves, round_tree
from apportion.engine.setting import Setting
from apportion.engine.stated import charge_stated
from apportion.engine.transfers import Books, adjust, in_order
from apportion.engine.workloads import read_workforce
from apportion.errors import PolicyError, Problem, require_equal
from apportion.model.currencies import is_money
from apportion.model.findings import Finding, merge
from apportion.model.meters import METERS
from apportion.model.money import to_decimal
from apportion.model.rows import empty
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.policy.methods import SERVICES

RULES = "6"  # raised whenever the same evidence and policy may give other figures, so that old postings are not taken for false ones
STATED = ("direct", "even", "fixed")
NOT_SHARED = (*STATED, "by_cost", *SERVICES)  # by usage
BOUNDS = ("charge_start_s", "charge_end_s", "billing_start_s", "billing_end_s")
NOBODY_CLAIMS = {NO_POOL: "no pool", PROBLEM: "problem"}


@dataclass(frozen=True, slots=True)
class World:
    """A period's evidence and its policy. `inputs` are the content digests of the tables, `previous` what each team owed last period."""

    period: Period
    policy: Policy
    cost_lines: pa.Table
    usage: Any
    capacity: pa.Table
    reservations: pa.Table
    workloads: pa.Table
    rates: pa.Table = field(default_factory=lambda: empty("rates"))  # of exchange; read where the policy has `fx`
    previous: Mapping[str, Decimal] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()  # of reading it
    findings: tuple[Finding, ...] = ()  # of reading it
    places: Places | None = field(default=None, compare=False)  # what each resource is, once its name is one of its own
    late: bool = False  # nothing but lines of an earlier month, on bills of the period
    nodes: frozenset[str] = frozenset()  # names and machine ids of nodes that evidence of any month knows


@dataclass(frozen=True, slots=True)
class Trace:
    """How the figures came about, for `explain`: the lines as placed, and each pool's market, prices and weights."""

    setting: Setting
    lines: Ledgered
    pools: Mapping[str, PoolResult]


@dataclass(frozen=True, slots=True)
class Plan:
    period: Period
    policy_version: str
    digest: str
    postings: pa.Table
    bill_days: pa.Table
    bills: tuple[Bill, ...]
    problems: tuple[Problem, ...]
    exact: tuple[int, ...]  # grains, one per posting
    trace: Trace
    engine: Engine  # what computed it; no part of the digest
    inputs: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[
        "Plan", ...
    ] = ()  # the period's own and what is late on its bills, where something is; `trace` is the own one's
    findings: tuple[Finding, ...] = ()  # of the engine's steps; those of reading are in the books

    @property
    def own(self) -> "Plan":
        return self.parts[0] if self.parts else self


def make_plan(world: World, backend: Backend) -> Plan:
    """The plan of one period."""
    world = split_by_labels(locate_world(world, backend), backend)
    usage = backend.lend(world.usage) if isinstance(world.usage, pa.Table) else world.usage
    lines, setting = survey(world, usage, backend)
    results = charge_pools(lines, setting)
    refuse_energy_twice(results, lines, setting)
    account = settle(results, lines, setting, world.previous)
    return conclude(world, lines, setting, results, account)


def locate_world(world: World, backend: Backend) -> World:
    """The same world, in which each cluster's resources have names of their own."""
    if world.places is not None:
        return world
    found = locate(world.usage, world.capacity, backend)
    return replace(
        world,
        usage=found.usage,
        capacity=found.capacity,
        places=found.places,
        findings=(*world.findings, *found.findings),
    )


def survey(world: World, usage: Any, backend: Backend) -> tuple[Ledgered, Setting]:
    """Place the cost lines, and number what shares them."""
    resources = read_resources(usage, world.capacity, world.places or {})
    with ThreadPoolExecutor(1) as beside:  # both are work for Arrow
        exchange = exchange_of(world.policy, world.period, world.rates)
        reading = beside.submit(read_lines, world.cost_lines, world.policy, world.period, resources, exchange)
        calendar = calendar_of(world)
        workforce = read_workforce(world.workloads, world.policy, calendar.window)
        encoded = encode(usage, workforce, resources, Scope(calendar.window, metered(world.policy)), backend)
        lines = reading.result()
    nodes = nodes_of(world, lines, resources)
    return lines, Setting(
        period=world.period,
        policy=world.policy,
        calendar=calendar,
        workforce=workforce,
        resources=resources,
        encoded=encoded.with_resources(node for found in nodes.values() for node in found),
        capacity=capacity_rows(world.capacity, METERS),
        reservations=world.reservations,
        currencies={bill.id: bill.currency for bill in lines.bills},
        backend=backend,
        bearers=Bearers(),
        late=world.late,
        nodes=nodes,
    )


def nodes_of(world: World, lines: Ledgered, resources: Resources) -> dict[str, frozenset[str]]:
    """By pool, the nodes that keep the money that names them."""
    clusters = frozenset(labels["cluster"] for labels in resources.labels.values() if "cluster" in labels)
    names = NodeNames(resources, world.nodes, lines.named, clusters)
    return find_nodes(lines.named, names, world.policy.pools)


def calendar_of(world: World) -> Calendar:
    """The days of the period and of every charge and billing period, in cells that the bounds of the latter fall between; of late lines, of their charges."""
    zone, lines = ZoneInfo(world.policy.time_zone), world.cost_lines
    own = world.period.interval(zone)
    bounds = {name: pc.unique(lines[name]).to_pylist() for name in BOUNDS}
    asked = {name: found for name, found in bounds.items() if not world.late or name.startswith("charge")}
    seconds = [*([] if world.late else [own.start_s, own.end_s]), *(s for found in asked.values() for s in found)]
    latest = [start + 1 for start in bounds["charge_start_s"]]  # a line without length needs a cell, too
    hull = Interval(min(seconds), max(seconds + latest))
    return make_calendar(hull, zone, sorted({*bounds["billing_start_s"], *bounds["billing_end_s"]}))


def metered(policy: Policy) -> tuple[str, ...]:
    """The meters that some pool counts."""
    return tuple(sorted({name for pool in policy.pools.values() for name in pool.meter}))


def charge_pools(lines: Ledgered, setting: Setting) -> dict[str, PoolResult]:
    """Every pool but the overheads, each on its own."""
    policy = setting.policy
    tranches = lines.tranches
    shared = [name for name, pool in policy.pools.items() if pool.method not in NOT_SHARED]
    shared = [name for name in shared if not setting.late or len(tranches.table_of(name))]
    named = {name: tranches.resources_of(name) for name in shared}
    seasons = setting.workforce.seasons
    for season in seasons:
        own = {name: reach_of(policy.pools[name], named[name], setting.resources, season.persons) for name in shared}
        refuse_overlaps(policy, own, setting.encoded, season)
    reaches = {name: reach_over(policy.pools[name], named[name], setting.resources, seasons) for name in shared}
    results = {name: charge_pool(name, tranches, reaches[name], setting) for name in shared}
    for name, pool in policy.pools.items():
        if pool.method in STATED:
            account, problems = charge_stated(name, tranches.of(name), policy, setting.calendar, setting.bearers)
            results[name] = PoolResult(account, problems=problems)
    return results


def refuse_energy_twice(results: Mapping[str, PoolResult], lines: Ledgered, setting: Setting) -> None:
    """A price list of energy that is a bill of its own, beside lines that are the money of energy: the same kWh would be paid twice."""
    policy = setting.policy
    listed = [name for name, result in results.items() if result.card and "energy" in policy.pools[name].meter]
    energy = lines.bill_of.filter(pc.equal(lines.components, "energy"))
    paid = sorted(bill for bill in pc.unique(energy).to_pylist() if is_money(setting.currencies[bill]))
    if listed and paid:
        raise PolicyError(
            "energy-priced-twice",
            f"pool '{listed[0]}' charges energy by a price list without a bill, and {paid[0]} holds the money of energy: both would be owed",
            where=f"{policy.file}:{policy.line('pools', listed[0])}",
            hint="give the pool `costs: {component: energy}`, so that the list recovers the bill, or read the bill as a reference",
        )


def settle(
    results: Mapping[str, PoolResult], lines: Ledgered, setting: Setting, previous: Mapping[str, Decimal]
) -> Account:
    """Usage and idle are in; now overheads, followers, credits and adjustments, each a balanced transfer."""
    account = Account()
    tranches = lines.tranches
    currencies = dict(setting.currencies) | {
        result.card.bill: setting.policy.currency for result in results.values() if result.card
    }
    for name in setting.policy.pools:
        if name in results:
            account.merge(results[name].account)
    account.merge(unclaimed(tranches, setting.calendar, setting.bearers))
    for name, pool in setting.policy.pools.items():
        if pool.method == "by_cost":
            account.merge(charge_overhead(name, tranches.of(name), account, setting, currencies))
    account.merge(charge_followers(tranches.of(FOLLOWER), account, setting.calendar, setting.bearers))
    for result in results.values():
        account.merge(result.later)
    books = Books(setting.policy, setting.bearers, setting.calendar.days, currencies, previous)
    for rule in in_order(setting.policy.adjustments):
        account.merge(adjust(account, rule, books))
    return account


def unclaimed(tranches: Tranches, calendar: Calendar, bearers: Bearers) -> Account:
    """Money that no pool claims, and money of rows that something is wrong with: visible, with its cause."""
    out = Account()
    for pool, cause in NOBODY_CLAIMS.items():
        for tranche in tranches.of(pool):
            for _, day, grains in spread(tranche, "day", calendar):
                column = Column(tranche.bill, tranche.component, tranche.family)
                out.add(system_entry(column, "", day, cause, bearers), grains)
    return out


def conclude(
    world: World, lines: Ledgered, setting: Setting, results: Mapping[str, PoolResult], account: Account
) -> Plan:
    made = concluded(world, lines, setting, results, account)
    findings = (*made.findings, *find_unread_rules(setting), *find_work_in_no_pool(lines.tranches, setting))
    return replace(made, findings=findings, digest=digest_of(made.postings, world.policy.version, world.inputs))


def concluded(
    world: World, lines: Ledgered, setting: Setting, results: Mapping[str, PoolResult], account: Account
) -> Plan:
    """Without its digest: enough for what will never be posted, and much sooner there."""
    exact = leaves(account, setting.bearers, [str(day) for day in setting.calendar.days])
    nanos, dust = round_tree(exact)
    cards = [result.card for result in results.values() if result.card]
    bills = (*lines.bills, *(card_bill(card.bill, account, setting) for card in cards))
    made = make_postings(world.period, bills, exact, nanos, dust)
    check_totals(lines, made, cards)
    found = [
        *world.problems,
        *lines.problems,
        *setting.workforce.problems,
        *(problem for result in results.values() for problem in result.problems),
    ]
    met = [
        *world.findings,
        *evidence_findings([*world.problems, *lines.problems], lines, setting),
        *findings_of(lines, setting, results),
    ]
    return Plan(
        period=world.period,
        policy_version=world.policy.version,
        digest="",
        postings=made.postings,
        bill_days=made.bill_days,
        bills=bills,
        problems=tuple(dict.fromkeys(found)),
        exact=made.exact,
        trace=Trace(setting, lines, results),
        engine=setting.backend.engine,
        inputs=world.inputs,
        findings=tuple(merge(met)),
    )


def findings_of(lines: Ledgered, setting: Setting, results: Mapping[str, PoolResult]) -> tuple[Finding, ...]:
    """Pool by pool, in the policy's order."""
    found: list[Finding] = []
    for name in setting.policy.pools:
        nodes = setting.nodes.get(name, frozenset())
        found += find_untied(name, lines.named, nodes, setting.currencies, setting.policy.currency)
        found += results[name].findings if name in results else ()
    return tuple(found)


def card_bill(bill: str, account: Account, setting: Setting) -> Bill:
    total = sum(grains for entry, grains in account if entry.column.bill == bill)
    return Bill(bill, "rate card", setting.policy.currency, to_decimal(total), 0)


def check_totals(lines: Ledgered, made: Postings, cards: list[Column]) -> None:
    """The sum of postings is the bill, digit for digit, for every bill and component; recomputed from the lines, not from the engine's sums."""
    components = pa.table({"bill": lines.bill_of, "component": lines.components, "amount": lines.amounts})
    expected = sums(components, ["bill", "component"])
    own = {card.bill for card in cards}
    posted = {key: total for key, total in sums(made.postings, ["bill", "component"]).items() if key[0] not in own}
    for key in sorted(set(expected) | set(posted)):
        require_equal(f"postings of {key[0]}, {key[1]}", expected.get(key, Decimal(0)), posted.get(key, Decimal(0)))


def sums(table: pa.Table, keys: list[str]) -> dict[tuple[str, ...], Decimal]:
    grouped = table.group_by(keys).aggregate([("amount", "sum")])
    rows = zip(
        *(grouped[key].to_pylist() for key in keys),
        pc.cast(grouped["amount_sum"], pa.decimal128(38, 18)).to_pylist(),
        strict=True,
    )
    return {tuple(row[:-1]): row[-1] for row in rows if row[-1]}
