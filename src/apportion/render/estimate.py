"""What a job would cost, as the command line and the pages say it."""

from apportion.model.money import for_reading, plain
from apportion.model.times import instant_text
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.estimate import Effect, Estimate, Way
from apportion.reports.report import Cell, Column
from apportion.reports.sums import less
from apportion.reports.words import add_up, price_digits, rounded, shown

WAYS = (
    Column("way", "way"),
    Column("pool", "pool"),
    Column("unit_price", "unit price", "price"),
    Column("per", "per"),
    Column("direct", "direct", "money"),
    Column("along", "moved or burnt", "money", quiet=True),
    Column("idle", "idle", "money", quiet=True),
    Column("overhead", "overhead", "money", quiet=True),
    Column("adjustments", "adjustments", "money", quiet=True),
    Column("price", "price", "money"),
    Column("saves", "saves", "money"),
    Column("until", "cheaper up to h"),
    Column("rests_on", "rests on", quiet=True),
)
EFFECTS = (
    Column("what", "of what"),
    Column("in", "in"),
    Column("unit", "unit"),
    Column("limit", "limit", "money"),
    Column("used", "used before", "money"),
    Column("adds", "this job", "money"),
    Column("left", "left after", "money"),
    Column("state", "state"),
)


@sheet_of.register
def estimate_sheet(found: Estimate) -> Sheet:
    price, currency = found.asked.price, found.currency
    title = f"{found.called} would cost {found.job.team} {shown(price.owed, currency)}."
    said = (
        f"direct {shown(price.direct, currency)}, with idle {shown(price.with_idle, currency)}, "
        f"with overhead {shown(price.with_overhead, currency)}"
    )
    others = plain(price.adjustments) != "0"
    said += f"; adjustments of the policy: {shown(price.adjustments, currency)}" if others else ""
    unit = f"{price_digits(found.asked.unit_price, currency)} {currency} per {found.asked.per} on average"
    notes = [f"{said}. By {found.asked.rests_on}; {unit}.", *found.notes]
    notes += [] if found.cheaper else ["The books and the policy know no cheaper way."]
    ways = Table(
        WAYS, tuple(way_cells(way, found.asked, currency) for way in (found.asked, *found.cheaper)), currency=currency
    )
    if any(way.price.along for way in (found.asked, *found.cheaper)):
        notes.append(
            f"'Moved or burnt' is what jobs there were charged beside it on average in {found.month}, such as energy."
        )
    units = dict.fromkeys(one.unit for one in found.effects)
    effects = (
        Table(EFFECTS, tuple(effect_cells(one) for one in found.effects if one.unit == unit), currency=unit)
        for unit in units
    )
    notes += [] if found.effects else [f"No budget or quota of {found.job.team} holds in {found.period}."]
    return Sheet(title, (ways, *effects), estimate_value(found), ("\n".join(notes),))


def way_cells(way: Way, asked: Way, currency: str) -> tuple[Cell, ...]:
    """In whole minor units, such that the row adds up: ways stand beside each other, and a column of them has no sum."""
    price = way.price
    figures = add_up([price.direct, price.along, price.idle, price.overhead, price.adjustments], currency)
    owed, before = (rounded(one.price.owed, currency) for one in (way, asked))
    saves = None if way.saves is None else less(before, owed)
    until = None if way.until is None else f"{way.until:,.1f}"
    return (way.what, ", ".join(way.pools), way.unit_price, way.per, *figures, owed, saves, until, way.rests_on)


def effect_cells(one: Effect) -> tuple[Cell, ...]:
    state = "exceeded" if one.exceeded else "fine"
    return (one.what, one.window, one.unit, one.limit, one.used, one.adds, one.left, state)


def estimate_value(found: Estimate) -> dict[str, object]:
    job = found.job
    return {
        "estimate": found.called,
        "team": job.team,
        "project": job.project,
        "user": job.user,
        "hours": for_reading(job.hours),
        "amounts": {meter: for_reading(amount) for meter, amount in job.amounts.items()},
        "model": job.model,
        "labels": dict(job.labels),
        "start": None if job.start_s is None else instant_text(job.start_s),
        "period": found.period,
        "prices_of": found.month,
        "currency": found.currency,
        "fits": found.fits,
        **way_value(found.asked),
        "cheaper": [way_value(way) for way in found.cheaper],
        "effects": [
            {
                "what": one.what,
                "window": one.window,
                "unit": one.unit,
                "limit": one.limit,
                "used": one.used,
                "adds": one.adds,
                "left": one.left,
                "exceeded": one.exceeded,
            }
            for one in found.effects
        ],
        "notes": list(found.notes),
    }


def way_value(way: Way) -> dict[str, object]:
    price, known = way.price, way.range
    return {
        "way": way.what,
        "pools": list(way.pools),
        "unit_price": way.unit_price,
        "per": way.per,
        "basis": way.kind,
        "rests_on": way.rests_on,
        "direct": price.direct,
        "along": price.along,
        "idle": price.idle,
        "with_idle": price.with_idle,
        "overhead": price.overhead,
        "with_overhead": price.with_overhead,
        "adjustments": price.adjustments,
        "price": price.owed,
        "range": None
        if known is None
        else {"low": known.low, "high": known.high, "starts": known.starts, "months": known.months},
        "saves": way.saves,
        "cheaper_up_to_hours": way.until,
    }
