"""Any roll-up, filter or drill-down re-adds to its parent, on all pairs of dimensions: one query path for reports, minor units and corrections."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import apportion
from apportion.errors import ProjectError
from apportion.model.minor import minor_units
from apportion.model.rows import POSTING_KEY, POSTINGS, REASONS
from apportion.reports.groups import DIMENSIONS, chosen, narrowed
from apportion.reports.groups import names as named
from apportion.reports.report import Record, Report
from apportion.reports.showback import showback
from apportion.reports.trend import trend
from apportion.sources.demo.files import write
from tests.conftest import LONG
from tests.reports.record import record, row

PAIRS = list(permutations(sorted(DIMENSIONS), 2))
SYSTEM = ("_idle", "_unallocated", "_residual")


def rows_of(report: Report) -> dict[tuple[str, str], Decimal]:
    """(currency, name) -> amount, as a report says."""
    found = {}
    columns = [column.name for column in report.columns]
    for section in report.sections:
        for cells in section.rows:
            cell = dict(zip(columns, cells, strict=True))["amount"]
            assert isinstance(cell, Decimal)
            found[section.currency, str(cells[0])] = cell
    return found


def worked(rows: Sequence[Mapping[str, object]], by: str) -> Iterator[str]:
    """The name of each row's group, said here once more."""
    for line in rows:
        team, value = str(line["team"]), str(line[by]) or "(none)"
        if by in ("department", "cost_centre", "project", "user") and team in SYSTEM:
            yield team
        else:
            yield f"{team}/{value}" if by in ("project", "user") else value


def added(
    rows: Sequence[Mapping[str, object]], said: Sequence[str], some: Sequence[int]
) -> dict[tuple[str, str], Decimal]:
    """Sums of some rows by what they are called."""
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for n in some:
        amount = rows[n]["amount"]
        assert isinstance(amount, Decimal)
        sums[str(rows[n]["currency"]), said[n]] += amount
    return dict(sums)


def check_rows(whole: Record, parents: Sequence[str], children: Sequence[str], *, few: bool = False) -> int:
    """Each row of a parent, drilled into by another dimension, adds up to that row; counted here from the rows themselves."""
    rows, checked = whole.posted.to_pylist(), 0
    said = {by: list(worked(rows, by)) for by in {*parents, *children}}
    for parent in parents:
        every = rows_of(showback(whole, parent))
        assert every == added(rows, said[parent], range(len(rows)))
        order = sorted(every, key=lambda key: (every[key], key))
        for currency, name in order[-1:] if few else order:
            part = narrowed(whole, {parent: [name]})
            own = [n for n, called in enumerate(said[parent]) if called == name]
            for child in children:
                found = rows_of(showback(part, child))
                assert found == added(rows, said[child], own), (parent, name, child)
                assert sum(cell for (unit, _), cell in found.items() if unit == currency) == every[currency, name]
                checked += 1
    return checked


def test_all_pairs_on_the_demo_month(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """The largest row of each dimension, by every other."""
    write(tmp_path, seed=7, scale="0.001")
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    whole = Record("2026-10", apportion.plan(project, "2026-10").plan.postings, head="")
    every = sorted(DIMENSIONS)
    checked = check_rows(whole, every, every, few=True)
    record_property("roll-ups checked", checked)
    assert checked == len(every) ** 2


names = st.sampled_from(["", "a", "b", "c/d", "(none)"])
lines = st.builds(
    lambda team, others, day, reason, amount: row(
        str(Decimal(amount).scaleb(-9)),
        **dict(zip(("department", "cost_centre", "project", "user", "pool", "component", "cause", "bill"), others, strict=True)),
        team=team, day=date(2026, 9, day), reason=reason, currency="EUR" if others[-1] == "b" else "USD",
    ),
    st.sampled_from(["vision", "speech", *SYSTEM]),
    st.tuples(*[names] * 8),
    st.integers(1, 3),
    st.sampled_from(REASONS),
    st.integers(-(10**12), 10**12),
)  # fmt: skip


@settings(max_examples=25 if LONG else 10, deadline=None)
@given(st.lists(lines, min_size=1, max_size=12), st.sampled_from(PAIRS))
def test_pairs_on_drawn_postings(drawn: list[dict[str, object]], pair: tuple[str, str]) -> None:
    assert check_rows(record(*drawn), pair[:1], pair[1:])


@settings(max_examples=25 if LONG else 10, deadline=None)
@given(st.lists(lines, min_size=1, max_size=12), st.sampled_from(sorted(DIMENSIONS)))
def test_minor_units_go_by_the_same_names(drawn: list[dict[str, object]], by: str) -> None:
    """Statements and journals sum the minor units of a close: the same names, and children that add up to their parent."""
    if by == "day":
        return  # a close keeps no days
    posted = pa.table({name: [line[name] for line in drawn] for name in (*POSTING_KEY, "amount")}, schema=POSTINGS)
    minor = minor_units(posted)
    parts = [chosen(minor, {by: [name]}) for name in sorted(set(named(minor, by).to_pylist()))]
    assert sum(len(part) for part in parts) == len(minor)
    assert sum(sum(part["amount"].to_pylist()) for part in parts) == sum(minor["amount"].to_pylist())


def test_filters_of_several_dimensions_narrow_and_of_one_widen() -> None:
    whole = record()
    both = narrowed(whole, {"team": ["vision", "speech"], "pool": ["h100"]})
    assert rows_of(showback(both)) == {
        ("USD", "vision"): Decimal("590.666666666"), ("USD", "speech"): Decimal(40),
    }  # fmt: skip
    assert rows_of(showback(narrowed(whole, {"user": ["ann"]}), "user")) == {
        ("USD", "vision/ann"): Decimal("590.333333333")
    }
    assert sum(rows_of(trend(both)).values()) == Decimal("630.666666666")


def test_filters_of_reports(posted: Path) -> None:
    project = apportion.open_project(posted)
    whole = apportion.report(project, "showback", "2026-10", by="pool")
    assert len(whole.sections[0].rows) == 2
    for cells in whole.sections[0].rows:
        part = apportion.report(project, "trend", "2026-10", [f"pool={cells[0]}"])
        assert part.sections[0].bill == cells[-2]
    narrow = apportion.report(project, "showback", "2026-10", ["pool=gpu", "team=vision", "team=speech"], by="user")
    assert rows_of(narrow) == {("USD", "vision/ann"): Decimal(60), ("USD", "speech/bob"): Decimal(60)}
    assert "Only pool gpu, team vision or speech." in narrow.notes
    held = apportion.report(project, "held", "2026-10", ["department=research"])
    assert {cells[0] for cells in held.sections[0].rows} == {"vision", "speech"}


@pytest.mark.parametrize(
    ("report", "where", "code"),
    [("showback", "colour=red", "invalid-filter"), ("trend", "vision", "invalid-filter"),
     ("idle", "team=vsion", "nothing-matches"), ("held", "reason=usage", "invalid-filter")],
)  # fmt: skip
def test_filters_that_say_nothing_are_refused(posted: Path, report: str, where: str, code: str) -> None:
    with pytest.raises(ProjectError, match=code):
        apportion.report(apportion.open_project(posted), report, "2026-10", [where])
