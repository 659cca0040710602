"""What finance needs to know: the accounts of the journal, and what statements say beside their figures."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, PlainValidator, WithJsonSchema

from apportion.model.rows import REASONS
from apportion.model.times import Period
from apportion.policy.clause import Clause, nearest, shown, wrong
from apportion.policy.fields import TEXT_SCHEMA, Name, Text, read_text
from apportion.policy.match import LONGEST_GLOB, fill, labels_in

OTHERWISE, CLEARING = "otherwise", "clearing"
PLACEHOLDERS = ("number", "period", "year")
DIGITS = 6


def read_clearing(given: Any) -> Any:
    """A single account is that of every bill."""
    return {OTHERWISE: given} if isinstance(given, str) else given


def bounded_globs(by_bill: dict[str, str]) -> dict[str, str]:
    for glob in by_bill:
        if len(glob) > LONGEST_GLOB:
            raise wrong("policy-value", f"a glob has at most {LONGEST_GLOB} characters", glob, key=True)
    return by_bill


def read_reason(given: Any) -> str:
    if given not in REASONS:
        raise wrong("policy-value", f"there is no reason {shown(given)}", hint=nearest(given, REASONS))
    return str(given)


def read_number_template(given: Any) -> str:
    template = read_text(given)
    try:
        named = labels_in(template)
    except ValueError:
        raise wrong("policy-template", f"{template!r} has a brace without its other half", hint=KNOWN) from None
    for name in named:
        if name not in PLACEHOLDERS:
            raise wrong("policy-template", f"there is no {{{name}}}", hint=nearest(name, PLACEHOLDERS))
    if "number" not in named:
        raise wrong("policy-template", "an invoice number without {number} would be the same for all", hint=KNOWN)
    return template


KNOWN = "known: " + ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
CLEARING_SCHEMA = {"anyOf": [TEXT_SCHEMA, {"type": "object", "additionalProperties": TEXT_SCHEMA}]}
Clearing = Annotated[
    dict[Text, Name],
    BeforeValidator(read_clearing),
    AfterValidator(bounded_globs),
    WithJsonSchema(CLEARING_SCHEMA),
]
ReasonName = Annotated[str, PlainValidator(read_reason), WithJsonSchema({"type": "string", "enum": list(REASONS)})]
NumberTemplate = Annotated[str, PlainValidator(read_number_template), WithJsonSchema(TEXT_SCHEMA)]


class Central(Clause):
    """Where that goes which nobody carries."""

    cost_centre: Name = ""
    account: Name = "central"


class Journal(Clause):
    """Which account and cost centre a line has. Whatever is not mapped stands for itself, so that every closed month can be booked."""

    clearing: Clearing = {OTHERWISE: CLEARING}
    central: Central = Central()
    accounts: dict[Name, Name] = {}
    reasons: dict[ReasonName, Name] = {}
    cost_centres: dict[Name, Name] = {}
    negative: Literal["turned", "kept"] = "turned"


class Statements(Clause):
    number: NumberTemplate = "{number}"
    issuer: Text = ""
    dispute: Text = ""

    def numbered(self, number: int, period: Period) -> str:
        """The invoice number that people see."""
        labels = {"number": f"{number:0{DIGITS}d}", "period": str(period), "year": f"{period.year:04d}"}
        filled = fill(self.number, labels)
        assert filled is not None  # each placeholder has a value
        return filled
