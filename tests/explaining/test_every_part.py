"""The parts of an explanation add up to its figure, at every level: late lines, corrections, credits and re-attributions too, in each currency."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import apportion
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from apportion.verbs.explain import Explanation, explain_by
from apportion.verbs.explaining.story import Node
from apportion.verbs.ground import Means, ground_of
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.verbs.world import Pins
from tests.corrections.world import bill, closed, line, put, tagged, write
from tests.explaining.adding import check

JOBS = (
    "a,vision,2026-09-10T00,2026-09-11T00,2", "b,speech,2026-09-10T00,2026-09-11T07,1",
    "c,vision,2026-10-05T00,2026-10-06T00,1", "d,speech,2026-10-05T00,2026-10-06T01,3", "e,,2026-10-05T02,2026-10-05T09,2",
)  # fmt: skip
POOLS = """\
  gpus: {costs: {ServiceName: n}, meter: gpu, method: capacity_rate, idle: {unsold: proportional, reserved: holder, held: holder, down: central}}
  own: {costs: {ServiceName: o}, method: direct}
  rest: {costs: otherwise, by: cost, over: all}
adjustments:
  - {team: speech, percent: -10, sponsor: vision, why: "moved to nights"}
fx: {table: fx.csv, rate: month_average}
"""
RATES = "day,from,to,rate\n2026-09-01,EUR,USD,1.1\n2026-10-01,EUR,USD,1.17\n"
GPU, OWN, REST = ({"ServiceName": name} for name in ("n", "o", "r"))
GRAMS = {"BillingCurrency": "gCO2e", "InvoiceIssuerName": "Grid"}
EUROS = {"BillingCurrency": "EUR", "InvoiceIssuerName": "Cirrus"}


def means() -> Means:
    """One plan for all questions, as a server keeps it."""
    kept: dict[object, Computed] = {}

    def computed(project: Project, period: Period, policy: Policy, pins: Pins) -> Computed:
        key = (str(period), policy.version, str(pins.snapshots))
        if key not in kept:
            kept[key] = compute(project, period, policy, pins).kept()
        return kept[key]

    return Means(ground_of, computed)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September is closed and corrected in October, whose bills have late lines, grams and euros; people credit and move some of both."""
    folder = write(tmp_path_factory.mktemp("parts"), POOLS, JOBS)
    (folder / "fx.csv").write_text(RATES, "utf-8")
    september = [
        line("2026-09", "100.10", "2026-09-10/2026-09-11", **GPU), line("2026-09", "7.77", "2026-09-10/2026-09-11", **REST),
        line("2026-09", "31.7", "2026-09-10/2026-09-11", Tags=tagged("speech"), **OWN),
    ]  # fmt: skip
    bill(folder, "2026-09", *september)
    opened = apportion.open_project(folder)
    apportion.ingest(opened)
    put(opened, "2026-09")
    closed(opened, "2026-09")
    bill(folder, "2026-09", *september, line("2026-09", "13.33", "2026-09-10/2026-09-11", **GPU))
    october = [
        line("2026-10", "96.01", "2026-10-05/2026-10-06", **GPU), line("2026-10", "11.11", "2026-10-05/2026-10-06", **REST),
        line("2026-10", "72.007", "2026-09-10/2026-09-11", ChargeClass="Correction", **GPU), line("2026-10", "5", "2026-10-05/2026-10-06", **OWN),
    ]  # fmt: skip
    bill(folder, "2026-10", *october)
    grams = [
        line("2026-10", "1000.5", "2026-10-05/2026-10-06", **GPU),
        line("2026-10", "33", "2026-09-10/2026-09-11", **GPU),
    ]
    bill(folder, "2026-10", *({**one, **GRAMS} for one in grams), vendor="grid")
    bill(folder, "2026-10", {**line("2026-10", "41.3", "2026-10-05/2026-10-06", **GPU), **EUROS}, vendor="cirrus")
    apportion.ingest(opened)
    put(opened, "2026-09")
    put(opened, "2026-10")
    apportion.adjust(opened, "2026-10", Wish("speech", "vision", "3.10", "node 7 was down"))
    opened_dispute = open_dispute(opened, "2026-10", Doubt("job:d", "not ours")).dispute
    settle(opened, opened_dispute.number, Settlement("reclassed", "it was theirs", "vision"))
    apportion.adjust(opened, "2026-09", Wish("vision", "speech", "1.01", "a late promise"))
    return opened


def asked(project: Project, month: str) -> Iterable[str]:
    rows = project.books.posted(month).to_pylist()
    yield from (f"team:{team}" for team in sorted({row["team"] for row in rows}))
    yield from (f"pool:{pool}" for pool in sorted({row["pool"] for row in rows} - {""}))
    entries = project.books.entries(period=month).to_pylist()
    yield from (f"posting:{row['seq']}" for row in entries if not row["account"].startswith("bill:"))
    yield from ("job:a", "job:b") if month == "2026-09" else ("job:a", "job:c", "job:d")


@pytest.mark.parametrize("month", ["2026-09", "2026-10"])
def test_every_figure_of_a_month_is_the_sum_of_what_it_lists(project: Project, month: str) -> None:
    by = means()
    found = [explain_by(by, project, what, month) for what in asked(project, month)]
    assert sum(map(check, found)) > 2 * len(found)
    ranges = [text.partition("curve between ")[2] for one in found for node in one.steps for text in texts(node)]
    assert all(least != most for least, _, most in (some.partition(" and ") for some in ranges if some))
    if month == "2026-10":
        assert {"corrections", "decisions", "late", "USD", "gCO2e"} <= {name for one in found for name in kinds_in(one)}


def test_every_figure_of_the_demo(tmp_path: Path) -> None:
    """Ten pools and a line that is late, of a month that a generator wrote."""
    demo, by = apportion.demo(tmp_path / "demo", scale="0.01"), means()
    project = apportion.open_project(demo.folder)
    some = [what for what in asked(project, "2026-10") if what.startswith(("team:", "pool:"))]
    found = [explain_by(by, project, what, "2026-10") for what in [*some, f"job:{demo.run}"]]
    assert sum(map(check, found)) > 2 * len(found)
    assert sum("late" in kinds_in(one) for one in found) > 2


def kinds_in(found: Explanation) -> Iterable[str]:
    yield from (one.currency for one in found.figures)
    for node in found.steps:
        yield from ("late",) if "month" in node.facts else ()
        yield from ("corrections",) if "booked" in node.facts else ()
        yield from ("decisions",) if node.text.startswith("decided by people") else ()


def test_what_is_late_has_its_price_and_its_cost_lines(project: Project) -> None:
    found = apportion.explain(project, "vision", "2026-10")
    place = next(n for n, node in enumerate(found.steps) if "month" in node.facts)
    late = found.steps[place]
    assert late.text.startswith("late for 2026-09: ")
    assert all("pool" in node.facts for node in found.steps[:place]), "parts come first"
    story = [step.text for step in late.steps[0].steps]
    assert any(text.startswith("1 cost line: 72.01 USD") for text in story)
    assert any(text.startswith("price per GPU-hour: ") for text in story)
    (rounding,) = (node for node in found.steps if node.text.startswith("rounding") and node.facts["currency"] == "USD")
    assert rounding.facts["exact"] == next(one.exact for one in found.figures if one.currency == "USD")
    assert rounding.facts["posted"] == next(one.planned for one in found.figures if one.currency == "USD")


def texts(node: Node) -> Iterable[str]:
    yield node.text
    for step in node.steps:
        yield from texts(step)
