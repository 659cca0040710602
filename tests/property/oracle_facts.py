"""What the oracle knows before it shares anything: owners, lines with their pools, and whose usage counts in which pool."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from apportion.model.meters import GPU, METERS
from apportion.model.times import parse_period
from apportion.policy.document import Policy
from apportion.policy.match import Selector, fill, find_label
from apportion.policy.pools import Pool
from tests.property.oracle_boards import Stated, bounded, whole_days
from tests.property.oracle_identity import Resource, Resources, Workloads
from tests.property.oracle_services import walk
from tests.property.oracle_time import Clock, Span, day_begins, day_span, whole_cells
from tests.property.worlds import World

Labels = Mapping[str, str]
Group = tuple[str | None, str | None, str | None]
SYSTEM = ("_idle", "_unallocated", "_residual")
BASIS = {"effective": "EffectiveCost", "billed": "BilledCost", "list": "ListCost"}
NOWHERE: Resource = ("", "")
NOT_UP = ("drained", "down", "starting")


class Who(NamedTuple):
    cost_centre: str
    department: str
    team: str
    project: str
    user: str

    @property
    def is_system(self) -> bool:
        return self.team in SYSTEM

    @property
    def cause(self) -> str:
        return "no owner" if self.team == "_unallocated" else ""


@dataclass(frozen=True)
class Line:
    """One cost line with its pool (None: nobody's), and the span its money is spread over."""

    row: Mapping[str, Any]
    pool: Pool | None
    name: str
    follower: bool
    amount: Fraction
    span: Span
    was: Pool | None = None

    @property
    def component(self) -> str:
        pool = self.was or self.pool
        return (pool.component if pool else None) or str(self.row["component"])

    @property
    def group(self) -> Group:
        return self.row["BillingAccountId"], self.row["SubAccountId"], self.row["ServiceName"]


@dataclass(frozen=True)
class Claim:
    """A usage row on one local day, as one pool counts it: pool units per second, by the driver, allocated, and held without use."""

    row: Mapping[str, Any]
    resource: Resource
    whole: Span
    span: Span
    day: date
    who: Who
    labels: Labels
    weight_labels: Labels
    outcome: str
    rate: Fraction
    allocated: Fraction
    held: Fraction


@dataclass(frozen=True)
class Offer:
    """Capacity or a reservation of a pool: `what` is a state or the holder's team."""

    resource: Resource
    span: Span
    rate: Fraction
    what: str


@dataclass
class Facts:
    world: World
    clock: Clock
    policy: Policy = field(init=False)
    zone: ZoneInfo = field(init=False)

    def __post_init__(self) -> None:
        self.policy = self.world.policy
        self.zone = ZoneInfo(self.policy.time_zone)
        self.workloads = Workloads(self.world)
        self.known = Resources(self.world)
        self.resources = self.known.labels

    @cached_property
    def window(self) -> Span:
        """The days that a plan looks at: from the first until the last of the month and of its lines' charge and billing periods."""
        month = parse_period(self.world.period).interval(self.zone)
        lines = [
            (row[f"{kind}_start_s"], row[f"{kind}_end_s"])
            for row in self.world.cost_lines
            for kind in ("charge", "billing")
        ]
        return whole_days([(month.start_s, month.end_s), *lines], self.zone)

    # owners

    def team(self, name: str, project: str = "", user: str = "") -> Who:
        known = self.policy.teams.get(name)
        return Who(known.cost_centre if known else "", known.department if known else "", name, project, user)

    def owner(self, labels: Labels, day: date) -> Who:
        for rule in self.policy.owners:
            if in_force(rule, day) and rule.when.matches(labels):
                team = fill(rule.team, labels)
                if team is None:
                    break
                return self.team(team, fill(rule.project, labels) or "", fill(rule.user, labels) or "")
        return self.team("_unallocated")

    def full_labels(self, described: Labels, who: Who) -> dict[str, str]:
        """With facets, team and class, as pools, prices, weights and adjustments see a workload."""
        labels = dict(described)
        facets: dict[str, str] = {}
        for rule in self.policy.facets:
            if rule.when.matches(labels):
                for name, template in rule.sets.items():
                    facets.setdefault(name, fill(template, labels) or "")
        labels.update({name: value for name, value in facets.items() if value})
        if not who.is_system:
            labels["team"] = who.team
        known = self.policy.teams.get(who.team)
        if known and known.class_:
            labels["class"] = known.class_
        return labels

    # lines

    @cached_property
    def lines(self) -> list[Line]:
        return [part for row in self.world.cost_lines for part in self.handed_on(self.line(row))]

    def handed_on(self, line: Line) -> list[Line]:
        """A line of a pool that serves others is theirs: many little lines that name no resource."""
        if not line.pool or not line.pool.serves:
            return [line]
        row = {**line.row, "ResourceId": None, "ResourceName": None}
        return [
            replace(line, row=row, name=end, pool=self.policy.pools[end], amount=line.amount * part, was=line.pool)
            for end, part in walk(self.policy.pools, line.name).items()
        ]

    def line(self, row: Mapping[str, Any]) -> Line:
        labels = {
            key: str(value) for key, value in row.items() if key[0].isupper() and key != "Tags" and value is not None
        }
        labels |= {"tag." + key: value for key, value in row["Tags"].items()}
        usage = row["ChargeCategory"] == "Usage" and row["CommitmentDiscountStatus"] != "Unused"
        name, pool = ("", None) if row["problem"] else self.pool_of(labels, usage=usage)
        amount = self.amount(row, pool)
        span = (row["charge_start_s"], row["charge_end_s"])
        if span[1] <= span[0]:
            span = whole_cells((span[0], span[0]), self.zone)
        return Line(
            row, pool, name, follower=not usage and pool is None and not row["problem"], amount=amount, span=span
        )

    def pool_of(self, labels: Labels, *, usage: bool) -> tuple[str, Pool | None]:
        for name, pool in self.policy.pools.items():
            if pool.costs is None:
                continue
            names_it = bool(pool.costs.keys & {"ChargeCategory", "CommitmentDiscountStatus"})
            if (usage or names_it or is_own(pool, labels)) and pool.costs.matches(labels):
                return name, pool
        for name, pool in self.policy.pools.items():
            if pool.otherwise and (usage or is_own(pool, labels)):
                return name, pool
        return "", None

    def amount(self, row: Mapping[str, Any], pool: Pool | None) -> Fraction:
        basis = (pool.basis if pool else None) or self.policy.basis
        for column in (BASIS[basis], "EffectiveCost", "BilledCost"):
            if row[column] is not None:
                return Fraction(row[column])
        return Fraction(0)

    def bill(self, row: Mapping[str, Any]) -> str:
        return f"{row['InvoiceIssuerName']} {self.world.period} {row['BillingCurrency']}"

    def line_labels(self, row: Mapping[str, Any]) -> dict[str, str]:
        labels = {
            key: str(value) for key, value in row.items() if key[0].isupper() and key != "Tags" and value is not None
        }
        return labels | {"tag." + key: value for key, value in row["Tags"].items()}

    # usage, capacity and reservations of a pool

    def named_resources(self, pool_name: str) -> set[str]:
        return {
            line.row[column]
            for line in self.lines
            if line.name == pool_name
            for column in ("ResourceId", "ResourceName")
            if line.row[column]
        }

    def sees(self, keys: Iterable[str], resource: Resource, labels: Labels) -> dict[str, str]:
        """Each key from the resource's labels if any known resource carries it, else from the workload's."""
        seen = {}
        for key in keys:
            carried = any(find_label(known, key) is not None for known in self.resources.values())
            value = find_label(self.resources.get(resource, {}) if carried else labels, key)
            if value is not None:
                seen[key] = value
        return seen

    def takes(self, pool_name: str, pool: Pool, resource: Resource, labels: Labels) -> bool:
        if pool.usage is None:
            return resource[1] in self.named_resources(pool_name)
        return pool.usage.matches(self.sees(pool.usage.keys, resource, labels))

    def own_resources(self, pool_name: str, pool: Pool) -> set[Resource]:
        """Those on which the pool would count capacity, or usage of some workload."""
        nobody = self.team("_unallocated")  # no generated `usage` asks for an owner
        kinds = [{}, *(self.full_labels(labels, nobody) for labels in self.workloads.every())]
        return {found for found in self.resources for labels in kinds if self.takes(pool_name, pool, found, labels)}

    def claims(self, pool_name: str, pool: Pool) -> list[Claim]:
        """Of every meter; GPUs as far as their boards reach."""
        found = []
        for meter in pool.meter:
            rows = [row for row in self.world.usage if row["meter"] == meter and row["end_s"] > row["start_s"]]
            claims = self.claimed(pool_name, pool, rows)
            found += bounded(claims, self.boards(pool, claims)) if meter == "gpu" else claims
        return found

    def boards(self, pool: Pool, claims: list[Claim]) -> Stated:
        """Shared are those of which a row holds a part, on a day that the plan looks at and as the pool counts it."""
        counted = [claim.row for claim in claims if self.clock.common(claim.span, self.window)]
        return Stated(
            frozenset(self.known.of(row) for row in counted if allocated_of(row) % GPU),
            tuple(
                (self.known.of(row), (row["start_s"], row["end_s"]), rate(pool, "gpu", Fraction(row["amount"]), (0, 1)))
                for row in self.world.capacity
                if row["meter"] == "gpu" and row["end_s"] > row["start_s"]
            ),
            self.zone,
        )

    def claimed(self, pool_name: str, pool: Pool, rows: list[Mapping[str, Any]]) -> list[Claim]:
        found = []
        for row in rows:
            resource = self.known.of(row)
            whole = (row["start_s"], row["end_s"])
            for day, part in self.clock.by_day(whole, self.zone):
                who = self.owner(self.workloads.labels(row), day)
                labels = self.full_labels(self.workloads.labels(row), who)
                if not self.takes(pool_name, pool, resource, labels):
                    continue
                found.append(
                    Claim(
                        row, resource, whole, part, day, who, labels,
                        {**labels, **self.sees(pool.weights, resource, labels)},
                        labels.get("outcome", ""),
                        rate(pool, row["meter"], driven(pool, row), whole),
                        rate(pool, row["meter"], allocated_of(row), whole),
                        rate(pool, row["meter"], max(Fraction(0), allocated_of(row) - driven(pool, row)), whole),
                    )
                )  # fmt: skip
        return found

    def capacity(self, pool_name: str, pool: Pool) -> list[Offer]:
        found = []
        for row in self.world.capacity:
            span = (row["start_s"], row["end_s"])
            resource = self.known.of(row)
            if row["meter"] in pool.meter and span[1] > span[0] and self.takes(pool_name, pool, resource, {}):
                found.append(
                    Offer(resource, span, rate(pool, row["meter"], Fraction(row["amount"]), span), row["state"])
                )
        return found

    def reservations(self, pool_name: str, pool: Pool) -> list[Offer]:
        found = []
        for rule in self.policy.reservations:
            if rule.pool == pool_name and rule.meter in pool.meter:
                start = day_begins(rule.from_, self.zone) if rule.from_ else 0
                end = day_span(rule.until, self.zone)[1] if rule.until else 2**40
                found.append(
                    Offer(NOWHERE, (start, end), rate(pool, rule.meter, Fraction(rule.amount), (start, end)), rule.team)
                )
        for row in self.world.reservations:
            span = (row["start_s"], row["end_s"])
            if (
                row["meter"] not in pool.meter
                or span[1] <= span[0]
                or not self.reserved_here(pool_name, pool.usage, row["labels"])
            ):
                continue
            speed = rate(pool, row["meter"], Fraction(row["amount"]), span)
            found += [
                Offer(NOWHERE, part, speed, self.owner(row["labels"], day).team)
                for day, part in self.clock.by_day(span, self.zone)
            ]
        return [offer for offer in found if self.clock.common(offer.span, self.window)]

    def reserved_here(self, pool_name: str, usage: Selector | None, labels: Labels) -> bool:
        if usage is None:
            return bool({labels.get("node"), labels.get("resource")} & self.named_resources(pool_name))
        return usage.matches(labels)


def in_force(rule: Any, day: date) -> bool:
    return (rule.from_ is None or rule.from_ <= day) and (rule.until is None or day <= rule.until)


def allocated_of(row: Mapping[str, Any]) -> Fraction:
    """What a row holds; what it used, where it does not say what it holds."""
    stated = row["used"] if row["allocated"] is None else row["allocated"]
    return Fraction(stated or 0)


def driven(pool: Pool, row: Mapping[str, Any]) -> Fraction:
    allocated = allocated_of(row)
    used = allocated if row["used"] is None else Fraction(row["used"])
    if pool.driver.kind == "blend":
        return pool.driver.alpha * allocated + (1 - pool.driver.alpha) * used
    return {"allocated": allocated, "used": used, "max": max(allocated, used)}[pool.driver.kind]


def rate(pool: Pool, meter: str, amount: Fraction, span: Span) -> Fraction:
    """Pool units per second: a level is held, a flow is spread over its interval."""
    units = pool.meter[meter] * amount / METERS[meter].base
    return units / (span[1] - span[0]) if METERS[meter].flow else units


def is_own(pool: Pool, labels: Labels) -> bool:
    """A line that was split for a recipient is the recipient's, whatever kind of line it is, where a pool asks whose its lines are."""
    return pool.method == "direct" and "AllocatedMethodId" in labels
