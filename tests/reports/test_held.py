"""What was held and what was used: hours by unit, never added across units; the money of the difference adds up."""

from decimal import Decimal

import pyarrow as pa

from apportion.model.meters import GPU
from apportion.model.rows import CHARGES
from apportion.render.formats import render
from apportion.render.sheet import Screen, report_sheet
from apportion.reports.held import READ, held, views_of
from apportion.reports.idle import idle
from apportion.reports.report import Record, Report
from apportion.reports.showback import showback
from apportion.reports.trend import trend
from tests.reports.record import DEFAULTS, record

HOUR = 3600
UNITS = {"GPU": GPU, "core": 1000, "GiB": 2**30}


def charge(unit: str, hours: tuple[int, int | None, int], waste: str | None, **changes: object) -> dict[str, object]:
    """`hours` held, used and not measured."""
    whole = [None if part is None else Decimal(part * UNITS[unit] * HOUR) for part in hours]
    own = {name: DEFAULTS[name] for name in CHARGES.names if name in DEFAULTS} | {
        "workload": "j1",
        "unit_seconds": Decimal(0),
    }
    quantities = dict(zip(("held", "used", "unmeasured"), whole, strict=True))
    money = {"amount": Decimal(0), "waste": None if waste is None else Decimal(waste)}
    return {**own, "unit": unit, "per_unit": Decimal(UNITS[unit]), **quantities, **money, **changes}


MONTH = (
    charge("GPU", (10, 6, 0), "300.5", project="p1", user="ann"),
    charge("GPU", (4, 1, 2), "20", project="p1", user="bob", pool="a100"),
    charge("GPU", (8, 8, 0), "0", team="speech"),
    charge("core", (100, 50, 0), "0.25", team="speech", pool="cpu"),
    charge("GiB", (7, None, 7), None, team="speech", pool="storage"),
    charge("GPU", (5, None, 5), None, team="office"),
    # another component of the same pool: money, and no hours again
    {
        **charge("GPU", (0, 0, 0), "10", project="p1", user="ann"),
        **dict.fromkeys(("unit", "per_unit", "held", "used", "unmeasured")),
    },
)


def month(*rows: dict[str, object]) -> Record:
    known = record()
    charges = pa.Table.from_pylist(list(rows or MONTH), schema=CHARGES).select(READ)
    return Record(known.period, known.posted, known.head, known.policies, charges)


def table(report: Report) -> dict[tuple[object, object], tuple[object, ...]]:
    return {(row[0], row[1]): row[2:] for row in report.sections[0].rows}


def text_of(report: Report, form: str = "table") -> str:
    return render(report_sheet(report), form, Screen())


def test_hours_and_waste_by_team_and_unit() -> None:
    report = held(month())
    assert table(report)["vision", "GPU"] == (14, 7, Decimal("0.583333"), 2, Decimal("330.5"))
    assert table(report)["speech", "GPU"] == (8, 8, 1, 0, 0)
    assert table(report)["speech", "core"] == (100, 50, Decimal("0.5"), 0, Decimal("0.25"))
    assert [row[0] for row in report.sections[0].rows][:2] == ["vision", "speech"]
    assert report.sections[0].bill == Decimal("330.75")


def test_what_was_not_measured_is_neither_used_nor_wasted() -> None:
    report = held(month())
    assert table(report)["office", "GPU"] == (5, None, None, 5, None)
    assert table(report)["speech", "GiB"] == (7, None, None, 7, None)
    assert report.title.startswith("GPU: 27.0 h held, 15.0 used (75.0 %), 7.0 not measured, waste 330.50 USD.")
    assert "GiB: 7.0 h held, use not measured" in text_of(report)


def test_hours_of_different_units_have_no_total() -> None:
    mixed, alone = held(month()).sections[0], held(month(MONTH[0], MONTH[2])).sections[0]
    assert mixed.totals[1:] == (None, None, None, None, None, Decimal("330.75"))
    assert alone.totals[1:] == (None, 18, 14, Decimal("0.777778"), 0, Decimal("300.5"))


def test_departments_and_pools_are_those_of_the_postings() -> None:
    assert table(held(month(), "department"))["research", "GPU"][0] == 22
    assert table(held(month(), "pool"))["a100", "GPU"] == (4, 1, Decimal("0.5"), 2, 20)
    assert ("vision/bob", "GPU") in table(held(month(), "user"))


def test_beside_money_only_units_that_much_of_the_waste_is_about_get_rows() -> None:
    (beside,) = showback(month()).beside
    assert {unit for _, unit in table(beside)} == {"GPU"}
    text = text_of(showback(month()))
    assert "core: 100.0 h held, 50.0 used (50.0 %), waste 0.25 USD" in text
    assert "GiB: 7.0 h held, use not measured" in text
    assert [report.name for report in idle(month()).beside] == ["held"]
    assert showback(month(), "reason").beside == ()


def test_a_month_of_which_nothing_was_measured_says_so() -> None:
    text = text_of(showback(month(MONTH[4], MONTH[5])))
    assert "Nothing was measured of what was held in 2026-10: its use and waste are not known." in text
    assert "utilisation" not in text
    assert showback(record()).beside == ()  # a record without charges has nothing to say


def test_programs_read_it_too() -> None:
    value = report_sheet(showback(month())).value
    assert isinstance(value, dict)
    (section,) = value["held"]
    assert section["rows"][0] == {
        "owner": "vision", "unit": "GPU", "held": 14, "used": 7, "utilisation": Decimal("0.583333"), "unmeasured": 2, "waste": Decimal("330.5"),
    }  # fmt: skip
    lines = text_of(held(month()), "csv").splitlines()
    assert lines[0] == "currency,owner,unit,held,used,utilisation,unmeasured,waste"
    assert lines[1] == "USD,vision,GPU,14,7,0.583333,2,330.5"


def test_the_trend_of_waste() -> None:
    report = trend(month())
    at = [column.name for column in report.columns].index("waste")
    assert [row[at] for row in report.sections[0].rows] == [Decimal("330.75"), None, None, None]
    assert "waste" not in text_of(trend(record()))


def test_more_used_than_held_is_more_than_all() -> None:
    (views,) = views_of([charge("core", (1, 2, 0), "0")])
    assert views.utilisation == 2
    assert views.sentence("USD") == "core: 1.0 h held, 2.0 used (200.0 %), waste 0.00 USD"
