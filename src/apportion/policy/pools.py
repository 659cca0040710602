"""A pool: which cost lines are shared, over which usage, by which rule."""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from apportion.model.meters import METERS
from apportion.policy.clause import Clause, nearest, wrong
from apportion.policy.fields import SELECTOR_SCHEMA, Count, Labels, Name, Names, NotNegative, Share, Text, YesNo
from apportion.policy.match import Glob, find_label
from apportion.policy.methods import LEVELS_ONLY, NEEDS, ONLY_WITH, PERIOD_SLOT, VALUED
from apportion.policy.pool_parts import (
    DEFAULT_IDLE,
    Credit,
    Driver,
    DriverWord,
    Free,
    Idle,
    Meters,
    Method,
    Origin,
    Over,
    Price,
    Serves,
    Shares,
    Times,
)
from apportion.policy.rules import Mode

Slot = Literal["period", "day", "hour"]
Basis = Literal["effective", "billed", "list", "net"]
Costs = Annotated[Labels, WithJsonSchema({"anyOf": [{"const": "otherwise"}, SELECTOR_SCHEMA]})]
glob = lru_cache(maxsize=4096)(Glob)


class Pool(Clause):
    """`otherwise` stands for `costs: otherwise`; `meter` holds weights per natural unit and is empty where there is none."""

    hidden: ClassVar[frozenset[str]] = frozenset({"otherwise"})

    costs: Costs | None = None
    otherwise: bool = False
    from_: Origin | None = Field(None, alias="from")
    usage: Labels | None = None
    meter: Meters = {}
    driver: DriverWord = Field(default_factory=lambda: Driver.model_validate("allocated"))
    method: Method
    by: Literal["cost"] | None = None
    over: Over = "all"
    scope: Literal["pool", "resource"] = "pool"
    slot: Slot = "hour"
    idle_slot: Slot = "period"
    weights: dict[Text, dict[Text, NotNegative]] = {}
    idle: Idle = DEFAULT_IDLE
    credit: tuple[Credit, ...] = ()
    prices: tuple[Price, ...] = ()
    free: Free | None = None
    shares: Shares = {}
    members: Names = ()
    k: Count = 1
    weighted: YesNo = False
    times: tuple[Times, ...] = ()
    burst_price: NotNegative | None = None
    lend_credit: YesNo = True
    static_share: Share | None = None
    serves: Serves = {}
    component: Name | None = None
    basis: Basis | None = None
    mode: Mode = "chargeback"
    on_zero: Literal["unallocated", "even", "error"] = "unallocated"

    @property
    def from_owner(self) -> str | None:
        """Whose own charges are shared, with `from: {owner: NAME}`."""
        return self.from_.owner if self.from_ else None

    def weight(self, labels: Mapping[str, str]) -> Fraction:
        """The product over the keys. A value that is listed as it is counts before a glob, an earlier glob before a later one, and none is 1."""
        product = Fraction(1)
        for key, by_value in self.weights.items():
            value = find_label(labels, key)
            if value is None:
                continue
            found = value if value in by_value else next((text for text in by_value if glob(text).matches(value)), None)
            product *= by_value[found] if found is not None else 1
        return product

    def weight_at(self, start: datetime) -> Fraction:
        """Of the hour that begins then, in local time."""
        return next((each.weight for each in self.times if each.covers(start)), Fraction(1))

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        if isinstance(given.get("costs"), str):
            if given["costs"] != "otherwise":
                raise wrong(
                    "policy-value",
                    "expected labels, or the word `otherwise`",
                    "costs",
                    hint=nearest(given["costs"], ["otherwise"]),
                )
            given = {key: value for key, value in given.items() if key != "costs"} | {"otherwise": True}
        method = given["method"] if "method" in given else cls.usual_method(given)
        if "by" in given and method != "by_cost":
            raise wrong(
                "policy-value", "a pool has a method or a `by`, not both", "by", hint="remove one of them", key=True
            )
        usual_slot = "period" if method in PERIOD_SLOT else "hour"
        return {"slot": usual_slot} | given | {"method": method}

    @classmethod
    def usual_method(cls, given: dict[str, Any]) -> str:
        if "by" in given:
            return "by_cost"
        if "meter" in given:
            return "capacity_rate"
        hint = "add `by: cost`" if "from" in given else "add a method (even, fixed, ...), a meter, or `by: cost`"
        raise wrong("policy-missing-key", "a pool says how it is shared", hint=hint)

    @model_validator(mode="after")
    def fits_its_method(self) -> Self:
        for key in NEEDS.get(self.method, ()):
            if getattr(self, key) in (None, (), {}):
                raise wrong("policy-missing-key", f"the method {self.method} needs {key}", hint=f"add {key}: ...")
        for key, methods in ONLY_WITH.items():
            if ("from_" if key == "from" else key) in self.model_fields_set and self.method not in methods:
                meant = "`by: cost`" if methods == ("by_cost",) else f"the method {methods[0]}"
                raise wrong(
                    "policy-value",
                    f"{key} means something only with {meant}",
                    key,
                    hint=f"remove {key}, or use {meant}",
                    key=True,
                )
        if self.costs is None and not self.otherwise and self.from_ is None and self.method != "rate_card":
            raise wrong(
                "policy-missing-key",
                "a pool says whose money it shares",
                hint="add costs: {ServiceName: ...}, or costs: otherwise",
            )
        return self

    @model_validator(mode="after")
    def slots_and_meters_fit_the_method(self) -> Self:
        if self.method in VALUED and self.slot == "period":
            raise wrong(
                "policy-value",
                f"{self.method} tells one slot from another, and a period is one",
                "slot",
                hint="write slot: hour, or slot: day",
            )
        if self.method == "two_part" and self.scope == "resource":
            raise wrong(
                "policy-value",
                "reservations are those of a whole pool, so two_part has one price for it",
                "scope",
                hint="remove scope, or make one pool per kind of resource",
            )
        flow = next((name for name in self.meter if METERS[name].flow), None)
        level = next((name for name in self.meter if not METERS[name].flow), None)
        if self.method == "energy_two_part" and not (flow and level):
            raise wrong(
                "policy-value",
                "energy_two_part shares one part by what was held and the rest by what was burnt",
                "meter",
                hint="name one of each, as in meter: {gpu: 1, energy: 1}",
            )
        if flow and level and self.method != "energy_two_part":
            raise wrong(
                "policy-value",
                "levels (held for a time) and flows (moved or burnt) cannot be added up in one pool",
                "meter",
                hint="make two pools",
            )
        if flow and self.method in LEVELS_ONLY:
            raise wrong(
                "policy-value",
                f"{self.method} counts what is held for a time, and {flow} flows",
                "meter",
                hint="name levels, such as gpu, cpu or memory, or use another method",
            )
        return self

    @model_validator(mode="after")
    def prices_fit_the_meter(self) -> Self:
        flow = any(METERS[name].flow for name in self.meter)
        for step, price in enumerate(self.prices):
            if (price.per == "unit") != flow:
                fitting = "unit" if flow else "hour"
                raise wrong(
                    "policy-value",
                    f"a price of {'/'.join(self.meter)} is per {fitting}",
                    "prices",
                    step,
                    "per",
                    hint=f"write per: {fitting}",
                )
        return self
