"""What the engine meets and cannot take as it is: problems of evidence and of pools, as findings with what they touch and of how much."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.boards import Boards
from apportion.engine.cards import price_for
from apportion.engine.claims import WHOLE_POOL, Reach, claim, clip
from apportion.engine.demand import UNITS, measures, scale_of
from apportion.engine.encode import METER_NUMBER
from apportion.engine.lines import Ledgered
from apportion.engine.price import Market, over, sum_cells
from apportion.engine.setting import Setting
from apportion.errors import Problem
from apportion.model.finding_codes import LOST, NOTED, treatment_of
from apportion.model.findings import Finding, Taken, findings_of, rows_of, share_of, to_places, unit_of
from apportion.model.meters import METERS
from apportion.policy.pools import Pool

HOUR_S = 3600
SOURCE = "source "
Touched = tuple[Fraction, Fraction]  # of a pool's units: what a finding touches, and all of them


def pool_findings(
    problems: Sequence[Problem], market: Market, boards: Boards, reach: Reach, setting: Setting
) -> tuple[Finding, ...]:
    """Of a pool that is shared by usage: its problems of one code are one finding."""
    codes = dict.fromkeys(one.code for one in problems if treatment_of(one.code).kind != NOTED)
    market = replace(market, boards=boards)
    return tuple(
        pool_finding(market, [one for one in problems if one.code == code], touched(code, market, reach, setting))
        for code in codes
    )


def pool_finding(market: Market, problems: Sequence[Problem], units: Touched | None) -> Finding:
    """`units` is None where nobody can say how much it touches: then it counts as all of the pool."""
    code, treatment = problems[0].code, treatment_of(problems[0].code)
    part, whole = units or (Fraction(0), Fraction(0))
    return Finding(
        code,
        problems[0].message,
        treatment.remedy,
        pool=market.name,
        rows=sum(map(rows_of, problems)),
        hours=hours_of(part, market.pool),
        unit=pool_unit(market.pool) if part else "",
        share=Decimal(1) if units is None else share_of(part, whole, lost=False),
        lost=treatment.kind == LOST,
    )


def pool_unit(pool: Pool) -> str:
    """What a pool counts; of several meters in one measure, units."""
    return unit_of(next(iter(pool.meter))) if len(pool.meter) == 1 else "unit"


def hours_of(units: Fraction | int, pool: Pool) -> Decimal:
    """Units of a pool as hours of what it counts, or as amounts of what flows."""
    flows = all(METERS[name].flow for name in pool.meter)
    return to_places(units * scale_of(pool).natural / (1 if flows else HOUR_S))


def touched(code: str, market: Market, reach: Reach, setting: Setting) -> Touched | None:
    if code == "overcommitted-board":
        return Fraction(above_boards(market.boards)), Fraction(units_claimed(market.name, reach, setting))
    if code == "oversold-reservations":
        return oversold(market)
    return unpriced(market) if code == "no-price" else None


def above_boards(boards: Boards) -> int:
    """What was asked of crowded boards beyond what there is."""
    crowds = (crowd for cells in boards.crowds.values() for crowd in cells.values())
    return sum(max(0, crowd.asked[0] + crowd.asked[2] - crowd.there) for crowd in crowds)


def units_claimed(name: str, reach: Reach, setting: Setting) -> int:
    """All that a pool's usage comes to, in units of its scale."""
    pool, found = setting.policy.pools[name], 0
    for season in setting.workforce.seasons:
        rows = clip(claim(name, reach, season, setting).rows, season)
        units = measures(rows, pool.driver, scale_of(pool))["units"]
        made = rows.select(seconds=rows.end_s - rows.start_s, units=units).group_by("seconds", "units")
        for row in made.aggregate(times=lambda same: same.count()).to_pyarrow().to_pylist():
            found += row["seconds"] * row["units"] * row["times"]
    return found


def oversold(market: Market) -> Touched:
    """What was promised beyond the capacity, of all that was promised."""
    beyond = promised = Fraction(0)
    for _, slot in market.money:
        sold = sum((Fraction(over(cells, slot)) for cells in market.supply.reserved.values()), Fraction(0))
        promised += sold
        beyond += max(Fraction(0), sold - over(market.supply.capacity.get(WHOLE_POOL, {}), slot))
    return beyond, promised


def unpriced(market: Market) -> Touched:
    """Units that no price of the card matches."""
    loads = sum_cells(market.demand.get(WHOLE_POOL, {}), (0, market.calendar.cells), market.calendar)
    without = sum(
        amounts[UNITS]
        for (day, load), amounts in loads.items()
        if price_for(market.pool, market.bearers[load[0]], market.calendar.days[day]) is None
    )
    return Fraction(without), Fraction(sum(amounts[UNITS] for amounts in loads.values()))


def evidence_findings(problems: Iterable[Problem], lines: Ledgered, setting: Setting) -> tuple[Finding, ...]:
    """Of what was read from the books: lines that are tied or valued by a guess, and sources that speak of the same work."""
    told = [(one.where.removeprefix(SOURCE) if one.where.startswith(SOURCE) else "", one) for one in problems]
    told = [(source, one) for source, one in told if treatment_of(one.code).kind != NOTED]
    if not told:
        return ()
    sources = {source for source, _ in told}
    meters = usage_by_meter(setting) if any(one.meter for _, one in told) else {}
    money = spent(lines)
    return findings_of(
        told,
        Taken(
            rows=dict.fromkeys(sources, len(lines.amounts)),
            quantities={(source, meter): units for source in sources for meter, units in meters.items()},
            money={(source, currency): amount for source in sources for currency, amount in money.items()},
        ),
    )


def spent(lines: Ledgered) -> dict[str, Decimal]:
    """By currency, what is less than 0 without its sign."""
    amounts = pc.abs(lines.amounts).cast(pa.decimal256(60, 18))
    table = pa.table({"currency": lines.currencies(), "amount": amounts})
    sums = table.group_by("currency").aggregate([("amount", "sum")]).to_pylist()
    return {row["currency"]: row["amount_sum"] or Decimal(0) for row in sums}


def usage_by_meter(setting: Setting) -> dict[str, int]:
    """Base units (times seconds, of levels) of all usage that pools may share."""
    rows = setting.encoded.rows
    made = rows.select("meter", "allocated", seconds=rows.end_s - rows.start_s).group_by(
        "meter", "allocated", "seconds"
    )
    names = {number: name for name, number in METER_NUMBER.items()}
    found: dict[str, int] = {}
    for row in made.aggregate(times=lambda same: same.count()).to_pyarrow().to_pylist():
        meter = names[row["meter"]]
        seconds = 1 if METERS[meter].flow else row["seconds"]
        found[meter] = found.get(meter, 0) + (row["allocated"] or 0) * seconds * row["times"]
    return found
