"""What verbs hand out reads as its sentence and table, is a page for notebooks, and an Arrow table with every digit."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import altair as alt
import pyarrow as pa
import pytest

import apportion as ap
from apportion.model.result import Result
from apportion.render.formats import render
from apportion.render.notebook import MOST
from apportion.render.sheet import Screen, report_sheet, sheet_of
from apportion.reports.report import Column, Report, Section
from apportion.verbs.project import Project

MONTH = "2026-10"
READ: dict[str, Callable[[Project], Any]] = {
    "showback": lambda it: ap.report(it, "showback", MONTH),
    "trend": lambda it: ap.report(it, "trend", MONTH),
    "idle": lambda it: ap.report(it, "idle", MONTH),
    "pools": lambda it: ap.pools(it, MONTH),
    "pool": lambda it: ap.pool(it, "gpus", MONTH),
    "prices": lambda it: ap.prices(it, ap.PriceWish(first="2026-11-16")),
    "forecast": lambda it: ap.forecast(it, through="2026-10-12"),
    "estimate": lambda it: ap.estimate(it, team="vision", hours=2, gpus=1),
    "whatif": lambda it: ap.whatif(it, MONTH, prices=["gpus=+10%"]),
    "explain": lambda it: ap.explain(it, "vision", MONTH),
    "anomalies": ap.anomalies, "audit": ap.audit, "budgets": ap.budgets, "disputes": ap.disputes, "drafts": ap.drafts, "quotas": ap.quotas,
    "ledger": ap.ledger, "statements": ap.statements, "months": ap.months, "tokens": ap.tokens, "verify": ap.verify, "plan": lambda it: ap.plan(it, MONTH),
    "live": ap.live, "waste": ap.waste, "runs": ap.runs, "adjustments": ap.adjustments, "reconciled": lambda it: ap.reconciled(it, MONTH),
}  # fmt: skip
DRAWN = {"showback", "trend", "idle", "pools", "pool", "prices", "forecast", "estimate", "whatif"}


@pytest.fixture(scope="module")
def answers(small: Project) -> dict[str, Any]:
    return {name: ask(small) for name, ask in READ.items()}


@pytest.mark.parametrize("name", READ)
def test_an_answer_reads_as_its_sentence_and_is_a_page_and_a_table(name: str, answers: dict[str, Any]) -> None:
    made = answers[name]
    assert isinstance(made, Result)
    title = sheet_of(made).title
    assert title
    assert str(made).startswith(title)
    page = ET.fromstring(made._repr_html_())
    assert "".join(page.find("p").itertext()) == title  # type: ignore[union-attr]  # the test fails where it is not there
    assert not page.findall(".//script")
    assert isinstance(made.to_arrow(), pa.Table)


@pytest.mark.parametrize("name", READ)
def test_a_chart_is_vega_lite_where_there_is_one(name: str, answers: dict[str, Any]) -> None:
    chart = answers[name].chart
    assert (chart is not None) == (name in DRAWN)
    if chart is None:
        return
    alt.Chart.from_dict(chart.spec)
    bundle = chart._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v6+json"]["data"]["values"]
    assert bundle["application/vnd.vegalite.v5+json"]["$schema"].endswith("/v5.json")
    drawing = ET.fromstring(bundle["text/html"])
    assert drawing.get("aria-label") == bundle["text/plain"] == chart.says
    assert drawing.get("role") == "img"


def test_a_page_has_the_figures_of_the_command_line(answers: dict[str, Any]) -> None:
    made = answers["showback"]
    page = ET.fromstring(made._repr_html_())
    shown = [["".join(cell.itertext()) for cell in row] for row in page.find("table").iter("tr")]  # type: ignore[union-attr]
    lines = render(report_sheet(made)).splitlines()[3:]
    for cells, line in zip(shown[1:-1], lines, strict=False):
        assert " ".join(cells).split() == line.split()


def test_every_digit_is_in_arrow_and_adds_up_to_the_bill(answers: dict[str, Any]) -> None:
    made = answers["showback"]
    assert sum(made.to_arrow()["amount"].to_pylist()) == made.sections[0].bill
    planned = answers["plan"].to_arrow()
    assert sum(planned["after"].to_pylist()) == made.sections[0].bill


def test_an_explanation_is_a_tree_as_rows(answers: dict[str, Any]) -> None:
    made = answers["explain"]
    rows = made.to_arrow().to_pylist()
    assert rows[0] == {"depth": 0, "text": made.steps[0].text, "facts": rows[0]["facts"]}
    assert max(row["depth"] for row in rows) > 1


def test_a_list_is_a_tuple_of_values(answers: dict[str, Any]) -> None:
    assert [one.period for one in answers["months"]] == ["2026-09", "2026-10"]
    assert answers["drafts"] == tuple(answers["drafts"])


THIRD = Decimal("3.333333333333333333")
NASTY = ("<script>alert(1)</script>", "a & b", "\u202eevil\u202c", 'x" onmouseover="1')


def report(names: tuple[str, ...]) -> Report:
    rows = tuple((name, THIRD) for name in names)
    columns = (Column("owner", names[0]), Column("amount", "amount", "money"))
    section = Section("USD", Decimal(1), rows, ("", THIRD * len(rows)))
    return Report("showback", f"Of {names[0]}.", MONTH, columns, (section,), "", notes=names[:1])


def test_names_from_outside_are_never_markup() -> None:
    made = report(NASTY)
    page = ET.fromstring(made._repr_html_())
    assert not [one for one in page.iter() if one.tag == "script" or any(name.startswith("on") for name in one.attrib)]
    said = "".join(page.find("table").itertext())  # type: ignore[union-attr]
    assert NASTY[0] in said
    assert "\u202e" not in made._repr_html_() + str(made)
    assert "\\u202e" in said
    alt.Chart.from_dict(made.chart.spec)


def test_long_tables_are_cut_and_their_sums_are_not() -> None:
    made = report(tuple(f"team-{n:03d}" for n in range(MOST + 7)))
    whole = render(report_sheet(made), "table", Screen()).splitlines()
    cut = str(made).splitlines()
    assert "… 7 more" in cut
    assert "… 7 more" in made._repr_html_()
    first = cut.index(next(line for line in cut if line.startswith("team-"))) + 2
    assert cut[first : first + MOST] == whole[first : first + MOST]
    assert cut[first + MOST :][1:2] == whole[first + MOST + 7 :][1:2]  # the sum of all
    assert len(made.to_arrow()) == MOST + 7
