"""What stands between the evidence and a share that is plain by hand: one list, made where rows are read and where the engine meets them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from apportion.errors import InputError, Problem
from apportion.model.finding_codes import LOST, NOTED, treatment_of
from apportion.model.meters import METERS
from apportion.model.money import plain, total_of
from apportion.model.numbers import parse_decimal

ZERO = Decimal(0)
WHOLE = Decimal(1)
HOUR_S = 3600
PLACES = Decimal("1e-18")  # of hours and shares that do not end
FLOWS = {"network": "GiB moved", "energy": "kWh", "tokens": "tokens"}  # units that are no hours
LARGER = 2  # an acceptance holds until a finding is more than so many times as large as it was


@dataclass(frozen=True, slots=True)
class Finding:
    """Rows, hours or money that could not be taken as they are, or were taken on a guess.

    `hours` are unit-hours of `unit` (GPU, core, ...), with every digit, or amounts of a unit that flows (kWh); `money` is in `currency`. `share`
    is the largest part, from 0 to 1, of the pool's or the source's hours or money that it touches: what the policy's bound is compared with.
    `lost` says that what it counts is in no team's figure, so that coverage is without it.
    """

    code: str
    message: str
    remedy: str
    source: str = ""
    pool: str = ""
    rows: int = 0
    hours: Decimal = ZERO
    unit: str = ""
    money: Decimal = ZERO
    currency: str = ""
    share: Decimal = ZERO
    lost: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from the others of its list."""
        return self.code, self.source, self.pool


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Somebody lets a finding of a period stand, as large as it was then; `pools` are those that it concerns."""

    period: str
    finding: Finding
    who: str
    why: str
    at_s: int
    pools: tuple[str, ...] = ()

    def covers(self, finding: Finding) -> bool:
        """The same finding, at most twice as large: a much larger one asks again. Where rows alone are known, those that it began with."""
        old = self.finding
        if not finding.hours and not finding.money and finding.message != old.message:
            return False
        pairs = ((finding.rows, old.rows), (finding.hours, old.hours), (finding.money, old.money))
        same = finding.key == old.key and (not finding.hours or finding.unit == old.unit)
        same = same and (not finding.money or old.currency in ("", finding.currency))
        return same and all(Decimal(now) <= LARGER * Decimal(then) for now, then in pairs)


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding against the policy's bound; `acceptance` is there where somebody lets it stand."""

    finding: Finding
    above: bool
    acceptance: Acceptance | None = None

    @property
    def stops(self) -> bool:
        return self.above and self.acceptance is None


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken of sources: rows, base units (times seconds, of levels) by meter, and money by currency.

    `rows` are those of whole deliveries, `month_rows` those of the month alone, of codes whose problems say when. `times` are the parts of the
    month, from 0 to 1, that codes speak of which say that nothing is known of a time. `currencies` are those of lines with a problem, by their ids.
    """

    rows: Mapping[str, int] = field(default_factory=dict)
    quantities: Mapping[tuple[str, str], int] = field(default_factory=dict)
    money: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    currencies: Mapping[str, str] = field(default_factory=dict)
    month_rows: Mapping[tuple[str, str], int] = field(default_factory=dict)
    times: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)

    def rows_beside(self, source: str, code: str) -> int:
        return self.month_rows.get((source, code), self.rows.get(source, 0))

    def currencies_of(self, source: str) -> list[str]:
        return sorted({currency for name, currency in self.money if name == source})

    def currency_of(self, source: str, line: str = "") -> str:
        """Of a line; else of a source whose bills are in one."""
        found = self.currencies_of(source)
        return self.currencies.get(line) or (found[0] if len(found) == 1 else "")

    def money_share(self, source: str, currency: str, touched: Decimal, *, lost: bool) -> Decimal:
        """Of the same currency: amounts of several are never added. Where nobody knows which it is, the largest share that it may be."""
        taken = [amount for (name, known), amount in self.money.items() if name == source and currency in ("", known)]
        return max(share_of(touched, amount, lost=lost) for amount in taken or [ZERO])


def judge(
    findings: Iterable[Finding], bound: Fraction, acceptances: Iterable[Acceptance] = ()
) -> tuple[JudgedFinding, ...]:
    """Largest share first. `bound` is in percent; the latest acceptance that covers a finding counts."""
    known = list(acceptances)[::-1]
    judged = [
        JudgedFinding(one, Fraction(one.share) * 100 > bound, next((held for held in known if held.covers(one)), None))
        for one in findings
    ]
    return tuple(sorted(judged, key=lambda one: (-one.finding.share, one.finding.key)))


def unit_of(meter: str) -> str:
    """What one of a meter is called in a finding: `GPU` of which hours are counted, `kWh` of which they are not."""
    return FLOWS.get(meter) or (METERS[meter].unit if meter in METERS else meter)


def pools_counting(unit: str, meters: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Of pools and their meters those that count a unit."""
    return tuple(pool for pool, names in meters.items() if unit in {unit_of(name) for name in names})


def list_few(names: Sequence[str], most: int = 3) -> str:
    """`n1, n2, n3 and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def natural(quantity: Fraction | int, meter: str) -> Decimal:
    """Whole base units (times seconds, of a level) as unit-hours."""
    known = METERS.get(meter)
    if known is None:
        return to_places(Fraction(quantity))
    return to_places(Fraction(quantity) / known.base / (1 if known.flow else HOUR_S))


def to_places(exact: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 120
        found = (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(PLACES, ROUND_HALF_EVEN)
        return found.normalize() if found != found.to_integral_value() else found.to_integral_value()


def share_of(touched: Fraction | Decimal | int, taken: Fraction | Decimal | int, *, lost: bool) -> Decimal:
    """What is lost is beside what was taken, what was guessed is part of it."""
    part = Fraction(touched)
    whole = part + Fraction(taken) if lost else max(part, Fraction(taken))
    return to_places(part / whole) if whole > 0 else ZERO


def findings_of(
    problems: Iterable[tuple[str, Problem]], taken: Taken, counted: Collection[str] = ()
) -> tuple[Finding, ...]:
    """The problems of sources, those of one source and code as one finding; codes that only note something make none.

    `counted` are the units that the policy counts: where a finding touches one of them and others, its share is of that one.
    """
    groups: dict[tuple[str, str], list[Problem]] = {}
    for source, problem in problems:
        if treatment_of(problem.code).kind != NOTED:
            groups.setdefault((source, problem.code), []).append(problem)
    return tuple(one_finding(source, found, taken, counted) for (source, _), found in sorted(groups.items()))


def one_finding(source: str, problems: list[Problem], taken: Taken, counted: Collection[str] = ()) -> Finding:
    code = problems[0].code
    treatment, first = treatment_of(code), problems[0]
    lost = treatment.kind == LOST
    rows = sum(map(rows_of, problems))
    sums = money_of(source, problems, taken)
    paid = {name: taken.money_share(source, name, money, lost=lost) for name, money in sums.items()}
    currency = max(paid, key=lambda name: (paid[name], name), default="")
    shares = {
        meter: share_of(units, taken.quantities.get((source, meter), 0), lost=lost)
        for meter, units in quantities_of(problems).items()
    }
    shares = {name: share for name, share in shares.items() if unit_of(name) in counted} or shares
    meter = max(shares, key=lambda name: (shares[name], name), default="")
    units = quantities_of(problems)
    measured = [*shares.values(), *paid.values()]
    otherwise = taken.times.get((source, code), share_of(rows, taken.rows_beside(source, code), lost=lost))
    others = ", ".join(
        (
            *(natural_text(units[name], name) for name in sorted(units) if name != meter),
            *(f"{plain(sums[name])} {name}" for name in sorted(sums) if name not in ("", currency)),
        )
    )
    return Finding(
        code,
        f"{first.where}: {first.message}" + (f" (also {others})" if others else ""),
        treatment.remedy,
        source=source,
        rows=rows,
        hours=natural(units[meter], meter) if meter else ZERO,
        unit=unit_of(meter) if meter else "",
        money=sums[currency] if currency or (sums and not taken.currencies_of(source)) else ZERO,
        currency=currency,
        share=WHOLE if treatment.whole else max(measured, default=otherwise),
        lost=lost,
    )


def money_of(source: str, problems: Iterable[Problem], taken: Taken) -> dict[str, Decimal]:
    """By currency, "" where nobody knows it."""
    found: dict[str, list[Decimal]] = {}
    for one in problems:
        if amount := abs(decimal_of(one.money)):
            found.setdefault(taken.currency_of(source, one.row), []).append(amount)
    return {currency: total_of(amounts) for currency, amounts in found.items()}


def natural_text(quantity: Fraction | int, meter: str) -> str:
    return f"{natural(quantity, meter).quantize(Decimal('0.1'))} {unit_of(meter)}{'' if meter in FLOWS else ' hours'}"


def rows_of(problem: Problem) -> int:
    """One, or as many as it stands for: `+12`."""
    return int(problem.row[1:]) if problem.row.startswith("+") and problem.row[1:].isdecimal() else 1


def quantities_of(problems: Iterable[Problem]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for one in problems:
        if one.meter and (amount := Fraction(decimal_of(one.quantity))):
            found[one.meter] = found.get(one.meter, Fraction(0)) + abs(amount)
    return found


def decimal_of(text: str) -> Decimal:
    """0 where a row says nothing, or nothing that is a number."""
    try:
        return parse_decimal(text) if text else ZERO
    except InputError:
        return ZERO


def merge(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each key once: parts of a plan may meet the same thing, and the larger one says it."""
    found: dict[tuple[str, str, str], Finding] = {}
    for one in findings:
        known = found.get(one.key)
        if known is None or (one.share, one.hours, one.money) > (known.share, known.hours, known.money):
            found[one.key] = one
    yield from found.values()
