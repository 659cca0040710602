"""Try a file before it counts: what a source makes of it, and what it would refuse. Nothing is written."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.prepare import Prepared
from apportion.errors import InputError, Problem, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.findings import JudgedFinding
from apportion.model.meters import METERS
from apportion.model.times import Interval, instant_text
from apportion.sources.registry import source_kinds
from apportion.verbs.findings import policy_in_file, tried_findings
from apportion.verbs.ingest import deliver
from apportion.verbs.project import Project
from apportion.verbs.settings import FILE, Source, nearest

FEW = 10
PLACES = 4
Life = tuple[str, str | None]  # a workload and its set of labels
ALL_TIMES = Interval(0, 2**32)


@dataclass(frozen=True, slots=True)
class Understood:
    """One row as the books would get it; `what` is the workload, the reservation, the node or the service."""

    table: str
    what: str
    place: str
    meter: str
    amount: str
    used: str
    start: str
    end: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Refused:
    """Rows with one fault, and the first of them."""

    code: str
    count: int
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Trial:
    source: str
    kind: str
    file: str
    windows: tuple[str, ...]
    counts: Mapping[str, int]
    rows: tuple[Understood, ...]
    refused: tuple[Refused, ...]
    findings: tuple[JudgedFinding, ...] = ()


def try_file(project: Project, name: str, file: Path, window: Interval | None = None) -> Trial:
    """By the stanza of a source, or of the only source of a kind, with `file` (wherever it lies) in place of its path."""
    source = meant(project, name)
    real = file.resolve()
    if not real.exists():
        raise ProjectError("no-such-file", f"there is no file {file}", hint="give the path of the file to try")
    tried = replace(source, settings={**source.settings, "path": real.name})
    found = delivered(replace(project, folder=real.parent), tried, window)
    counts: Counter[str] = Counter()
    problems: list[Problem] = []
    for delivery in found:
        prepared = Prepared(delivery)  # as the books would take it
        prepared.look()
        counts.update({table: rows.num_rows for table, rows in prepared.rows.items()})
        problems += prepared.problems
    return Trial(
        source.name,
        source.kind,
        str(file),
        tuple(f"{instant_text(one.window.start_s)} to {instant_text(one.window.end_s)}" for one in found),
        dict(counts),
        tuple(row for delivery in found[:1] for row in first_rows(delivery)),
        refused(problems),
        tried_findings(found, policy_in_file(project)),
    )


def delivered(project: Project, source: Source, window: Interval | None) -> list[Delivery]:
    """Where not one row can be taken, so that nothing says which months the file is about, the reasons are what we are after."""
    try:
        return [one for one in deliver(project, source, window) if isinstance(one, Delivery)]
    except InputError as error:
        if error.code != "no-rows" or window is not None:
            raise
        return delivered(project, source, ALL_TIMES)


def meant(project: Project, name: str) -> Source:
    """A source by its name, else by its kind; a kind that needs no other settings also without a stanza."""
    sources = project.sources
    own = [source for source in sources if source.name == name]
    if not own and not name and len(sources) == 1:
        own = list(sources)
    of_kind = own or [source for source in sources if source.kind == name]
    if len(of_kind) == 1:
        return of_kind[0]
    if not of_kind and name in source_kinds():
        return Source(name, name, {"name": name, "kind": name}, f"source {name!r}")
    names = [source.name for source in of_kind or sources]
    raise ProjectError(
        "unknown-source",
        f"{FILE} has {'several sources' if len(of_kind) > 1 else 'no source'} {name!r}",
        where=str(project.folder / FILE),
        hint=nearest(name, names, "sources"),
    )


def refused(problems: list[Problem]) -> tuple[Refused, ...]:
    """By code, most first; a problem may stand for many rows."""
    counts: Counter[str] = Counter()
    first: dict[str, Problem] = {}
    for problem in problems:
        counts[problem.code] += int(problem.row[1:]) if problem.row.startswith("+") else 1
        first.setdefault(problem.code, problem)
    return tuple(
        Refused(code, count, first[code].where, first[code].message)
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def first_rows(delivery: Delivery) -> Iterator[Understood]:
    workloads = delivery.tables.get("workloads")
    labels: dict[Life, Mapping[str, str]] = {}
    if workloads is not None:
        some = workloads.slice(0, FEW)
        labels = {(row["workload"], row["label_set"]): dict(row["labels"] or ()) for row in some.to_pylist()}
    for name, table in delivery.tables.items():
        if name == "workloads" and "usage" in delivery.tables:
            continue
        yield from (
            understood(name, row, labels)
            for row in some_of(name, table, list(dict.fromkeys(workload for workload, _ in labels)))
        )


def some_of(name: str, table: pa.Table, workloads: list[str]) -> list[dict[str, Any]]:
    """The rows of the first workloads, each workload's together; else the first rows."""
    if name == "usage" and workloads:
        table = table.filter(pc.is_in(table["workload"], pa.array(workloads, pa.string())))
        rank = {workload: number for number, workload in enumerate(workloads)}
        return sorted(table.slice(0, FEW * FEW).to_pylist(), key=lambda row: rank[row["workload"]])[: 2 * FEW]
    found: list[dict[str, Any]] = table.slice(0, FEW).to_pylist()
    return found


def understood(table: str, row: dict[str, Any], labels: Mapping[Life, Mapping[str, str]]) -> Understood:
    if table == "cost_lines":
        cost = next((row[name] for name in ("EffectiveCost", "BilledCost") if row[name] is not None), None)
        amount = "" if cost is None else f"{cost.normalize():f} {row['BillingCurrency'] or ''}"
        span = instant_text(row["charge_start_s"]), instant_text(row["charge_end_s"])
        tags = dict(row["Tags"] or ())
        return Understood(table, row["ServiceName"] or "", row["ResourceId"] or "", "", amount, "", *span, tags)
    if table == "rates":
        amount, day = f"{row['rate'].normalize():f} {row['currency']}", str(row["day"])
        return Understood(table, f"1 {row['base']}", "", "", amount, "", day, day, {})
    meter = row.get("meter", "")
    return Understood(
        table,
        row.get("workload") or row.get("reservation") or row["resource"],
        row.get("resource", ""),
        meter,
        amount_text(meter, row.get("allocated", row.get("amount"))),
        amount_text(meter, row.get("used")),
        instant_text(row["start_s"]),
        instant_text(row["end_s"]),
        dict(row.get("labels") or ()) or labels_of(row, labels),
    )


def labels_of(row: dict[str, Any], labels: Mapping[Life, Mapping[str, str]]) -> Mapping[str, str]:
    """Its own, else those of its workload."""
    workload, own = row.get("workload", ""), row.get("label_set")
    others = (found for (name, _), found in labels.items() if name == workload)
    return labels.get((workload, own)) or next(others, {})


def amount_text(meter: str, amount: int | None) -> str:
    """`4 GPU`, `0.1429 GPU`: base units are for machines."""
    if amount is None or meter not in METERS:
        return ""
    whole = round(Fraction(amount, METERS[meter].base), PLACES)
    shown = f"{whole.numerator * 10**PLACES // whole.denominator:0{PLACES + 1}d}"
    return f"{shown[:-PLACES]}.{shown[-PLACES:]}".rstrip("0").rstrip(".") + f" {METERS[meter].unit}"
