"""The kinds of value in a policy: names, numbers, days, globs, templates. Each reads the text that was written, exactly."""

import re
from collections.abc import Callable
from datetime import date, time
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from apportion.errors import InputError
from apportion.model.meters import METERS
from apportion.model.numbers import parse_fraction
from apportion.model.times import Period, parse_period
from apportion.policy.clause import nearest, shown, wrong
from apportion.policy.match import Selector, SelectorMistake, literal, parse_selector

TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
FIRST_YEAR, LAST_YEAR = 1970, 2999  # a day before and after always exists
LONGEST_NAME = 200
YES_NO = {"true": True, "false": False}

# Editors read plain YAML, where 4711 is a number and true is a truth value; here both are the text that was written.
TEXT_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean"]}
NUMBER_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^ *[+-]?[0-9.]+([eE][+-]?[0-9]+)?(/[0-9.]+)? *$"}]
}
DAY_SCHEMA: dict[str, Any] = {"type": "string", "format": "date", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
MONTH_SCHEMA: dict[str, Any] = {"type": "string", "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])$"}
GLOBS_SCHEMA: dict[str, Any] = {"anyOf": [TEXT_SCHEMA, {"type": "array", "items": TEXT_SCHEMA, "minItems": 1}]}
NOT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"not": GLOBS_SCHEMA},
    "required": ["not"],
    "additionalProperties": False,
}
CONDITION_SCHEMA: dict[str, Any] = {
    "anyOf": [TEXT_SCHEMA, NOT_SCHEMA, {"type": "array", "items": {"anyOf": [TEXT_SCHEMA, NOT_SCHEMA]}, "minItems": 1}]
}
SELECTOR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": 'labels and the globs that their values must match; a list means or, {not: "x*"} negates, several keys mean and',
    "properties": {"not": {"type": ["object", "array"]}},
    "additionalProperties": CONDITION_SCHEMA,
}


def read_text(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise wrong("policy-type", f"expected a text, found {shown(given)}")
    return given


def read_name(given: Any) -> str:
    """One line, no blanks around it, and not a system owner's."""
    name = read_text(given)
    if name != name.strip() or "\n" in name or "\t" in name or len(name) > LONGEST_NAME:
        raise wrong(
            "policy-value",
            f"{shown(name)} is not a name: one line, at most {LONGEST_NAME} characters, no blanks around it",
        )
    if name.startswith("_"):
        raise wrong(
            "policy-value",
            f"{shown(name)} begins with '_', as only the system's own names do",
            hint="choose another name",
        )
    return name


def read_number(given: Any) -> Fraction:
    if not isinstance(given, str):
        raise wrong("policy-type", f"expected a number, found {shown(given)}")
    try:
        return parse_fraction(given)
    except InputError as error:
        raise wrong("policy-type", f"expected a number: {error.message}", hint=error.hint) from None


def bounded(low: int | None = None, high: int | None = None, *, above: int | None = None) -> Callable[[Any], Fraction]:
    """A reader of numbers from `low` to `high`, or greater than `above`."""

    def read(given: Any) -> Fraction:
        number = read_number(given)
        if low is not None and number < low:
            raise wrong("policy-value", f"{given} is less than {low}", hint=f"the least is {low}")
        if above is not None and number <= above:
            raise wrong("policy-value", f"{given} is not greater than {above}")
        if high is not None and number > high:
            raise wrong("policy-value", f"{given} is more than {high}", hint=f"the most is {high}")
        return number

    return read


def read_day(given: Any) -> date:
    if not isinstance(given, str) or not DAY.fullmatch(given):
        raise wrong("policy-type", f"expected a day, found {shown(given)}", hint="write it as 2026-10-01")
    try:
        day = date.fromisoformat(given)
    except ValueError:
        raise wrong(
            "policy-value", f"there is no day {given}", hint="check the month and the day of the month"
        ) from None
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise wrong("policy-value", f"the day {given} is outside {FIRST_YEAR} to {LAST_YEAR}")
    return day


def read_month(given: Any) -> Period:
    try:
        month = parse_period(given if isinstance(given, str) else "")
    except InputError as error:
        raise wrong("policy-type", f"expected a month, found {shown(given)}", hint=error.hint) from None
    if not FIRST_YEAR <= month.year <= LAST_YEAR:
        raise wrong("policy-value", f"the month {given} is outside {FIRST_YEAR} to {LAST_YEAR}")
    return month


def read_time(given: Any) -> time:
    if not isinstance(given, str) or not TIME.fullmatch(given):
        raise wrong(
            "policy-type", f"expected a time of day, found {shown(given)}", hint="write it as 08:00, up to 23:59"
        )
    return time.fromisoformat(given)


def read_count(given: Any) -> int:
    number = bounded(1)(given)
    if number.denominator != 1:
        raise wrong("policy-value", f"{given} is not a whole number")
    return int(number)


def read_yes_no(given: Any) -> bool:
    if not isinstance(given, str) or given not in YES_NO:
        raise wrong("policy-type", f"expected true or false, found {shown(given)}")
    return YES_NO[given]


def read_meter(given: Any) -> str:
    if not isinstance(given, str):
        raise wrong("policy-type", f"expected a meter's name, found {shown(given)}", hint=nearest("", METERS))
    if given not in METERS:
        raise wrong("policy-reference", f"there is no meter {shown(given)}", hint=nearest(given, METERS))
    return given


def read_selector(given: Any) -> Selector:
    try:
        return parse_selector(given)
    except SelectorMistake as mistake:
        raise wrong("policy-type", mistake.message, *mistake.path) from None


def read_template(given: Any) -> str:
    template = read_text(given)
    try:
        name = literal(template)
    except ValueError as error:
        raise wrong(
            "policy-template", str(error), hint="write {{ and }} for braces that stand for themselves"
        ) from None
    if name is not None:
        read_name(name)
    elif template.startswith("_"):
        raise wrong(
            "policy-value",
            f"{shown(template)} begins with '_', as only the system's own names do",
            hint="choose another name",
        )
    return template


Text = Annotated[str, PlainValidator(read_text), WithJsonSchema(TEXT_SCHEMA)]
Name = Annotated[str, PlainValidator(read_name), WithJsonSchema(TEXT_SCHEMA)]
MeterName = Annotated[str, PlainValidator(read_meter), WithJsonSchema({"type": "string", "enum": sorted(METERS)})]
Template = Annotated[str, PlainValidator(read_template), WithJsonSchema(TEXT_SCHEMA)]
Day = Annotated[date, PlainValidator(read_day), WithJsonSchema(DAY_SCHEMA)]
Month = Annotated[Period, PlainValidator(read_month), WithJsonSchema(MONTH_SCHEMA)]
TimeOfDay = Annotated[
    time, PlainValidator(read_time), WithJsonSchema({"type": "string", "pattern": f"^{TIME.pattern}$"})
]
Count = Annotated[int, PlainValidator(read_count), WithJsonSchema({"type": "integer", "minimum": 1})]
YesNo = Annotated[bool, PlainValidator(read_yes_no), WithJsonSchema({"type": "boolean"})]
Labels = Annotated[Selector, PlainValidator(read_selector), WithJsonSchema(SELECTOR_SCHEMA)]
Number = Annotated[Fraction, PlainValidator(read_number), WithJsonSchema(NUMBER_SCHEMA)]
NotNegative = Annotated[Fraction, PlainValidator(bounded(0)), WithJsonSchema(NUMBER_SCHEMA)]
Positive = Annotated[Fraction, PlainValidator(bounded(above=0)), WithJsonSchema(NUMBER_SCHEMA)]
Percent = Annotated[Fraction, PlainValidator(bounded(0, 100)), WithJsonSchema(NUMBER_SCHEMA)]
Share = Annotated[Fraction, PlainValidator(bounded(0, 1)), WithJsonSchema(NUMBER_SCHEMA)]
Change = Annotated[Fraction, PlainValidator(bounded(-100)), WithJsonSchema(NUMBER_SCHEMA)]


def once(names: tuple[str, ...]) -> tuple[str, ...]:
    for step, name in enumerate(names):
        if name in names[:step]:
            raise wrong("policy-value", f"{name!r} is listed twice", step, hint="keep one of them")
    return names


Names = Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(once)]


def in_order(first: date | None, last: date | None) -> None:
    """`until` is the last day, so one day is `from` and `until` alike."""
    if first is not None and last is not None and last < first:
        raise wrong(
            "policy-value",
            f"until {last} lies before from {first}",
            "until",
            hint="until is the last day on which it holds",
        )
