"""A vendor's own late line: booked with the bill that carries it, shared by the use of its charge period under that month's policy.

10 September: vision holds 2 GPUs all day, speech 1: 48 and 24 GPU-hours of the node's 192. 5 October: vision 1, speech 3: 24 and 72 of 192.
October's bill asks 96 for 5 October, and 72 for 10 September.
"""

import shutil
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import apportion
from apportion.errors import BooksError
from apportion.verbs.explaining.story import drawn
from apportion.verbs.plan import Planned
from apportion.verbs.project import Project
from apportion.verbs.reconcile import reconciled
from tests.corrections.world import DIRECT, POLICY, bill, closed, line, owed, put, tagged, write

JOBS = (
    "a,vision,2026-09-10T00,2026-09-11T00,2", "b,speech,2026-09-10T00,2026-09-11T00,1",
    "c,vision,2026-10-05T00,2026-10-06T00,1", "d,speech,2026-10-05T00,2026-10-06T00,3",
)  # fmt: skip
OWN, LATE = "2026-10-05", "2026-09-10"
LINES = (
    line("2026-10", "96", f"{OWN}/2026-10-06"),
    line("2026-10", "72", f"{LATE}/2026-09-11", ChargeClass="Correction"),
)
GPUS = "  gpus: {{costs: otherwise, meter: gpu, method: {}}}\n"
Figures = dict[tuple[str, ...], Decimal]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read once: each test has its own policy."""
    folder = write(tmp_path_factory.mktemp("late"), GPUS.format("proportional"), JOBS)
    bill(folder, "2026-09", line("2026-09", "30"))
    bill(folder, "2026-10", *LINES)
    apportion.ingest(apportion.open_project(folder))
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(once, tmp_path / "late")


def planned(folder: Path, pools: str, head: str = POLICY) -> Planned:
    (folder / "policy.yaml").write_text(head + pools, "utf-8")
    return apportion.plan(apportion.open_project(folder), "2026-10")


def figures(rows: pa.Table, *keys: str) -> Figures:
    sums: Figures = {}
    for row in rows.to_pylist():
        key = tuple(str(row[name]) for name in keys)
        sums[key] = sums.get(key, Decimal(0)) + row["amount"]
    return {key: amount for key, amount in sums.items() if amount}


def shares(made: Planned) -> Figures:
    assert {row["period"] for row in made.plan.postings.to_pylist()} == {"2026-10"}
    assert all(one.holds for one in made.equation)
    assert sum(made.plan.postings["amount"].to_pylist()) == sum(bill.total for bill in made.bills)
    return figures(made.plan.postings, "day", "team", "reason")


def worked(day: str, **amounts: str) -> Iterable[tuple[tuple[str, ...], Decimal]]:
    """`vision_usage="18"`."""
    return [((day, *name.rsplit("_", 1)), Decimal(amount)) for name, amount in amounts.items()]


CASES = {
    "proportional": (
        GPUS.format("proportional"),
        {"vision_usage": "24", "speech_usage": "72"},
        {"vision_usage": "48", "speech_usage": "24"},
    ),
    "time": (  # each held the node all day
        GPUS.format("time"),
        {"vision_usage": "48", "speech_usage": "48"},
        {"vision_usage": "36", "speech_usage": "36"},
    ),
    "capacity rate, central idle": (
        GPUS.format("capacity_rate, idle: central"),
        {"vision_usage": "12", "speech_usage": "36", "_idle_idle": "48"},
        {"vision_usage": "18", "speech_usage": "9", "_idle_idle": "45"},
    ),
    "capacity rate, idle by use": (  # 45 idle of 10 September by 2 to 1, 48 of 5 October by 1 to 3
        GPUS.format("capacity_rate, idle: proportional"),
        {"vision_usage": "12", "vision_idle": "12", "speech_usage": "36", "speech_idle": "36"},
        {"vision_usage": "18", "vision_idle": "30", "speech_usage": "9", "speech_idle": "15"},
    ),
    "weights": (  # speech counts double: 24 to 144, and 48 to 48
        GPUS.format("proportional, weights: {user: {speech-user: 2}}"),
        {"vision_usage": "13.714285714", "speech_usage": "82.285714286"},
        {"vision_usage": "36", "speech_usage": "36"},
    ),
    "rate card": (  # the list was charged in September; what the vendor asks for later nobody pays
        GPUS.format('rate_card, prices: [{per: hour, price: "1.00"}]'),
        {"vision_usage": "24", "speech_usage": "72"},
        {"_residual_recovery": "72"},
    ),
    "coincident peak": (  # 4 of 8 GPUs in October's highest hour, 3 of 8 in that of 10 September
        GPUS.format("coincident_peak"),
        {"vision_usage": "12", "speech_usage": "36", "_idle_idle": "48"},
        {"vision_usage": "18", "speech_usage": "9", "_idle_idle": "45"},
    ),
    "even": (
        "  all: {costs: otherwise, method: even}\n",
        {"vision_usage": "48", "speech_usage": "48"},
        {"vision_usage": "36", "speech_usage": "36"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_methods(folder: Path, case: str) -> None:
    pools, own, late = CASES[case]
    assert shares(planned(folder, pools)) == dict([*worked(OWN, **own), *worked(LATE, **late)])


def test_direct(folder: Path) -> None:
    bill(
        folder, "2026-10",
        line("2026-10", "96", f"{OWN}/2026-10-06", Tags=tagged("speech")),
        line("2026-10", "-72", f"{LATE}/2026-09-11", Tags=tagged("vision")),
    )  # fmt: skip
    apportion.ingest(apportion.open_project(folder))
    assert shares(planned(folder, DIRECT)) == {
        (OWN, "speech", "usage"): Decimal(96), (LATE, "vision", "usage"): Decimal(-72),
    }  # fmt: skip


def test_a_peak_is_that_of_the_charge_period(tmp_path: Path) -> None:
    """At noon of 10 September speech has 6 of 8 GPUs, the rest of the day none: the late 72 goes 18 to 54; October's peak is 1 to 3, and 4 idle."""
    folder = write(
        tmp_path, GPUS.format("coincident_peak"), (JOBS[0], "b,speech,2026-09-10T12,2026-09-10T13,6", *JOBS[2:])
    )
    bill(folder, "2026-10", *LINES)
    apportion.ingest(apportion.open_project(folder))
    own = {"vision_usage": "12", "speech_usage": "36", "_idle_idle": "48"}
    late = {"vision_usage": "18", "speech_usage": "54"}
    assert shares(planned(folder, GPUS.format("coincident_peak"))) == dict([*worked(OWN, **own), *worked(LATE, **late)])


def test_even_idle_goes_to_those_who_ran_then(tmp_path: Path) -> None:
    """bio ran in October only, 4 GPUs of 8: of the late idle it gets nothing. Late: 27 used, 45 idle; own: 96 all used."""
    folder = write(tmp_path, "", (*JOBS, "e,bio,2026-10-05T00,2026-10-06T00,4"))
    bill(folder, "2026-10", *LINES)
    apportion.ingest(apportion.open_project(folder))
    own = {"vision_usage": "12", "speech_usage": "36", "bio_usage": "48"}
    late = {"vision_usage": "18", "vision_idle": "22.5", "speech_usage": "9", "speech_idle": "22.5"}
    found = shares(planned(folder, GPUS.format("capacity_rate, idle: even")))
    assert found == dict([*worked(OWN, **own), *worked(LATE, **late)])


def test_owners_of_the_service_day(folder: Path) -> None:
    """From October on vision's work is speech's."""
    moved = "owners:\n  - {when: {team: vision}, team: speech, from: 2026-10-01}\n"
    found = shares(planned(folder, GPUS.format("proportional"), POLICY.replace("owners:\n", moved)))
    assert found == dict([*worked(OWN, speech_usage="96"), *worked(LATE, vision_usage="48", speech_usage="24")])


def test_what_the_month_settles_once_is_not_settled_again(folder: Path) -> None:
    """A cap holds for October's own charges; a percentage for each day. A price list without a bill charges October's hours once."""
    rules = """\
adjustments:
  - {team: vision, cap: 10, sponsor: speech, why: "agreed"}
  - {team: speech, percent: -50, sponsor: vision, from: 2026-09-01, until: 2026-09-30, why: "agreed"}
"""
    found = shares(planned(folder, GPUS.format("proportional"), rules + POLICY))
    own = {"vision_usage": "24", "vision_adjustment": "-14", "speech_usage": "72", "speech_subsidy": "14"}
    late = {"vision_usage": "48", "vision_subsidy": "12", "speech_usage": "24", "speech_adjustment": "-12"}
    assert found == dict([*worked(OWN, **own), *worked(LATE, **late)])
    card = '  cards: {meter: gpu, usage: {node: "*"}, method: rate_card, prices: [{per: hour, price: "1.00"}]}\n'
    made = planned(folder, card + "  rest: {costs: otherwise, method: even}\n")
    assert figures(made.plan.postings, "bill", "day") == {
        ("Nimbus 2026-10 USD", OWN): Decimal(96), ("Nimbus 2026-10 USD", LATE): Decimal(72),
        ("rate card cards 2026-10 USD", OWN): Decimal(96),
    }  # fmt: skip


def test_taxes_follow_what_is_late_with_them_or_else_the_bill(folder: Path) -> None:
    """6 of tax for 10 September follow the late 48 to 24. Without a late usage line they follow October's 24 to 72."""
    tax = line("2026-10", "6", f"{LATE}/2026-09-11", ChargeCategory="Tax")
    bill(folder, "2026-10", *LINES, tax)
    apportion.ingest(apportion.open_project(folder))
    own = {"vision_usage": "24", "speech_usage": "72"}
    late = {"vision_usage": "52", "speech_usage": "26"}
    assert shares(planned(folder, GPUS.format("proportional"))) == dict([*worked(OWN, **own), *worked(LATE, **late)])
    bill(folder, "2026-10", LINES[0], tax)
    apportion.ingest(apportion.open_project(folder))
    assert shares(planned(folder, GPUS.format("proportional"))) == dict(
        worked(OWN, vision_usage="25.5", speech_usage="76.5")
    )


def october(folder: Path, pools: str) -> Project:
    """A policy that begins in October."""
    later = POLICY.replace("policy: small", "policy: later").replace("2026-01-01", "2026-10-01")
    (folder / "policy.yaml").write_text(later + pools, "utf-8")
    return apportion.open_project(folder)


@pytest.mark.parametrize("shut", [False, True])
def test_the_policy_of_the_service_month_open_or_closed(folder: Path, shut: bool) -> None:
    """September shares by use, October evenly."""
    project = apportion.open_project(folder)
    put(project, "2026-09")
    if shut:
        closed(project, "2026-09")
    before = project.books.posted("2026-09")
    again = october(folder, "  all: {costs: otherwise, method: even}\n")
    put(again, "2026-10")
    found = owed(again, "2026-10", "day", "team", "pool")
    assert found == {
        (OWN, "vision", "all"): Decimal(48), (OWN, "speech", "all"): Decimal(48),
        (LATE, "vision", "gpus"): Decimal(48), (LATE, "speech", "gpus"): Decimal(24),
    }  # fmt: skip
    assert again.books.posted("2026-09").equals(before)
    assert again.books.believed("2026-09").equals(before)
    assert not again.books.runs("correction")
    assert apportion.verify(again).sound
    if not shut:
        return
    told = apportion.explain(again, "vision", "2026-10")
    assert told.figures[0].posted == 96
    (node,) = [step for step in told.steps if "month" in step.facts]
    assert node.text.startswith(
        "late for 2026-09: 48.00 USD, from 1 line of the bills, shared by the use of that month under small@"
    )
    assert "gpus: 48.00 USD = usage 48.00" in "\n".join(drawn(node.steps))
    job = apportion.explain(again, "job:a", "2026-10")
    assert job.figures[0].posted == 48


def test_the_policy_of_an_open_service_month_may_change_later(folder: Path) -> None:
    """What is posted is explained by the policy that it was posted with; a plan that was shown is refused once that policy moved."""
    project = apportion.open_project(folder)
    apportion.plan(project, "2026-09")
    again = october(folder, "  all: {costs: otherwise, method: even}\n")
    apportion.plan(again, "2026-10")
    changed = POLICY.replace("policy: small", "policy: changed") + GPUS.format("time")
    (folder / "policy.yaml").write_text(changed, "utf-8")
    apportion.plan(apportion.open_project(folder), "2026-09")
    again = october(folder, "  all: {costs: otherwise, method: even}\n")
    with pytest.raises(BooksError, match="policy-moved"):
        apportion.apply(again, "2026-10")
    put(again, "2026-10")
    assert owed(again, "2026-10", "day", "team")[LATE, "speech"] == 36
    (folder / "policy.yaml").write_text(POLICY + GPUS.format("proportional, slot: day"), "utf-8")
    apportion.plan(apportion.open_project(folder), "2026-09")
    again = october(folder, "  all: {costs: otherwise, method: even}\n")
    assert apportion.explain(again, "speech", "2026-10").figures[0].posted == 84
    assert apportion.plan(again, "2026-10").pending


def test_hours_count_in_the_month_in_which_they_were_held(folder: Path) -> None:
    project = apportion.open_project(folder)
    put(project, "2026-10")
    charges = project.books.scan("charges", where=pc.field("period") == "2026-10")
    by_job = figures(charges, "workload", "day")
    assert by_job == {
        ("a", LATE): Decimal(48), ("b", LATE): Decimal(24), ("c", OWN): Decimal(24), ("d", OWN): Decimal(72),
    }  # fmt: skip
    held = apportion.report(project, "held", "2026-10").to_arrow().to_pylist()
    assert {row["owner"]: row["held"] for row in held} == {"vision": Decimal(24), "speech": Decimal(72)}


def test_a_bill_of_nothing_but_late_lines(folder: Path) -> None:
    bill(folder, "2026-10", LINES[1])
    apportion.ingest(apportion.open_project(folder))
    assert shares(planned(folder, GPUS.format("proportional"))) == dict(
        worked(LATE, vision_usage="48", speech_usage="24")
    )


def test_a_line_that_reaches_into_its_billing_period_is_not_late(folder: Path) -> None:
    """30 September to 2 October on October's bill: shared by the use of those days, of which there is none."""
    bill(folder, "2026-10", line("2026-10", "10", "2026-09-30/2026-10-02"), LINES[0])
    apportion.ingest(apportion.open_project(folder))
    made = planned(folder, GPUS.format("proportional"))
    assert not made.plan.parts
    assert figures(made.plan.postings, "team") == {
        ("vision",): Decimal(24), ("speech",): Decimal(72), ("_unallocated",): Decimal(10),
    }  # fmt: skip


def test_a_converted_bill_is_reconciled_with_its_late_lines(folder: Path) -> None:
    """Each part is rounded to the 18th place by itself: at 1.1666... two parts of a bill need not be the rounded whole."""
    euros = [
        {**one, "BillingCurrency": "EUR", "EffectiveCost": f"{one['EffectiveCost']}.000000000000000001"}
        for one in LINES
    ]
    bill(folder, "2026-10", *euros)
    (folder / "fx.csv").write_text(
        "day,from,to,rate\n2026-10-01,EUR,USD,1.1\n2026-10-15,EUR,USD,1.2\n2026-10-30,EUR,USD,1.2\n"
    )
    head = POLICY.replace("time_zone: UTC\n", "time_zone: UTC\nfx: {table: fx.csv}\n")
    (folder / "policy.yaml").write_text(head + GPUS.format("proportional"), "utf-8")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    (whole,) = apportion.plan(project, "2026-10").bills
    apportion.apply(project, "2026-10")
    rate = Decimal("1.166666666667")
    assert whole.total.quantize(Decimal("1E-9")) == (168 * rate).quantize(Decimal("1E-9"))
    (row,) = reconciled(project, "2026-10").to_arrow().to_pylist()
    assert (row["currency"], row["read"], row["posted"], row["difference"]) == (
        "EUR", Decimal("168.000000000000000002"), Decimal("168.000000000000000002"), Decimal(0),
    )  # fmt: skip
