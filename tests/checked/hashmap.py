"""CloudKitty's hashmap rules as price lists: a group is a pool of its own component, so that several count the same hours; a rate is a percentage."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.checked import world
from tests.checked.hashmap_cases import CASES, OTHERS, Case, Fields, Instances, Level, Mapped
from tests.checked.tally import Outcome

NEAR = Decimal("1e-9")
HOUR = {"start": "2014-10-01 00:00", "end": "2014-10-01 01:00", "meter": "node"}
LISTED = "a price list has no numeric ranges: the values that reach a level are listed in it"
ORDERED = "of a price list the first price that matches counts: it stands in order, from the highest on"


def pools(case: Case) -> dict[str, Any]:
    """Nobody's price is nothing, told by the last price of a list."""
    found = {}
    for group in {rule.group for rule in case.rules}:
        for kind, prices in (("price", mapped(case, group)), ("level", levels(case, group))):
            if prices:
                name = f"{group} {kind}"
                card = {"meter": "node", "method": "rate_card", "component": name, "prices": [*prices, {"price": 0}]}
                found[name] = {"usage": {"node": "*"}} | card
    return found


def mapped(case: Case, group: str) -> list[dict[str, Any]]:
    """A tenant's own first, then from the highest on."""
    own = [rule for rule in case.rules if isinstance(rule, Mapped) and rule.group == group and not rule.rate]
    own.sort(key=lambda rule: ("tenant" not in (rule.when or {}), -Decimal(rule.cost)))
    return [{"price": rule.cost} | when(rule.when) for rule in own]


def when(fields: Fields | None) -> dict[str, Any]:
    return {"when": dict(fields)} if fields else {}


def levels(case: Case, group: str) -> list[dict[str, Any]]:
    """Each with the values among the records that reach it, from the highest level on; of one level the first rule counts."""
    own = [rule for rule in case.rules if isinstance(rule, Level) and rule.group == group]
    own.sort(key=lambda rule: (-rule.level, "tenant" not in (rule.when or {})))
    reached = [
        (rule, [one.fields[rule.field] for one in case.records if int(one.fields.get(rule.field, -1)) >= rule.level])
        for rule in own
    ]
    return [
        {"price": rule.cost, "when": {rule.field: values} | dict(rule.when or {})} for rule, values in reached if values
    ]


def percents(case: Case) -> list[dict[str, Any]]:
    return [
        {"pool": name, "percent": str(100 * (Decimal(rule.cost) - 1)), "sponsor": "house", "why": "rate"}
        | when(rule.when)
        for rule in case.rules
        if isinstance(rule, Mapped) and rule.rate
        for name in pools(case)
        if name.startswith(rule.group)
    ]


def facts(case: Case) -> world.Facts:
    """A team per record, to read off what each costs."""
    names = [f"record{number}" for number in range(1, len(case.records) + 1)]
    told = list(zip(names, case.records, strict=True))
    return world.Facts(
        world.policy("2014-10", [*names, "house"], pools(case), adjustments=percents(case)),
        usage=[HOUR | {"workload": name, "allocated": one.quantity} for name, one in told],
        workloads=[{"workload": name, "labels": labels(name, one)} for name, one in told],
    )


def labels(name: str, one: Instances) -> str:
    return " ".join(f"{key}={value}" for key, value in {"team": name, **one.fields}.items())


def outcome(case: Case) -> Outcome:
    if any(isinstance(rule, Level) and rule.field == "quantity" for rule in case.rules):
        why = "not a feature: a price depends on labels and time, never on how much one record has"
        return Outcome(case.test, case.about, len(case.prices), 0, why)
    owed = world.by_team(world.plan_of(facts(case)))
    equal = [abs(owed[f"record{number}"] - Decimal(price)) <= NEAR for number, price in enumerate(case.prices, 1)]
    return Outcome(case.test, case.about, len(equal), sum(equal), "; ".join(reasons(case)))


def reasons(case: Case) -> Iterator[str]:
    if any(isinstance(rule, Level) for rule in case.rules):
        yield LISTED
    anybodys = [rule.group for rule in case.rules if isinstance(rule, Mapped) and not (rule.rate or rule.when)]
    if len(anybodys) > len(set(anybodys)):
        yield ORDERED
    if any(isinstance(rule, Mapped) and rule.rate for rule in case.rules):
        yield "a rate is an adjustment here, which names who gains or pays by it"


def outcomes() -> list[Outcome]:
    why = "they make, list, change and delete rules through an API and state no price; rules are a file here, with versions and a diff"
    return [
        *map(outcome, CASES),
        Outcome(f"{OTHERS} other tests", "Groups, services, fields, mappings and thresholds as records.", why=why),
    ]
