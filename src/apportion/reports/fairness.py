"""How far the posted shares lie from peak Shapley: who would pay more, who less, and how much of the bill would move."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apportion.model.money import to_decimal, to_grains
from apportion.model.rows import IDLE, REASONS, SYSTEM_OWNERS
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import ZERO, by_currency, less, section, share_of, summed, total
from apportion.reports.words import of_bill, percent, shown

MEASURE = (
    "Moved is half the sum of all differences without their sign: what some would pay less and others more. "
    "Over all pools an owner's differences are added first."
)
BETWEEN = f"Between owners: with {IDLE} as posted, and only what the others pay shared anew."
SCOPE = "Compared is what a pool itself charges, for use and for idle; overheads, lines that follow, credits and adjustments come later and are left out."
IDLE_IS = "By peak Shapley only capacity above the highest peak is idle: what stands empty at other hours is part of what the peak costs."


@dataclass(frozen=True, slots=True)
class Stake:
    """What one owner pays in one pool: as posted, by reason, and by peak Shapley instead. `error` is a standard error, as part of the peak."""

    pool: str
    currency: str
    owner: str
    reasons: Mapping[str, Decimal]
    instead: Decimal
    error: Decimal | None = None

    @property
    def posted(self) -> Decimal:
        return total(self.reasons.values())

    @property
    def change(self) -> Decimal:
        return less(self.instead, self.posted)


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the values of a pool were estimated: so many orders from each seed."""

    seeds: tuple[str, ...]
    orders: int


def fairness(
    record: Record, stakes: Sequence[Stake], drawn: Mapping[str, Drawn], apart: Mapping[str, str], by: str = "team"
) -> Report:
    """`stakes` of compared pools, `drawn` for those that were sampled, `apart`: why the others are not compared."""
    columns = _columns(by)
    kept = [
        (currency, summed(posted), [stake for stake in stakes if stake.currency == currency])
        for currency, posted in by_currency(record.posted)
    ]
    sections = tuple(
        section(currency, total(stake.posted for stake in own), columns, _rows(own, by))
        for currency, _, own in kept
        if own
    )
    sentences = [_sentence(record.period, currency, bill, own) for currency, bill, own in kept if own]
    pools = [pool for currency, _, own in kept for pool in _pools(currency, own, drawn)]
    notes = (
        [*(_note(currency, own, drawn) for currency, _, own in kept if own), MEASURE, BETWEEN, SCOPE, IDLE_IS]
        if sections
        else []
    )
    left = "; ".join(f"{name} ({why})" for name, why in apart.items())
    return Report(
        "fairness",
        " ".join(sentences) or f"No pool of {record.period} can be compared with peak Shapley.",
        record.period,
        columns,
        sections,
        record.head,
        record.policies,
        (*notes, *([f"Not compared: {left}."] if left else [])),
        {"by": by, "pools": pools, "not_compared": dict(apart)},
    )


def _columns(by: str) -> tuple[Column, ...]:
    pool = (Column("pool", "pool"),) if by == "pool" else ()
    error = (Column("standard_error", "standard error", "share", quiet=True),) if by == "pool" else ()
    reasons = (Column(reason, reason, "money", quiet=True) for reason in REASONS)
    sums = (
        Column("posted", "posted", "money"),
        Column("instead", "by peak Shapley", "money"),
        Column("change", "change", "money"),
    )
    return (*pool, Column("owner", "owner"), *reasons, *sums, *error)


def _rows(stakes: Iterable[Stake], by: str) -> list[dict[str, Cell]]:
    return [
        {
            "pool": stake.pool,
            "owner": stake.owner,
            **{reason: stake.reasons.get(reason, ZERO) for reason in REASONS},
            "posted": stake.posted,
            "instead": stake.instead,
            "change": stake.change,
            "standard_error": stake.error,
        }
        for stake in sorted(stakes if by == "pool" else _by_owner(stakes), key=_order)
    ]


def _order(stake: Stake) -> tuple[str, int, Decimal, str]:
    """Pools by name; in each, owners by falling size of change, the system's own last."""
    system = SYSTEM_OWNERS.index(stake.owner) + 1 if stake.owner in SYSTEM_OWNERS else 0
    return stake.pool, system, -abs(stake.change), stake.owner


def _by_owner(stakes: Iterable[Stake]) -> list[Stake]:
    """All pools of an owner as one: what it pays more in one it may pay less in another."""
    owners: dict[str, list[Stake]] = {}
    for stake in stakes:
        owners.setdefault(stake.owner, []).append(stake)
    return [
        Stake(
            "",
            own[0].currency,
            owner,
            {reason: total(stake.reasons.get(reason, ZERO) for stake in own) for reason in REASONS},
            total(stake.instead for stake in own),
        )
        for owner, own in owners.items()
    ]


def _moved(stakes: Iterable[Stake]) -> Decimal:
    """What somebody would pay more, and so somebody else less."""
    return total(max(ZERO, stake.change) for stake in stakes)


def moved_by_peak(stakes: Iterable[Stake]) -> dict[str, tuple[Decimal, Decimal]]:
    """By currency: what would move by peak Shapley between owners, over all pools, and how much was compared."""
    found: dict[str, list[Stake]] = {}
    for stake in stakes:
        found.setdefault(stake.currency, []).append(stake)
    return {
        currency: (_moved(_by_owner(own)), total(stake.posted for stake in own))
        for currency, own in sorted(found.items())
    }


def _between(stakes: Sequence[Stake]) -> Decimal:
    """What would move if `_idle` kept what it has, and only what the others pay in each pool were shared anew."""
    parts: list[tuple[str, int]] = []
    for name in {stake.pool for stake in stakes}:
        own = [stake for stake in stakes if stake.pool == name and stake.owner != IDLE]
        posted, instead = (sum(map(to_grains, side)) for side in ([s.posted for s in own], [s.instead for s in own]))
        parts += [
            (stake.owner, to_grains(stake.instead) * posted // instead - to_grains(stake.posted))
            for stake in own
            if instead
        ]
    owners = {owner: sum(grains for who, grains in parts if who == owner) for owner, _ in parts}
    return to_decimal(sum(max(0, grains) for grains in owners.values()))


def _sentence(period: str, currency: str, bill: Decimal, stakes: Sequence[Stake]) -> str:
    """`By peak Shapley 122.50 USD would move: 45.4 % of the bill of 270.00 USD for 2026-10, 51.0 % of the 240.00 USD that can be compared. ...`"""
    owners = _by_owner(stakes)
    amount, compared = _moved(owners), total(stake.posted for stake in owners)
    idle = total(stake.change for stake in owners if stake.owner == IDLE)
    where = f"leave {IDLE} for those who made the peaks" if idle < 0 else f"go to {IDLE}"
    between = _between(stakes)
    more = (
        f" {shown(abs(idle), currency)} of it would {where}; with {IDLE} as posted, {shown(between, currency)} would move between owners "
        f"({percent(share_of(between, bill))} of the bill)."
    )
    return (
        f"By peak Shapley {shown(amount, currency)} would move: {percent(share_of(amount, bill))} of {of_bill(bill, currency)} for {period}, "
        f"{percent(share_of(amount, compared))} of the {shown(compared, currency)} that can be compared.{more if idle else ''}"
    )


def _pools(currency: str, stakes: Sequence[Stake], drawn: Mapping[str, Drawn]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name in sorted({stake.pool for stake in stakes}):
        own = [stake for stake in stakes if stake.pool == name]
        compared, amount = total(stake.posted for stake in own), _moved(own)
        errors = [stake.error for stake in own if stake.error is not None]
        sampled = drawn.get(name)
        found.append(
            {
                "pool": name,
                "currency": currency,
                "posted": compared,
                "moved": amount,
                "share": share_of(amount, compared),
                "moved_between_owners": _between(own),
                "exact": sampled is None,
                "orders": sampled.orders if sampled else None,
                "seeds": sampled.seeds if sampled else (),
                "largest_standard_error": max(errors, default=None),
            }
        )
    return found


def _note(currency: str, stakes: Sequence[Stake], drawn: Mapping[str, Drawn]) -> str:
    """One line for each pool: what would move in it alone, and how that was found."""
    lines = []
    for name in sorted({stake.pool for stake in stakes}):
        own = [stake for stake in stakes if stake.pool == name]
        amount, compared = _moved(own), total(stake.posted for stake in own)
        words = f"{shown(amount, currency)} of {shown(compared, currency)} would move ({percent(share_of(amount, compared))})"
        lines.append(f"{name}: {words}, {shown(_between(own), currency)} between owners; {_how(own, drawn.get(name))}")
    return "\n".join(lines)


def _how(stakes: Sequence[Stake], sampled: Drawn | None) -> str:
    if sampled is None:
        return "exact"
    worst = max((stake.error for stake in stakes if stake.error is not None), default=ZERO)
    seeds = ", ".join(repr(seed) for seed in sampled.seeds[:1]) + (", ..." if len(sampled.seeds) > 1 else "")
    return f"estimated from {sampled.orders:,} orders drawn with seed {seeds}: standard errors up to {worst * 100:.3f} % of the peak"
