"""The policy: what was agreed, as one frozen document that knows where each of its rules is written."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, PrivateAttr, WithJsonSchema

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.times import zone_named
from apportion.policy.clause import Clause, nearest, shown, wrong
from apportion.policy.fields import Day, MeterName, Name, NotNegative
from apportion.policy.finance import Journal, Statements
from apportion.policy.pools import Basis, Pool
from apportion.policy.quotas import Quota
from apportion.policy.rules import (
    Adjustment,
    Closing,
    FacetRule,
    FindingRules,
    Fx,
    NodeRule,
    OwnerRule,
    Preview,
    ReservationRule,
    Team,
)
from apportion.policy.tree import Node, find

SECTIONS = (
    "teams",
    "carried_by",
    "decides",
    "owners",
    "facets",
    "sizes",
    "nodes",
    "reservations",
    "pools",
    "adjustments",
    "quotas",
)
OF_THIS_MACHINE = ("localtime", "posixrules", "Factory")


def read_currency(given: Any) -> str:
    if not isinstance(given, str) or given not in MINOR_DIGITS:
        raise wrong(
            "policy-value",
            f"there is no currency {shown(given)}",
            hint=nearest(given, MINOR_DIGITS) + "; ISO 4217 codes",
        )
    return given


def read_time_zone(given: Any) -> str:
    if isinstance(given, str) and given not in OF_THIS_MACHINE and _zone_exists(given):
        return given
    close = nearest(given, available_timezones().difference(OF_THIS_MACHINE)).partition(" known:")[0]
    hint = close if close.startswith("did") else "use an IANA name such as Europe/Berlin"
    raise wrong("policy-value", f"there is no time zone {shown(given)}", hint=hint)


def _zone_exists(name: str) -> bool:
    try:
        zone_named(name)
    except InputError:
        return False
    return True


def told_apart(sizes: dict[str, Fraction]) -> dict[str, Fraction]:
    """Sizes, the least first; two that begin alike are one."""
    for name, least in sizes.items():
        twin = next((other for other, given in sizes.items() if other != name and given == least), None)
        if twin is not None:
            raise wrong(
                "policy-value", f"{twin!r} and {name!r} begin at the same number", name, hint="keep one of them"
            )
    return dict(sorted(sizes.items(), key=lambda pair: pair[1]))


Currency = Annotated[
    str, PlainValidator(read_currency), WithJsonSchema({"type": "string", "enum": sorted(MINOR_DIGITS)})
]
TimeZone = Annotated[str, PlainValidator(read_time_zone), WithJsonSchema({"type": "string"})]
Witnesses = Annotated[
    tuple[Name, ...],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Sizes = Annotated[dict[Name, NotNegative], AfterValidator(told_apart)]
Carried = Literal["_idle", "_unallocated", "_residual", "showback"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that a policy was read from."""

    text: str
    file: str
    root: Node
    version: str
    warnings: tuple[str, ...] = ()


class Policy(Clause):
    """Made by `load_policy`, which also gives it its origin."""

    may_be_empty: ClassVar[frozenset[str]] = frozenset(SECTIONS)

    name: Name = Field(alias="policy")
    effective: Day
    currency: Currency
    time_zone: TimeZone
    basis: Basis = "effective"
    fx: Fx | None = None
    close: Closing | None = None
    findings: FindingRules | None = None
    preview: Preview | None = None
    statements: Statements = Statements()
    journal: Journal = Journal()
    teams: dict[Name, Team] = {}
    carried_by: dict[Carried, Name] = {}
    decides: dict[MeterName, Witnesses] = {}
    owners: tuple[OwnerRule, ...] = ()
    facets: tuple[FacetRule, ...] = ()
    sizes: Sizes = {}
    nodes: tuple[NodeRule, ...] = ()
    reservations: tuple[ReservationRule, ...] = ()
    pools: dict[Name, Pool] = {}
    adjustments: tuple[Adjustment, ...] = ()
    quotas: tuple[Quota, ...] = ()
    _origin: Origin = PrivateAttr()

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        if isinstance(given.get("teams"), dict):  # a team may be declared by its name alone
            given["teams"] = {name: {} if team is None else team for name, team in given["teams"].items()}
        return given

    @property
    def version(self) -> str:
        """SHA-256 of what the policy says, in hexadecimal."""
        return self._origin.version

    @property
    def text(self) -> str:
        return self._origin.text

    @property
    def file(self) -> str:
        return self._origin.file

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences with their places: nothing is wrong, but something may not be what was meant."""
        return self._origin.warnings

    @property
    def bound(self) -> Fraction:
        """Percent of a pool's or a source's hours or money that findings may touch."""
        return (self.findings or FindingRules()).bound

    @property
    def smooths(self) -> bool:
        """Whether a month's figures depend on those of the month before."""
        return any(rule.smooth is not None for rule in self.adjustments)

    @property
    def root(self) -> Node:
        return self._origin.root

    def line(self, *path: str | int) -> int:
        """The line on which e.g. ("pools", "h100", "idle") or ("owners", 3) is written, or that of the nearest rule around it."""
        return find(self.root, path, key=True).line

    def place(self, *path: str | int) -> str:
        """The same for reading, with file and column."""
        return f"{self.file}:{find(self.root, path, key=True)}"
