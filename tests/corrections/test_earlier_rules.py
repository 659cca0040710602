"""Months that a release with other rules posted: they stay as they are and can be told, and what comes late moves itself and nothing else.

Rules 5 gave a 250 and b 470 of September, 10 of which this release would give to the other: the figures are posted as that release posted its own.
"""

import hashlib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import apportion
from apportion.books.shapes import CORRECTION
from apportion.engine.charges import charges_of
from apportion.engine.plan import RULES
from apportion.errors import BooksError
from apportion.model.rows import CHARGES, POSTINGS
from apportion.model.times import parse_period
from apportion.verbs.apply import whole_run
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from apportion.verbs.fairness import fairness
from apportion.verbs.plan import draw, save
from apportion.verbs.project import Project
from apportion.verbs.waiting import waiting
from tests.corrections.world import bill, closed, line, owed, put, write
from tests.disputes.test_following import HEAD, POOLS

SEPTEMBER, OCTOBER = "2026-09", "2026-10"
JOBS = [
    "1,a,2026-09-05T00,2026-09-06T00,2",
    "2,b,2026-09-05T00,2026-09-06T00,4",
]  # 48 and 96 of 5,760 GPU-hours at 5.00
EARLIER = {"a": Decimal(10), "b": Decimal(-10)}
MARK = "posted by rules 5 of the engine and told from the charges kept then"


def shifted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """What rules 5 gave: another amount to the first row of each team's use."""
    left = dict(EARLIER)
    found = [
        {**row, "amount": row["amount"] + left.pop(row["team"], Decimal(0))} if row["reason"] == "usage" else row
        for row in rows.to_pylist()
    ]
    return pa.Table.from_pylist(found, schema)


def posted_before(project: Project, month: str) -> None:
    """As a release with rules 5 would have posted it."""
    drawn = draw(project, parse_period(month))
    save(project, drawn)
    plan = project.books.load_plan(month)
    assert plan is not None
    made = drawn.computed.plan
    charges = pa.Table.from_batches(charges_of(made), schema=CHARGES)
    run = whole_run(plan, shifted(plan.postings, POSTINGS), made, None)
    run = replace(run, plan_digest=hashlib.sha256(b"of rules 5").hexdigest(), engine="duckdb/5")
    project.books.post(replace(run, charges=shifted(charges, CHARGES).to_batches()))


@pytest.fixture
def september(tmp_path: Path) -> Project:
    write(tmp_path, POOLS, JOBS, HEAD)
    bill(tmp_path, SEPTEMBER, line(SEPTEMBER, "28800"))
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    posted_before(project, SEPTEMBER)
    return project


def late(project: Project, *amounts: str) -> None:
    """Lines that the vendor adds to September's bill."""
    bill(project.folder, SEPTEMBER, line(SEPTEMBER, "28800"), *(line(SEPTEMBER, amount) for amount in amounts))
    apportion.ingest(project)


def teams(project: Project, month: str) -> dict[str, Decimal]:
    return {team: amount for (team,), amount in owed(project, month, "team").items()}


def share(hours: int, amount: int = 1) -> Decimal:
    return (Decimal(amount) * hours / 5760).quantize(Decimal("1e-9"))


def near(found: dict[str, Decimal], expected: dict[str, Decimal]) -> bool:
    """To a few nano-units: a month is rounded day by day."""
    return found.keys() == expected.keys() and all(
        abs(found[name] - expected[name]) < Decimal("1e-6") for name in found
    )


def test_a_late_line_moves_itself_and_nothing_else(september: Project) -> None:
    closed(september, SEPTEMBER)
    before = september.books.entries(period=SEPTEMBER), september.books.closed(SEPTEMBER)
    assert not apportion.plan(september, SEPTEMBER).pending
    assert not apportion.apply(september, SEPTEMBER).posted
    for number in (1, 2):
        late(september, *["1.00"] * number)
        (one,) = waiting(september)
        assert one.planned.pending
        planned = apportion.plan(september, SEPTEMBER)
        assert planned.rules == (
            f"2026-09 was closed by rules 5 of the engine: what came since is the figure with it less the figure without it, both by rules {RULES}"
        )
        assert apportion.apply(september, SEPTEMBER, made=planned.plan).posted
        found = teams(september, OCTOBER)
        assert sum(found.values()) == number
        assert near(found, {"a": share(48, number), "b": share(96, number), "_idle": share(5616, number)})
    runs = september.books.runs(CORRECTION)
    assert [(run.engine, run.cause) for run in runs] == [
        (f"duckdb/{RULES}", "delivered after 2026-09 was closed: cost lines (cloud)")
    ] * 2
    assert not put(september, SEPTEMBER).posted
    now = september.books.closed(SEPTEMBER)
    assert september.books.entries(period=SEPTEMBER).equals(before[0])
    assert now == before[1]
    assert september.books.verify() == []


@pytest.mark.parametrize(
    ("what", "says", "below"),
    [
        ("a", "a owes 250.00 USD for 2026-09", "1 kept charge of 1 job: 1 250.00 USD"),
        ("pool:gpus", "Pool gpus shares 28,800.00 USD for 2026-09", "b: 470.00 USD of usage"),
        ("job:2", "2 was charged 470.00 USD for 2026-09", "gpus: 470.00 USD in 1 kept charge on 1 day, of b"),
        ("_idle", "_idle holds 28,080.00 USD for 2026-09", "gpus: 28,080.00 USD of idle"),
    ],
)
def test_a_closed_month_is_told_from_what_was_kept(september: Project, what: str, says: str, below: str) -> None:
    closed(september, SEPTEMBER)
    found = apportion.explain(september, what, SEPTEMBER)
    assert found.title == f"{says}: {MARK}; this release has rules {RULES} and does not compute it again."
    assert found.rules == "5"
    assert any(below in text for text in found.to_arrow()["text"].to_pylist())


def test_a_posting_is_told_with_its_jobs(september: Project) -> None:
    closed(september, SEPTEMBER)
    seq = next(row["seq"] for row in september.books.entries(period=SEPTEMBER, team="a").to_pylist())
    found = apportion.explain(september, f"posting:{seq}", SEPTEMBER)
    assert found.title.startswith(f"Posting {seq} (a, gpus usage, 2026-09-05, of ")
    assert MARK in found.title
    with pytest.raises(apportion.ApportionError, match="no team, pool, job or posting of 2026-09"):
        apportion.explain(september, "nobody", SEPTEMBER)


def test_what_corrects_it_is_told_as_well(september: Project) -> None:
    closed(september, SEPTEMBER)
    late(september, "144.00")
    put(september, SEPTEMBER)
    found = apportion.explain(september, "a", SEPTEMBER)
    assert found.title.endswith("Corrected since by 1.20 USD: 251.20 USD now.")
    job = apportion.explain(september, "job:1", SEPTEMBER)
    assert job.title.endswith("Corrected since by 1.20 USD: 251.20 USD now.")
    texts = job.to_arrow()["text"].to_pylist()
    assert any("with what came less without it, both by rules" in text for text in texts)
    booked = apportion.explain(september, "a", OCTOBER)
    assert booked.title == "Corrections of 2026-09, booked in 2026-10, come to 1.20 USD for a."


def test_what_needs_the_rules_says_that_they_are_gone(september: Project) -> None:
    closed(september, SEPTEMBER)
    with pytest.raises(BooksError, match="2026-09 was posted by rules 5 of the engine") as refused:
        fairness(september, SEPTEMBER)
    assert refused.value.code == "engine-changed"


def test_an_open_month_is_planned_again_by_the_rules_of_now(september: Project) -> None:
    assert MARK in apportion.explain(september, "a", SEPTEMBER).title
    planned = apportion.plan(september, SEPTEMBER)
    assert planned.rules == (
        f"2026-09 was posted by rules 5 of the engine; it is planned by rules {RULES}, and the differences hold what that changes"
    )
    put(september, SEPTEMBER)
    assert teams(september, SEPTEMBER) == {"a": 240, "b": 480, "_idle": 28080}
    assert "computed again" in apportion.explain(september, "a", SEPTEMBER).title
    assert apportion.plan(september, SEPTEMBER).rules == ""
    closed(september, SEPTEMBER)
    late(september, "1.00")
    assert apportion.plan(september, SEPTEMBER).rules == ""


@pytest.mark.parametrize("settled_by", ["reclassed", "credited"])
def test_a_decision_follows_by_what_came_alone(september: Project, settled_by: str) -> None:
    """470 of job 2 are the office's; a late line of 60 adds 1.00 to the job, and that is the office's, too."""
    opened = open_dispute(september, SEPTEMBER, Doubt("job:2", "not ours"))
    settle(september, opened.dispute.number, Settlement(settled_by, "agreed", "office"))
    assert teams(september, SEPTEMBER) == {"a": 250, "office": 470, "_idle": 28080}
    closed(september, SEPTEMBER)
    late(september, "60.00")
    put(september, SEPTEMBER)
    assert near(teams(september, OCTOBER), {"a": Decimal("0.5"), "office": Decimal(1), "_idle": Decimal("58.5")})


def test_a_job_is_disputed_as_it_stands_after_a_correction(september: Project) -> None:
    closed(september, SEPTEMBER)
    late(september, "60.00")
    put(september, SEPTEMBER)
    opened = open_dispute(september, SEPTEMBER, Doubt("job:2", "not ours"))
    assert opened.dispute.amount == 471
