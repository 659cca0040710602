"""What is known of a running month, and what bills hold for the rest of it: bills are read as files, planned and posted; nothing else brings evidence."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.model.times import Period
from apportion.reports.forecast.made import Forecast, forecast_of
from apportion.reports.sums import total
from apportion.verbs.forecast import Asked, known_beside
from apportion.verbs.live import live
from apportion.verbs.project import Project
from apportion.verbs.reaches import known_day
from apportion.verbs.world import pins_of

TODAY = date(2026, 9, 17)
MONTH = "2026-09"
HEAD = (
    "InvoiceIssuerName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,"
    "BilledCost,EffectiveCost,BillingCurrency,ServiceName,ServiceCategory,SkuId,Tags"
)
SETTINGS = '[project]\nname = "spans"\n[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
POLICY = """\
policy: spans
effective: 2026-01-01
currency: USD
time_zone: {zone}
teams: {{vision: {{}}, speech: {{}}}}
owners:
  - {{when: {{tag.team: [vision, speech]}}, team: "{{tag.team}}"}}
pools:
  machines: {{costs: otherwise, method: direct}}
"""


def line(month: Period, ends: tuple[date, date], cost: str, team: str, sku: str) -> str:
    spans = ",".join(f"{day}T00:00:00Z" for day in (month.first_day, month.next.first_day, *ends))
    return f'Acme,1,{spans},Usage,{cost},{cost},USD,Machines,Compute,{sku},"{{""team"":""{team}""}}"'


def daily(month: Period, days: int) -> Iterator[str]:
    """100 a day for vision and 40 for speech."""
    for n in range(days):
        day = month.first_day + timedelta(days=n)
        yield line(month, (day, day + timedelta(days=1)), "100", "vision", "gpu")
        yield line(month, (day, day + timedelta(days=1)), "40", "speech", "gpu")


def fee(month: Period) -> str:
    return line(month, (month.first_day, month.next.first_day), "3000", "speech", "support")


def make(folder: Path, lines: Sequence[tuple[Period, Sequence[str]]], zone: str = "UTC") -> Project:
    (folder / "bills").mkdir(parents=True)
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(POLICY.format(zone=zone), "utf-8")
    for month, rows in lines:
        (folder / "bills" / f"{month}.csv").write_text("\n".join([HEAD, *rows, ""]), "utf-8")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month, _ in lines:
        apportion.plan(project, month)
        apportion.apply(project, month)
    return project


AUGUST, SEPTEMBER = Period(2026, 8), Period(2026, 9)


@pytest.fixture(scope="module", params=["new", "every month"])
def spans(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fee for the whole of September is on the bill that is posted while the month runs, with usage through the 14th."""
    before = [fee(AUGUST)] if request.param == "every month" else []
    months = [(AUGUST, [*daily(AUGUST, 31), *before]), (SEPTEMBER, [*daily(SEPTEMBER, 14), fee(SEPTEMBER)])]
    return make(tmp_path_factory.mktemp("spans") / "project", months)


def foreseen(project: Project, today: date = TODAY, by: str = "team") -> Forecast:
    return forecast_of(known_beside(project, Asked(by=by), None, today), by)


def test_a_day_to_come_is_not_known(spans: Project) -> None:
    assert known_day(spans, SEPTEMBER, pins_of(spans), TODAY) == date(2026, 9, 14)
    assert known_day(spans, SEPTEMBER, pins_of(spans), date(2026, 9, 10)) == date(2026, 9, 9)
    made = foreseen(spans)
    assert (str(made.known.month), made.known.through) == (MONTH, date(2026, 9, 14))


def test_a_line_for_the_whole_month_is_certain_to_its_last_day(spans: Project) -> None:
    """Once, whether or not the months before had it, too."""
    [whole] = foreseen(spans).wholes
    assert whole.outlook.spent == 14 * 140 + 1400
    assert whole.outlook.committed == 1600
    assert whole.outlook.amount == Decimal(30 * 140 + 3000)
    assert whole.outlook.range(95).low >= 14 * 140 + 3000
    teams = {one.outlook.name: one.outlook for one in foreseen(spans).groups}
    assert (teams["speech"].committed, teams["vision"].committed) == (Decimal(1600), Decimal(0))
    assert total(one.amount for one in teams.values()) == whole.outlook.amount
    pools = foreseen(spans, by="pool")
    assert total(one.outlook.amount for one in pools.groups) == whole.outlook.amount
    assert [one.steps[-1][1] for one in pools.wholes] == [whole.outlook.amount]
    amounts = [amount for _, amount, _, _ in whole.steps]
    assert amounts == sorted(amounts)


def test_budgets_know_the_same_days_and_end_where_the_forecast_does(spans: Project) -> None:
    apportion.set_budget(spans, "speech", "9000", MONTH)
    [one] = apportion.budgets(spans, MONTH, today=TODAY)
    forecast = {group.outlook.name: group.outlook for group in foreseen(spans).groups}
    assert (one.through, one.projected) == (date(2026, 9, 14), forecast["speech"].amount)
    assert one.spent == 14 * 40 + 3000  # all that is posted
    [over] = apportion.budgets(spans, MONTH, today=date(2026, 10, 5))
    assert (over.through, over.projected) == (None, None)


def test_a_month_that_is_over_is_known_whole(spans: Project) -> None:
    made = foreseen(spans, date(2026, 10, 2))
    assert (str(made.known.month), made.known.through) == ("2026-10", date(2026, 9, 30))


def test_only_a_line_that_spans_is_known_to_the_day_it_came(tmp_path: Path) -> None:
    project = make(tmp_path / "project", [(AUGUST, [fee(AUGUST)]), (SEPTEMBER, [fee(SEPTEMBER)])])
    made = foreseen(project)
    [whole] = made.wholes
    assert made.known.through == TODAY - timedelta(days=1)
    assert (whole.outlook.amount, whole.outlook.committed) == (Decimal(3000), Decimal(1400))


def test_hours_of_a_day_on_the_next_bill_make_no_cheap_day(tmp_path: Path) -> None:
    """The vendor's month ends at 17:00 of the 31st here: what is looked back at has no such day, and no jump beside it."""
    project = make(tmp_path / "project", [(AUGUST, list(daily(AUGUST, 31)))], "America/Los_Angeles")
    made = foreseen(project, TODAY)
    [whole] = made.wholes
    assert made.known.partial == {date(2026, 8, 31)}
    assert whole.outlook.amount == Decimal(30 * 140)
    assert whole.outlook.range(80).low <= 4200 <= whole.outlook.range(80).high < 5200


def test_without_usage_what_is_posted_is_all(tmp_path: Path) -> None:
    months = [(AUGUST, list(daily(AUGUST, 31))), (SEPTEMBER, [*daily(SEPTEMBER, 14), fee(SEPTEMBER)])]
    project = make(tmp_path / "project", months)
    with pytest.raises(apportion.ApportionError):
        live(project, TODAY)  # there is no usage
    assert foreseen(project).known.estimated_from is None
