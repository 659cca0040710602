"""The inventory as it is written: what was bought, leased and subscribed to, and who works on it. All amounts are those of one piece."""

from datetime import date
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, PlainValidator, model_validator

from apportion.sources.tco.clauses import (
    Amount,
    Clause,
    Count,
    Currency,
    Day,
    Flag,
    From,
    Months,
    Name,
    Names,
    Percent,
    Pieces,
    Share,
    Signed,
    Tags,
    Weights,
    bounded,
    one_of,
    part_of,
    shown,
    wrong,
)
from apportion.sources.tco.fleet import GLOB

KINDS = {"server": "compute", "gpu": "compute", "switch": "network", "storage": "storage", "other": "other"}
COMPONENTS = ("compute", "storage", "network", "licence", "energy", "support", "other")
DOUBLE = "double"
MONTHS_OF_DOUBLE = 24

Kind = Annotated[str, PlainValidator(one_of(*KINDS))]
Component = Annotated[str, PlainValidator(one_of(*COMPONENTS))]
Every = Annotated[str, PlainValidator(one_of("month", "quarter", "year"))]
EveryOrOnce = Annotated[str, PlainValidator(one_of("month", "quarter", "year", "once"))]


def read_rate(given: Any) -> Fraction | str:
    return DOUBLE if given == DOUBLE else bounded(0, 100)(str(given).rstrip().removesuffix("%").rstrip())


class Borne(Clause):
    """Something that costs money, and whose it is: one node's, each of several nodes', shared by nodes, or nobody's in particular."""

    id: Name
    name: Name = ""
    node: Name | None = None
    nodes: Names = ()
    shared_by: Weights = {}
    component: Component = ""
    currency: Currency = ""
    team: Name = ""
    tags: Tags = {}

    @model_validator(mode="after")
    def one_bearer(self) -> Self:
        given = [key for key in ("node", "nodes", "shared_by") if getattr(self, key)]
        if len(given) > 1:
            hint = "node and nodes bear it alone, shared_by spreads it"
            raise wrong("inventory-value", f"{' and '.join(given)} cannot both be given", given[1], hint=hint)
        if self.node and GLOB & set(self.node):
            raise wrong(
                "inventory-value", f"{self.node!r} is no name of one node", "node", hint="use nodes or shared_by"
            )
        return self

    @property
    def all_tags(self) -> dict[str, str]:
        return {**({"team": self.team} if self.team else {}), **self.tags}


def named_alone(borne: Borne) -> None:
    for name in borne.nodes:
        if GLOB & set(name):
            hint = "each node named has a piece of its own; write ranges as dgx-[01-16], or use shared_by"
            raise wrong("inventory-value", f"{name!r} is no name of one node", "nodes", hint=hint)


class Hardware(Borne):
    kind: Kind = "server"
    count: Pieces = 1
    gpus: Count | None = None
    sockets: Count = 0

    @property
    def gpus_each(self) -> int:
        return self.gpus if self.gpus is not None else int(self.kind == "gpu")


class Upgrade(Clause):
    on: Day
    price: Amount
    replaces: Share = Fraction(0)
    proceeds: Amount = Fraction(0)
    extends_months: Count = 0
    salvage: Share | None = None


class Move(Clause):
    on: Day
    node: Name | None = None
    shared_by: Weights = {}

    @model_validator(mode="after")
    def somewhere(self) -> Self:
        if bool(self.node) == bool(self.shared_by):
            raise wrong("inventory-value", "a move goes to a node, or is shared_by some", hint="give one of the two")
        return self


class Asset(Hardware):
    price: Amount
    bought: Day
    in_service: Day | None = None
    life_months: Months
    salvage: Share = Fraction(0)
    method: Annotated[str, PlainValidator(one_of("straight_line", "declining"))] = "straight_line"
    rate: Annotated[Fraction | str, PlainValidator(read_rate)] | None = None
    switch: Flag = True
    upgrades: tuple[Upgrade, ...] = ()
    moves: tuple[Move, ...] = ()
    disposed: Day | None = None
    proceeds: Amount = Fraction(0)
    embodied_kg: Amount = Fraction(0)

    @property
    def serves_from(self) -> date:
        return self.in_service or self.bought

    @property
    def yearly(self) -> Fraction | None:
        """The rate by which it declines."""
        if self.method == "straight_line" or self.rate is None:
            return None
        return Fraction(MONTHS_OF_DOUBLE, self.life_months) if isinstance(self.rate, str) else self.rate / 100

    @model_validator(mode="after")
    def sound(self) -> Self:
        named_alone(self)
        if part_of(self.salvage, self.price) > self.price:
            raise wrong("inventory-value", "the salvage is more than the price", "salvage", hint="at most the price")
        if (self.method == "declining") != (self.rate is not None):
            hint = "rate: double, or percent a year such as 40"
            message = "declining needs a rate" if self.rate is None else "a rate is of method declining"
            raise wrong("inventory-value", message, "rate" if self.rate is not None else "method", hint=hint)
        if self.serves_from < self.bought:
            raise wrong("inventory-order", f"in service on {self.in_service}, before it was bought", "in_service")
        if self.disposed and self.disposed <= self.bought:
            hint = "the day of disposal is the first on which it is gone"
            raise wrong("inventory-order", f"disposed on {self.disposed}, before it was there", "disposed", hint=hint)
        if self.proceeds and not self.disposed:
            raise wrong("inventory-value", "proceeds come of a disposal", "proceeds", hint="add disposed: DAY")
        self.in_order()
        return self

    def in_order(self) -> None:
        """Upgrades and moves follow each other, in service and before the disposal."""
        if self.moves and not (self.node or self.shared_by):
            raise wrong(
                "inventory-value",
                "only what has a node or is shared_by can move",
                "moves",
                hint="give each piece its own entry",
            )
        for key in ("upgrades", "moves"):
            last = self.serves_from
            for number, one in enumerate(getattr(self, key)):
                if one.on <= last or (self.disposed and one.on >= self.disposed):
                    hint = f"after {last}" + (f" and before {self.disposed}" if self.disposed else "")
                    raise wrong("inventory-order", f"{one.on} is out of order", key, number, "on", hint=hint)
                last = one.on


class Term(Borne):
    """`until` is the last day; without it, it goes on."""

    from_: From
    until: Day | None = None

    @model_validator(mode="after")
    def forward(self) -> Self:
        if self.until and self.until < self.from_:
            hint = "until is the last day on which it holds"
            raise wrong("inventory-order", f"until {self.until} lies before from {self.from_}", "until", hint=hint)
        return self


class Lease(Term, Hardware):
    price: Amount
    every: Every = "month"
    up_front: Amount = Fraction(0)
    deposit: Amount = Fraction(0)

    @model_validator(mode="after")
    def sound(self) -> Self:
        named_alone(self)
        if self.up_front and not self.until:
            hint = "add until: the last day of the lease"
            raise wrong(
                "inventory-value",
                "what is paid up front is spread over the term, which has no end",
                "up_front",
                hint=hint,
            )
        return self


class Maintenance(Term):
    until: Day
    price: Amount

    @model_validator(mode="after")
    def sound(self) -> Self:
        named_alone(self)
        return self


class Staff(Term):
    fte: Amount = Fraction(1)
    annual_cost: Amount
    share: Percent = Fraction(100)


class Software(Term):
    price: Amount
    every: Every = "year"
    per: Annotated[str, PlainValidator(one_of("node", "gpu", "socket"))] | None = None

    @model_validator(mode="after")
    def sound(self) -> Self:
        if not self.per:
            named_alone(self)
        elif self.node or self.shared_by:
            raise wrong(
                "inventory-value",
                f"a price per {self.per} is borne by the nodes that have one",
                "per",
                hint="say which by nodes",
            )
        return self


class Other(Term):
    service: Name
    price: Signed
    every: EveryOrOnce = "month"

    @model_validator(mode="after")
    def sound(self) -> Self:
        named_alone(self)
        if self.every == "once" and not self.until:
            hint = "add until: its last day, perhaps that of from"
            raise wrong(
                "inventory-value", "what is paid once is spread over its term, which has no end", "every", hint=hint
            )
        return self


class Inventory(Clause):
    may_be_empty: ClassVar[frozenset[str]] = frozenset({
        "assets", "leases", "maintenance", "staff", "software", "other", "facility",
    })  # fmt: skip
    inventory: Name = ""
    currency: Currency = ""
    lists: Names = ()
    assets: tuple[Asset, ...] = ()
    leases: tuple[Lease, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()
    staff: tuple[Staff, ...] = ()
    software: tuple[Software, ...] = ()
    other: tuple[Other, ...] = ()
    facility: Any = Field(default=None)

    @model_validator(mode="after")
    def each_once(self) -> Self:
        """An id names one thing of the whole inventory: lines are told apart by it."""
        seen: dict[str, str] = {}
        for key in ("assets", "leases", "maintenance", "staff", "software", "other"):
            for number, one in enumerate(getattr(self, key)):
                if one.id in seen:
                    message = f"the id {shown(one.id)} is given twice, first in {seen[one.id]}"
                    raise wrong("inventory-twice", message, key, number, "id", hint="give each its own id")
                seen[one.id] = key
        return self
