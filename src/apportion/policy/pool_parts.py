"""The parts of a pool: driver, idle rules, meters, prices, free amounts, credits."""

from datetime import datetime, time
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from apportion.model.meters import METERS
from apportion.policy.clause import Clause, deeper, nearest, shown, wrong
from apportion.policy.fields import (
    NUMBER_SCHEMA,
    TEXT_SCHEMA,
    Labels,
    MeterName,
    Name,
    NotNegative,
    Percent,
    Positive,
    Share,
    TimeOfDay,
    bounded,
    once,
    read_name,
)
from apportion.policy.methods import METHODS
from apportion.policy.rules import Dated

Cause = Literal["unsold", "reserved", "held", "down"]
IdleRule = Literal["central", "proportional", "even", "holder"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
IDLE_RULES: tuple[IdleRule, ...] = get_args(IdleRule)
HELD_BY_SOMEONE = ("reserved", "held")
DEFAULT_IDLE: dict[Cause, IdleRule] = {"unsold": "central", "reserved": "central", "held": "holder", "down": "central"}
IDLE_WORDS: dict[str, dict[Cause, IdleRule]] = {
    "central": dict.fromkeys(CAUSES, "central"),
    "proportional": dict.fromkeys(CAUSES, "proportional"),
    "even": dict.fromkeys(CAUSES, "even"),
    "reservation": {"unsold": "central", "reserved": "holder", "held": "holder", "down": "central"},
}
SATURDAY = 5
DRIVERS = ("allocated", "used", "max")


class Driver(Clause):
    """What of a usage row is counted. `alpha` is the weight of the allocated part, 1 - alpha that of the used part."""

    hidden: ClassVar[frozenset[str]] = frozenset({"kind"})

    kind: Literal["allocated", "used", "max", "blend"] = "allocated"
    alpha: Share = Field(alias="blend")

    @classmethod
    def of_word(cls, word: str) -> dict[str, Any]:
        if word == "blend":
            raise wrong("policy-type", "a blend says which part of it is allocated", hint="write {blend: 0.5}")
        if word not in DRIVERS:
            raise wrong(
                "policy-value", f"there is no driver {shown(word)}", hint=nearest(word, (*DRIVERS, "{blend: 0.5}"))
            )
        return {"kind": word, "blend": "0" if word == "used" else "1"}

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        return given | {"kind": "blend"}


class Origin(Clause):
    owner: Name


class Credit(Clause):
    """Percent of the charges of workloads with that outcome, of at most the last `max_hours` of each interval."""

    outcome: Name
    percent: Percent
    max_hours: Positive | None = None
    paid_by: Name


class Price(Dated):
    """Money per hour of one natural unit of a level, or per natural unit of a flow; the first price that matches counts."""

    when: Labels | None = None
    per: Literal["hour", "unit"] = "hour"
    price: NotNegative


class Times(Clause):
    """What an hour that begins at such a local time counts; the first that matches, else 1. Without `until` it goes on till midnight."""

    days: Literal["all", "weekdays", "weekends"] = "all"
    from_: TimeOfDay = Field(time(0), alias="from")
    until: TimeOfDay | None = None
    weight: NotNegative

    @model_validator(mode="after")
    def ends_after_it_begins(self) -> Self:
        if self.until is not None and self.until <= self.from_:
            raise wrong(
                "policy-value", "until lies before from", "until", hint="write two: one until midnight, one from 00:00"
            )
        return self

    def covers(self, start: datetime) -> bool:
        weekend = start.weekday() >= SATURDAY
        return (
            (self.days == "all" or weekend == (self.days == "weekends"))
            and self.from_ <= start.time()
            and (self.until is None or start.time() < self.until)
        )


def read_free_amount(given: Any) -> Fraction:
    return bounded(above=0)(given.strip().removesuffix("h") if isinstance(given, str) else given)


class Free(Clause):
    """What each user, project or team has free in a period, paid by someone else: hours of a natural unit, or units of a flow."""

    per: Literal["user", "project", "team"]
    amount: Annotated[Fraction, PlainValidator(read_free_amount), WithJsonSchema({"type": ["string", "number"]})]
    paid_by: Name


def read_method(given: Any) -> str:
    if given not in METHODS:
        raise wrong("policy-value", f"there is no method {shown(given)}", hint=nearest(given, METHODS))
    return str(given)


def read_meters(given: Any) -> Any:
    return {given: "1"} if isinstance(given, str) else given


def addable(meter: dict[str, Fraction]) -> dict[str, Fraction]:
    if not any(meter.values()):
        raise wrong("policy-value", "no meter has a weight greater than 0")
    return meter


def read_idle(given: Any) -> Any:
    if isinstance(given, str) and given not in IDLE_WORDS:
        words = sorted(IDLE_WORDS)
        hint = (
            nearest(given, words)
            if given != "holder"
            else "write {reserved: holder, held: holder}: only those have a holder"
        )
        raise wrong(
            "policy-value",
            f"expected one of {', '.join(words)}, or a rule for each cause; found {shown(given)}",
            hint=hint,
        )
    if isinstance(given, str):
        return IDLE_WORDS[given]
    return DEFAULT_IDLE | given if isinstance(given, dict) else given


def held_by_someone(idle: dict[Cause, IdleRule]) -> dict[Cause, IdleRule]:
    for cause, rule in idle.items():
        if rule == "holder" and cause not in HELD_BY_SOMEONE:
            raise wrong(
                "policy-value",
                f"{cause} capacity has no holder",
                cause,
                hint="holder is for reserved and held; use central, proportional or even",
            )
    return idle


def at_most_all(shares: dict[str, Fraction]) -> dict[str, Fraction]:
    whole = Fraction(0)
    for name, percent in shares.items():
        whole += percent
        if whole > 100:
            raise wrong(
                "policy-value",
                f"the shares come to more than 100 % with {name!r}",
                name,
                hint="shares are percents of the whole pool",
            )
    if not whole:
        raise wrong("policy-value", "the shares come to 0 %", hint="shares are percents of the whole pool")
    return shares


def some_weight(serves: dict[str, Fraction]) -> dict[str, Fraction]:
    if not any(serves.values()):
        raise wrong("policy-value", "nobody is served", hint="give some pool a part greater than 0")
    return serves


def read_over(given: Any) -> Any:
    if given == "all":
        return given
    if not isinstance(given, list) or not given:
        raise wrong(
            "policy-type",
            f"expected `all` or a list of teams, found {shown(given)}",
            hint="write over: all, or over: [vision, speech]",
        )
    for step, name in enumerate(given):
        try:
            read_name(name)
        except PydanticCustomError as error:
            raise deeper(error, step) from None
    return once(tuple(given))


METER_WORD = {"type": "string", "enum": sorted(METERS)}
METERS_SCHEMA = {
    "anyOf": [
        METER_WORD,
        {"type": "object", "propertyNames": METER_WORD, "additionalProperties": NUMBER_SCHEMA, "minProperties": 1},
    ]
}
IDLE_SCHEMA = {
    "anyOf": [
        {"type": "string", "enum": sorted(IDLE_WORDS)},
        {
            "type": "object",
            "properties": {
                cause: {
                    "type": "string",
                    "enum": [rule for rule in IDLE_RULES if rule != "holder" or cause in HELD_BY_SOMEONE],
                }
                for cause in CAUSES
            },
            "additionalProperties": False,
        },
    ]
}
DRIVER_SCHEMA = {
    "anyOf": [
        {"type": "string", "enum": list(DRIVERS)},
        {
            "type": "object",
            "properties": {"blend": NUMBER_SCHEMA},
            "required": ["blend"],
            "additionalProperties": False,
        },
    ]
}
OVER_SCHEMA = {"anyOf": [{"const": "all"}, {"type": "array", "items": TEXT_SCHEMA, "minItems": 1}]}

Method = Annotated[str, PlainValidator(read_method), WithJsonSchema({"type": "string", "enum": list(METHODS)})]
Meters = Annotated[
    dict[MeterName, NotNegative], BeforeValidator(read_meters), AfterValidator(addable), WithJsonSchema(METERS_SCHEMA)
]
Idle = Annotated[
    dict[Cause, IdleRule], BeforeValidator(read_idle), AfterValidator(held_by_someone), WithJsonSchema(IDLE_SCHEMA)
]
Shares = Annotated[dict[Name, Percent], AfterValidator(at_most_all)]
Serves = Annotated[dict[Name, NotNegative], AfterValidator(some_weight)]
Over = Annotated[tuple[str, ...] | Literal["all"], PlainValidator(read_over), WithJsonSchema(OVER_SCHEMA)]
DriverWord = Annotated[Driver, WithJsonSchema(DRIVER_SCHEMA)]
