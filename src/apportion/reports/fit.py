"""Whether something fits in what is left of a team's quotas, said before it is started."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from apportion.model.currencies import MINOR_DIGITS
from apportion.model.result import Result
from apportion.reports.held import places
from apportion.reports.quotas import COLUMNS as QUOTA
from apportion.reports.quotas import Limit, Used, cells
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import total
from apportion.reports.words import counted

BEFORE = ("owner", "what", "unit", "limit", "rolled", "borrowed", "lent", "used", "pending", "left")
COLUMNS = (
    *(column for column in QUOTA if column.name in BEFORE),
    Column("need", "needed", "money"),
    *(column for column in QUOTA if column.name in ("per", "in", "through")),
    Column("fits", "fits"),
)
YES, NO, UNTOUCHED = "yes", "no", "not asked"
MONEY = "money"
HUNDREDTHS = 2


@dataclass(frozen=True, slots=True)
class Need:
    """So much of a meter (hours of a level, units of a flow) or of money. Without pool or project it may be of any; without user of nobody in particular."""

    amount: Fraction
    of: str = "gpu"
    unit: str = "GPU-hours"
    pool: str = ""
    project: str = ""
    user: str = ""


def touches(need: Need, limit: Limit) -> bool:
    """A quota of a pool or project is not touched by what goes elsewhere, that of a user by nobody else's."""
    if (limit.meter or MONEY) != need.of or (limit.user and limit.user != need.user):
        return False
    pairs = ((need.pool, limit.pool), (need.project, limit.project))
    return all(not asked or not own or asked == own for asked, own in pairs)


@dataclass(frozen=True, slots=True, repr=False)
class Fit(Result):
    """The quotas that hold for a team, and what somebody needs of them."""

    team: str
    need: Need
    day: date
    quotas: tuple[Used, ...]

    def is_asked(self, one: Used) -> bool:
        return touches(self.need, one.limit)

    def fits_in(self, one: Used) -> bool:
        """Whatever is used costs money, so where none is left nothing fits, however it is counted. A soft limit stops nobody."""
        limit = one.limit
        if not limit.hard:
            return True
        if self.is_asked(one):
            return self.need.amount <= one.left
        whole = not limit.meter and not limit.pool and not limit.project and not limit.user
        return not whole or one.left > 0 or not self.need.amount

    @property
    def against(self) -> tuple[Used, ...]:
        return tuple(one for one in self.quotas if not self.fits_in(one))

    @property
    def fits(self) -> bool:
        return not self.against

    @property
    def told(self) -> tuple[Used, ...]:
        """Soft limits that it would exceed."""
        return tuple(one for one in self.quotas if self.is_asked(one) and self.need.amount > soft_left(one))

    @property
    def sentence(self) -> str:
        asked = [one for one in self.quotas if self.is_asked(one)]
        need = f"{self.team} needs {amount(self.need.amount, self.need.unit, up=True)}"
        if self.against:
            return f"{need}, which does not fit: {'; '.join(map(left_of, self.against))}."
        if not asked:
            return f"{need}, and no quota of {self.need.of} holds for it on {self.day}: nothing limits it."
        above = (
            f"; above the soft limit of {' and of '.join(one.limit.owner for one in self.told)}" if self.told else ""
        )
        return f"{need}, which fits: {left_of(min(asked, key=lambda one: one.left))}{above}."


def soft_left(one: Used) -> Fraction:
    """What is left below the soft limit; of one that is hard throughout, at least what is needed."""
    if one.limit.soft is None:
        return Fraction(10**30) if one.limit.hard else one.left
    return one.left - (one.limit.size - one.limit.soft)


def left_of(one: Used) -> str:
    """`88.0 of 400 GPU-hours are left in 2026-11 (known through 2026-11-15)`."""
    limit = one.limit
    through = f"known through {one.through}" if one.through else "nothing is known of it yet"
    where = f" of {limit.pool}" if limit.pool else ""
    whose = f" of {limit.owner}" if limit.owner != limit.team else ""
    size = amount(one.size, limit.unit)
    held = f" and {amount(one.moved.pending, limit.unit, up=True)} reserved" if one.moved.pending else ""
    if one.left <= 0:
        beyond = amount(one.used, limit.unit, up=True)
        return f"nothing is left of {size}{where}{whose} in {one.window}, {beyond} are used{held} ({through})"
    through += f",{held.removeprefix(' and')}" if held else ""
    left = amount(one.left, limit.unit).removesuffix(f" {limit.unit}")
    return f"{left} of {size}{where}{whose} are left in {one.window} ({through})"


def amount(number: Fraction, unit: str = "", *, up: bool = False) -> str:
    """What is left is rounded down and what is needed or used up: so the figures never seem to fit where they do not."""
    after = MINOR_DIGITS.get(unit, HUNDREDTHS)
    whole = ceil(number * 10**after) if up else floor(number * 10**after)
    said = f"{Decimal(whole).scaleb(-after):,f}"
    return f"{said if unit in MINOR_DIGITS else said.removesuffix('.00')} {unit}".strip()


def fit_report(made: Fit, head: str) -> Report:
    """A section for each unit, as of quotas."""
    sections = []
    for unit in dict.fromkeys(one.limit.unit for one in made.quotas):
        own = [one for one in made.quotas if one.limit.unit == unit]
        used = [used for one in own if (used := places(one.used)) is not None]
        sections.append(Section(unit, total(used), rows_of(made, own), ()))
    more = {
        "fits": made.fits,
        "team": made.team,
        "need": {"amount": str(places(made.need.amount)), "of": made.need.of, "unit": made.need.unit},
    }
    notes = (f"{counted(len(made.quotas), 'quota')} of {made.team} hold on {made.day}.",) if made.quotas else ()
    return Report("fit", made.sentence, f"{made.day:%Y-%m}", COLUMNS, tuple(sections), head, notes=notes, more=more)


def rows_of(made: Fit, own: Sequence[Used]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for one in own:
        asked = made.is_asked(one)
        fits = (YES if asked else UNTOUCHED) if made.fits_in(one) else NO
        need = places(made.need.amount) if asked else None
        row: dict[str, Cell] = {**cells(one), "need": need, "fits": fits}
        rows.append(tuple(row.get(column.name) for column in COLUMNS))
    return tuple(rows)
