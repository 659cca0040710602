"""Who and what most of it is in: the pool, the project, the user and the run, each with how much more, or less, it had than before and where to read on."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.reports.anomaly.causes import decimal
from apportion.reports.anomaly.found import Leader
from apportion.verbs.charged import runs_of
from apportion.verbs.noticing.known import Known, Window, by_weights, within

CHARGED = ("day", "team", "workload", "amount")


def leading(seen: Known, rows: pa.Table, some: Window, whose: tuple[str, int]) -> tuple[Leader, ...]:
    """Of a team, and which way it went."""
    return *leaders(seen, rows, some, whose), *leading_run(charged(seen, some, whose[0]), some, whose[1])


def leaders(seen: Known, rows: pa.Table, some: Window, whose: tuple[str, int]) -> tuple[Leader, ...]:
    team, way = whose
    month = f"{some.last:%Y-%m}"
    posted = month in seen.posted
    found = list[Leader]()
    for what in ("pool", "project", "user"):
        name, above = farthest(*by_weights(rows, what, some), way)
        if name and way * above > 0:
            found.append(Leader(what, name, decimal(round(above)), command(what, name, team, month) if posted else ""))
    return tuple(found)


def farthest(before: Mapping[str, Fraction], now: Mapping[str, Fraction], way: int) -> tuple[str, Fraction]:
    above = {name: now.get(name, Fraction(0)) - before.get(name, Fraction(0)) for name in {*before, *now}}
    name = max(sorted(above), key=lambda one: way * above[one], default="")
    return name, above.get(name, Fraction(0))


def command(what: str, name: str, team: str, month: str) -> str:
    if what == "pool":
        return f"apportion report pool {quoted(name)} --period {month}"
    return f"apportion report showback --by pool --where {quoted(f'{what}={team}/{name}')} --period {month}"


def quoted(text: str) -> str:
    return text if text.replace("-", "").replace("_", "").replace("/", "").replace("=", "").isalnum() else f"'{text}'"


def charged(seen: Known, some: Window, team: str) -> pa.Table | None:
    """What each run of a team was charged on each day; None where not all of it is posted."""
    months = [month for month in seen.posted if f"{some.days[0]:%Y-%m}" <= month <= f"{some.last:%Y-%m}"]
    if f"{some.last:%Y-%m}" not in months:
        return None
    where = pc.field("period").isin(months) & (pc.field("team") == team)
    rows = within(seen.project.books.scan("charges", columns=list(CHARGED), where=where), some.days)
    rows = rows.filter(pc.not_equal(rows["workload"], ""))
    return rows.join(runs_of(seen.project, rows["workload"]), "workload", join_type="inner") if len(rows) else None


def leading_run(rows: pa.Table | None, some: Window, way: int) -> Iterator[Leader]:
    """The run that was charged most more, or less, than before."""
    if rows is None or not len(rows):
        return
    name, above = farthest(*by_weights(rows, "run", some), way)
    if way * above > 0:
        said = f"apportion explain {quoted(f'job:{name}')} --period {some.last:%Y-%m}"
        yield Leader("run", name, decimal(round(above)), said)
