"""Answers of GetCostAndUsage. Amounts are decimal texts and stay exact; a total without groups is one group without keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from apportion.errors import InputError
from apportion.model.numbers import parse_decimal
from apportion.model.times import Interval, day_start, parse_instant

UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Group:
    keys: tuple[str, ...]
    amounts: Mapping[str, Decimal]
    unit: str


@dataclass(frozen=True, slots=True)
class Result:
    """A day or a month."""

    span: Interval
    groups: tuple[Group, ...]
    estimated: bool


@dataclass(frozen=True, slots=True)
class Answer:
    results: tuple[Result, ...]
    asked: tuple[str, ...]  # the groups that the answer names, () where it names none


def answer_of(body: Any, where: str) -> Answer:
    try:
        results = tuple(result_of(one) for one in body["ResultsByTime"])
        asked = tuple(named(one) for one in body.get("GroupDefinitions", ()))
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        said = error.message if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(
            "bad-response",
            f"this is no answer of GetCostAndUsage ({said})",
            where=where,
            hint="expected what `aws ce get-cost-and-usage` prints",
        ) from error
    return Answer(results, asked)


def named(group: Mapping[str, str]) -> str:
    kind, key = group.get("Type", "DIMENSION"), group["Key"]
    return {"TAG": f"tag:{key}", "COST_CATEGORY": f"cost_category:{key}"}.get(kind, key)


def result_of(found: Mapping[str, Any]) -> Result:
    span = Interval(second(found["TimePeriod"]["Start"]), second(found["TimePeriod"]["End"]))
    groups = [group_of(tuple(one["Keys"]), one["Metrics"]) for one in found.get("Groups") or ()]
    if not groups and found.get("Total"):
        groups = [group_of((), found["Total"])]
    return Result(span, tuple(groups), bool(found.get("Estimated", False)))


def group_of(keys: tuple[str, ...], metrics: Mapping[str, Mapping[str, str]]) -> Group:
    amounts = {name: parse_decimal(str(metric["Amount"])) for name, metric in metrics.items()}
    units = {metric["Unit"] for name, metric in metrics.items() if name.endswith("Cost")}
    if len(units) != 1:
        raise ValueError(f"costs are in {', '.join(sorted(units)) or 'no currency'}")
    return Group(keys, amounts, units.pop())


def second(text: str) -> int:
    if len(text) == 10:
        return day_start(date.fromisoformat(text), UTC)
    return int(parse_instant(text, UTC))
