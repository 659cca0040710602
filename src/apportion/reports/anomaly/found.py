"""What was found: of whom, since when, what it was and what it is, what it meant in money so far, and why. In one sentence, too."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Literal

from apportion.model.money import for_reading
from apportion.reports.held import places
from apportion.reports.words import percent, price_digits, shown

Kind = Literal["spend", "price", "idle", "failures", "unit cost"]
KINDS: tuple[Kind, ...] = ("spend", "price", "idle", "failures", "unit cost")
OF_POOLS = frozenset({"price", "idle"})
SHARES = frozenset({"idle", "failures"})
ID_DIGITS = 10
DAY, STEP = "day", "step"


@dataclass(frozen=True, slots=True)
class Leader:
    """Who or what most of it is in: a pool, a project, a user or a run; what that had more than before (less is below 0), and where to read on."""

    what: str
    name: str
    above: Decimal
    command: str = ""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    who: str
    why: str
    at_s: int
    until: str = ""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """`owner` is a team, or the pool of a price or of idle. `before` and `now` are a day's spending, the price of a unit, or a share.

    `causes` add up to `meant`, which is below 0 for a fall. `until` is the last day that was looked at; `shape` is `day` where it was that day alone.
    `estimated` where not all of its days are posted.
    """

    kind: Kind
    owner: str
    currency: str
    shape: str
    began: date
    until: date
    before: Fraction
    now: Fraction
    meant: Decimal
    causes: Mapping[str, Decimal] = field(default_factory=dict)
    leaders: tuple[Leader, ...] = ()
    unit: str = ""
    is_over: bool = False
    estimated: bool = False
    acknowledged: Acknowledged | None = None
    known_as: str = ""
    told_again: bool = False

    @property
    def id(self) -> str:
        """The same while it lasts: made of what it is about and the day that it began on, or as it was acknowledged."""
        said = f"{self.kind} {self.owner} {self.currency} {self.began}"
        return self.known_as or sha256(said.encode()).hexdigest()[:ID_DIGITS]

    @property
    def team(self) -> str:
        """Nobody's where it is about a pool."""
        return "" if self.is_of_pool else self.owner

    @property
    def is_of_pool(self) -> bool:
        return self.kind in OF_POOLS

    @property
    def pool(self) -> str:
        """The one that it is about, or that most of it is in."""
        return self.owner if self.is_of_pool else next((one.name for one in self.leaders if one.what == "pool"), "")

    def without_money(self) -> "Anomaly":
        """For those who may not know what others of the pool pay."""
        return replace(self, meant=Decimal(0), causes={}, leaders=())

    @property
    def state(self) -> str:
        if self.acknowledged:
            return "acknowledged"
        return "one day" if self.shape == DAY else "over" if self.is_over else "lasting"

    @property
    def is_fall(self) -> bool:
        return self.now < self.before

    @property
    def main_cause(self) -> tuple[str, Decimal] | None:
        """The largest of those that go its way."""
        return next(((name, amount) for name, amount in self.causes.items() if amount * self.meant > 0), None)

    @property
    def grown(self) -> Decimal | None:
        """By which part it grew, or fell."""
        return places((self.now - self.before) / self.before) if self.before else None

    @property
    def sentence(self) -> str:
        """`vision spends 812.00 USD (+34.4 %) a day since 2026-11-03, against 604.10 USD before: 1,455.30 USD more, most of it volume (1,200.00 USD).`"""
        said = " (estimated)" if self.estimated else ""
        more = "more" if self.meant > 0 else "less"
        money = f": {shown(abs(self.meant), self.currency)} {more}{self.why}" if self.meant else ""
        words = FALLING[self.kind] if self.is_fall and self.kind in FALLING else SAYING[self.kind, self.shape == DAY]
        return f"{words.format(**self.words)}{money}{said}."

    @property
    def words(self) -> dict[str, str]:
        shares = self.kind in SHARES
        before, now = (
            percent(places(figure)) if shares else f"{price_digits(for_reading(figure), self.currency)} {self.currency}"
            if self.unit else shown(for_reading(figure), self.currency)
            for figure in (self.before, self.now)
        )  # fmt: skip
        grown = f" ({self.grown * 100:+.1f} %)" if self.grown is not None and not shares else ""
        when = f"since {self.began}" if not self.is_over else f"from {self.began} to {self.until}"
        return {
            "owner": self.owner,
            "before": before,
            "now": now + grown,
            "day": f"{self.began}",
            "when": when,
            "unit": self.unit,
        }

    @property
    def why(self) -> str:
        """`, most of it volume (1,200.00 USD) and in gpus (600.00 USD)`."""
        cause = self.main_cause
        said = f", most of it {cause[0]} ({shown(cause[1], self.currency)})" if cause else ""
        pool = next((one for one in self.leaders if one.what == "pool" and one.above * self.meant > 0), None)
        return said + (f"; most in {pool.name} ({shown(pool.above, self.currency)})" if pool else "")


SAYING: Mapping[tuple[str, bool], str] = {
    ("spend", True): "{owner} spent {now} on {day}, against {before} on such days before",
    ("spend", False): "{owner} spends {now} a day {when}, against {before} before",
    ("price", False): "A {unit} of {owner} costs {now} {when}, against {before} before",
    ("idle", False): "{now} of {owner} stands idle {when}, against {before} before",
    ("failures", False): "{now} of what {owner}'s runs cost went into failed attempts {when}, against {before} before",
    ("unit cost", False): "{owner} pays {now} per {unit} {when}, against {before} before",
}
FALLING: Mapping[Kind, str] = {  # less idle and fewer failures are not told
    "spend": "{owner}'s spending fell to {now} a day {when}, against {before} before",
    "price": "The price of a {unit} of {owner} fell to {now} {when}, against {before} before",
    "unit cost": "What {owner} pays per {unit} fell to {now} {when}, against {before} before",
}
