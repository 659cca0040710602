"""One team with more than half of a pool: the others share the price of what is planned for it."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from apportion.reports.held import places
from apportion.reports.report import Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import Pattern, hours_word, part, said_number, said_percent
from apportion.reports.review.pool import Pool
from apportion.reports.words import shown

COLUMNS = (
    Column("team", "team"),
    Column("held", "held h", "quantity"),
    Column("share", "share", "share"),
    Column("amount", "amount", "price"),
)
TEAMS = 2


def dominant(pools: Sequence[Pool], bounds: Bounds) -> Iterator[Pattern]:
    for pool in pools:
        whole = sum((held for held, _ in pool.teams.values()), Fraction(0))
        if len(pool.teams) < TEAMS or not whole:
            continue
        team = max(sorted(pool.teams), key=lambda name: pool.teams[name][0])
        if part(pool.teams[team][0], whole) > Fraction(bounds.share, 100):
            yield finding(pool, team, whole)


def finding(pool: Pool, team: str, whole: Fraction) -> Pattern:
    held, amount = pool.teams[team]
    unit = hours_word(pool.profile.unit)
    order = sorted(pool.teams, key=lambda name: (-pool.teams[name][0], name))
    rows = tuple(
        (name, places(pool.teams[name][0]), places(part(pool.teams[name][0], whole)), pool.teams[name][1])
        for name in order
    )
    return Pattern(
        "dominant", (pool.name, team),
        f"{team} held {said_percent(part(held, whole))} of what teams held of pool {pool.name} ({said_number(held)} of {said_number(whole)} "
        f"{unit}), and was charged {shown(amount, pool.currency)} for it.",
        COLUMNS, rows, "bars", tuple((pool.teams[name][0],) for name in order), ("held",), unit, pool.currency, amount,
        (f"pool={pool.name}", f"team={team}"), advised(pool, team, held),
    )  # fmt: skip


def advised(pool: Pool, team: str, held: Fraction) -> str:
    """Words: what a reservation or a pool of its own does depends on what was promised to whom."""
    mean = int(held / len(pool.profile.hours)) if pool.profile.hours else 0
    own = "give it a pool of its own, with the nodes that are planned for it"
    if not pool.may_reserve or not mean:
        return own
    rule = f"- {{team: {team}, pool: {pool.name}, meter: {pool.may_reserve}, amount: {mean}}}"
    return f"promise it its mean, under `reservations`: {rule}; or {own}"
