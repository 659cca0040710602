"""Forecasts and their back-test for reading: as tables, and in sentences that hold all that one must know of a figure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.forecast.made import Backtest, Forecast, Group
from apportion.reports.forecast.methods import MIDDLE
from apportion.reports.forecast.outlook import ASSUMED, LEVELS
from apportion.reports.forecast.series import WEEK
from apportion.reports.forecast.shares import WHOLE
from apportion.reports.forecast.trial import Score
from apportion.reports.groups import first_column, system_rank
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import section
from apportion.reports.words import counted, digits, percent, rounded, shown

SHOWN = 80
RANGES = tuple(
    Column(f"{end}_{level}", f"{level} % {word}", "money", quiet=True)
    for level in sorted(LEVELS, key=lambda level: level != SHOWN)
    for end, word in (("low", "from"), ("high", "to"))
)
AFTER = (
    Column("committed", "of it committed", "money", quiet=True),
    Column("budget", "budget", "money", quiet=True),
    Column("over", "over budget", "share", quiet=True),
    Column("error", "error", "share", quiet=True),
    Column("same_as_last", "same as last month", "share", quiet=True),
    Column("months", "months tried", "count", quiet=True),
    Column("method", "method", quiet=True),
)
TRIED = (
    Column("day", "known days", "count"),
    Column("months", "months", "count"),
    Column("error", "error", "share"),
    Column("same_as_last", "same as last month", "share"),
    Column("run_rate", "run-rate", "share"),
    *(Column(f"within_{level}", f"in {level} %", "share") for level in LEVELS),
    Column("better", "better"),
)


def forecast_report(made: Forecast) -> Report:
    """Rows by what they end at, the system's own owners last; the foot is the sum, with an interval of its own."""
    first, known = first_column(made.by), made.known
    columns = (first, Column("spent", "spent", "money"), Column("amount", "month-end", "money"), *RANGES[:2])
    columns = (*columns, *AFTER, *RANGES[2:])
    sections = []
    for whole in made.wholes:
        own = sorted((one for one in made.groups if one.outlook.currency == whole.outlook.currency), key=order)
        rows = [{first.name: one.outlook.name, **cells(one)} for one in own]
        foot = cells(whole)
        one = section(whole.outlook.currency, whole.outlook.amount, columns, rows)
        sections.append(replace(one, totals=tuple(foot.get(column.name) for column in columns)))
    said = {one.outlook.name: sentence(made, one) for one in sorted(made.groups, key=order) if len(made.groups) > 1}
    more = {
        "by": made.by,
        "through": str(known.through),
        "known_days": known.days,
        "days": known.month.last_day.day,
        "is_over": known.is_over,
        "sentences": list(said.values()),
        "together": [{"currency": one.outlook.currency, **cells(one)} for one in made.wholes],
        "path": paths(made),
    }
    budgeted = [said[one.outlook.name] for one in made.groups if one.budget and said]
    notes = (*budgeted, *about(made))
    return Report("forecast", title(made), str(known.month), columns, tuple(sections), known.head, (), notes, more)


def order(one: Group) -> tuple[int, Decimal, str]:
    said = one.outlook
    return system_rank(said.name), -said.amount.normalize(), said.name


def cells(one: Group) -> dict[str, Cell]:
    said, tried = one.outlook, one.score
    ranges = {f"{end}_{at.level}": getattr(at, end) for at in said.ranges for end in ("low", "high")}
    return {
        "spent": said.spent,
        "amount": said.amount,
        "committed": said.committed or None,
        **(ranges if said.spread else {}),
        "budget": one.budget,
        "over": one.over,
        "error": tried.error if tried else None,
        "same_as_last": tried.same_as_last if tried else None,
        "months": tried.months if tried else None,
        "method": said.method or None,
    }


def paths(made: Forecast) -> list[dict[str, object]]:
    """Day by day, of all together."""
    return [
        {"day": str(day), "currency": one.outlook.currency, "amount": amount, "low_80": low, "high_80": high}
        for one in made.wholes
        for day, amount, low, high in one.steps
    ]


def title(made: Forecast) -> str:
    if not made.groups:
        return f"Nothing is known that {made.known.month} could be foreseen by."
    some = made.groups if len(made.groups) == 1 else made.wholes
    return " ".join(sentence(made, one) for one in some)


def sentence(made: Forecast, one: Group) -> str:
    """`vision will have spent 41,200.00 USD by the end of 2026-11 (80 %: 38,900.00 to 44,100.00); its budget of 40,000.00 is exceeded in 7 of 10 cases; ...`"""
    said, month = one.outlook, made.known.month
    spends = made.by == "team" and said.name not in (*SYSTEM_OWNERS, WHOLE)
    name = "All together" if said.name == WHOLE else said.name
    amount = shown(said.amount, said.currency)
    if made.known.is_over:
        return f"{name} {'spent' if spends else 'came to'} {amount} in {month}, which is over{overspent(one)}."
    parts = [f"{name} will have {'spent' if spends else 'come to'} {amount} by the end of {month}{between(one)}"]
    parts += (
        [f"its budget of {figure(one.budget, one)} is exceeded {cases(one.over)}"]
        if one.budget and one.over is not None
        else []
    )
    return "; ".join([*parts, *tried(one)]) + "."


def between(one: Group) -> str:
    said = one.outlook
    at = said.range(SHOWN)
    return f" ({SHOWN} %: {figure(at.low, one)} to {figure(at.high, one)})" if said.spread else ""


def overspent(one: Group) -> str:
    if not one.budget or one.outlook.amount <= one.budget:
        return ""
    return f", above its budget of {figure(one.budget, one)}"


def figure(amount: Decimal, one: Group) -> str:
    return digits(rounded(amount, one.outlook.currency))


def cases(chance: Decimal) -> str:
    """`in 7 of 10 cases`."""
    if chance < Decimal("0.05"):
        return "in fewer than 1 of 20 cases"
    if chance > Decimal("0.95"):
        return "in more than 19 of 20 cases"
    return f"in {min(9, max(1, round(chance * 10)))} of 10 cases"


def tried(one: Group) -> list[str]:
    if one.score is None or one.score.error is None:
        return []
    found = one.score
    last = f"its last {counted(found.months, 'month')}"
    than = "" if found.is_better else ", which did no worse"
    return [
        f"the error on {last} was {percent(found.error)} against {percent(found.same_as_last)} for 'same as last month'{than}"
    ]


def about(made: Forecast) -> Iterable[str]:
    known = made.known
    if known.is_over:
        return [f"All {known.days} days of {known.month} are known: nothing is left to foresee."]
    said = [
        f"{known.days} of {known.month.last_day.day} days are known, through {known.through}; known days count as they are."
    ]
    if known.estimated_from is not None and known.estimated_from <= known.through:
        said.append(
            f"From {known.estimated_from} on they are not posted but estimated, as `apportion report live` has them."
        )
    if any(one.outlook.committed for one in made.wholes):
        sums = [shown(one.outlook.committed, one.outlook.currency) for one in made.wholes if one.outlook.committed]
        said.append(
            f"Bills hold {' and '.join(sums)} for days to come already: that is certain, and no part of the interval."
        )
    said += [f"Of {day} some hours are not in the books: the day is left out." for day in sorted(known.partial)]
    fresh = sorted(one.outlook.name for one in made.groups if one.history < WEEK)
    if fresh:
        said.append(
            f"{', '.join(fresh)}: less than a week of history, so that the average of its days is all there is to go on."
        )
    if any(one.outlook.method == MIDDLE for one in made.groups):
        said.append("Method 'middle' is the middle of all methods: none did clearly better before.")
    if all(one.score is None for one in made.groups):
        assumed = percent(Decimal(str(ASSUMED)))
        said.append(
            f"No month before is known whole: intervals rest on the errors of shorter stretches, and on an error of {assumed} that counts as one more."
        )
    return said


def backtest_report(made: Backtest) -> Report:
    """For each group, and over all of them, what forecasts were off by; intervals are right where as many months lay in them as they say."""
    first = first_column(made.by)
    columns = (first, *TRIED)
    sections = []
    for currency in sorted({one.currency for one in made.every}):
        every = [one for one in made.every if one.currency == currency]
        own = sorted((one for one in made.scores if one.currency == currency), key=lambda one: rank(one.name))
        rows = [{first.name: one.name, **score_cells(one)} for one in (*every, *own)]
        one = section(currency, Decimal(0), columns, rows)
        sections.append(replace(one, totals=()))
    more = {"by": made.by, "months": list(made.months), "better": made.is_better}
    notes = (*worse(made), *NOTES)
    return Report(
        "forecast_backtest", verdict(made), span(made.months), columns, tuple(sections), made.head, (), notes, more
    )


NOTES = (
    "Each month was forecast with what was known at the end of its day 7, 14 and 21; the method was chosen by what was known then, too.",
    "An error is what forecasts were off by over what came, summed over the months; 'every one' sums over all rows, 'all together' is of their sum.",
    "Of 100 months 50, 80 and 95 should lie in their intervals.",
)


def worse(made: Backtest) -> list[str]:
    """Who is served no better by the forecast, said as plainly as who is."""
    days: dict[str, list[str]] = {}
    for one in made.scores:
        if one.is_better is False:
            days.setdefault(one.name, []).append(str(one.day))
    said = join([f"{name} (day {', '.join(found)})" for name, found in days.items()])
    return [f"Not better than 'same as last month' for {said}."] if said else []


def rank(name: str) -> tuple[bool, int, str]:
    return name != WHOLE, system_rank(name), name


def score_cells(one: Score) -> dict[str, Cell]:
    better = {True: "yes", False: "no", None: ""}[one.is_better]
    return {
        "day": one.day,
        "months": one.months,
        "error": one.error,
        "same_as_last": one.same_as_last,
        "run_rate": one.run_rate,
        **{f"within_{level}": part for level, part in zip(LEVELS, one.within, strict=True)},
        "better": better,
    }


def verdict(made: Backtest) -> str:
    """States whether it is better, and where it is not."""
    if not made.every:
        return "No month can be tried: two whole months are needed, one to look back at and one to foresee."
    errors = [f"{percent(one.error)} against {percent(one.same_as_last)} at day {one.day}" for one in made.every]
    months = counted(len(made.months), "month")
    if made.is_better:
        return f"Over {months} the forecast beats 'same as last month': {join(errors)}."
    where = join([f"day {one.day}" for one in made.every if one.is_better is False])
    return f"Over {months} the forecast does not beat 'same as last month' at {where}: {join(errors)}."


def join(words: Sequence[str]) -> str:
    return ", ".join(words)


def span(months: Sequence[str]) -> str:
    return "" if not months else months[0] if len(months) == 1 else f"{months[0]}..{months[-1]}"
