"""Quotas and budgets: what was used is what other reports say, what runs out is a straight line, and each sees their own."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.cli.main import main
from apportion.errors import ApportionError
from apportion.reports.forecast.made import Forecast, forecast_of
from apportion.reports.quotas import Limit, Used
from apportion.reports.sums import grouped
from apportion.verbs.counting import window
from apportion.verbs.forecast import Asked, known_beside
from apportion.verbs.live import live
from apportion.verbs.minor_units import read_posted
from apportion.verbs.project import Project
from tests.sources import making
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent

MONTH = world.BILLED[1]
AFTER = date(2026, 12, 24)


@pytest.fixture
def own(small: Project, tmp_path: Path) -> Project:
    return world.copied(small, tmp_path / "project")


def test_hours_are_those_held_and_money_is_what_is_posted(small: Project) -> None:
    hours, money = sorted(apportion.quotas(small, MONTH, today=AFTER), key=lambda one: one.limit.team)
    held = apportion.report(small, "held", MONTH)
    row = next(row for row in held.sections[0].rows if row[:2] == ("vision", "GPU"))
    assert (hours.limit.unit, hours.limit.size, hours.window) == ("GPU-hours", Fraction(400), MONTH)
    assert round(hours.used, 6) == Fraction(row[2])  # type: ignore[arg-type]
    sums = grouped(read_posted(small, MONTH), ("team", "currency"))
    assert (money.limit.team, money.used) == ("zebra", Fraction(sums["zebra", "USD"]))
    assert (hours.first, hours.last) == (date(2026, 10, 1), date(2026, 10, 31))


def test_hours_by_hand(small: Project) -> None:
    """vision holds one GPU for 20.5 hours on seven days."""
    found = [one for one in apportion.quotas(small, MONTH, today=AFTER) if one.limit.team == "vision"]
    assert found[0].used == Fraction("143.5")


FLOW_SETTINGS = """\
[project]
name = "flow"

[[sources]]
name = "cloud"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "traffic"
kind = "usage"
path = "traffic.csv"
columns = { workload = "job", resource = "link", start = "start", end = "end", outcome = "state" }
meters = { network = "bytes" }
units = { network = "bytes" }
labels = { team = "team", project = "project" }
"""
FLOW_POLICY = """\
policy: flow
effective: 2026-01-01
currency: USD
time_zone: UTC
teams: {vision: {}, zebra: {}}
owners:
  - {when: {team: "*"}, team: "{team}", project: "{project}"}
pools:
  egress: {costs: otherwise, usage: {resource: "*"}, meter: network, method: proportional}
quotas:
  - {team: vision, meter: network, amount: 1000, per: month, warn: [60]}
  - {team: vision, project: detect, meter: network, pool: egress, amount: 100, per: week}
  - {team: zebra, meter: network, amount: 7, per: month}
"""
FLOWS = (  # team, project, day of October, GiB
    ("vision", "detect", 1, 512),
    ("vision", "detect", 26, 33),
    ("vision", "detect", 31, 44),
    ("vision", "track", 30, 55),
    ("zebra", "halcyon", 30, 8),
)


def test_an_amount_counts_once_however_many_bills_its_pool_has(tmp_path: Path) -> None:
    """Two vendors bill the same traffic in two categories each: four charges of every workload and day."""
    moved = [
        {
            "job": str(number), "link": "link-1", "start": f"2026-10-{day:02}T00:00:00Z", "end": f"2026-10-{day:02}T06:00:00Z",
            "state": "COMPLETED", "team": team, "project": project, "bytes": str(size * 2**30),
        }
        for number, (team, project, day, size) in enumerate(FLOWS)
    ]  # fmt: skip
    whole = {"ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-11-01T00:00:00Z", "Tags": "{}"}
    billed = [
        {**whole, "InvoiceIssuerName": vendor, "ServiceCategory": category}
        for vendor in ("Nimbus", "Cirrus")
        for category in ("Networking", "Storage")
    ]
    files = {"apportion.toml": FLOW_SETTINGS, "policy.yaml": FLOW_POLICY, "traffic.csv": making.csv_text(moved)}
    for name, text in {**files, "bill.csv": making.bill_text(*billed)}.items():
        making.put(tmp_path / name, text)
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    apportion.plan(project, MONTH)
    apportion.apply(project, MONTH)
    month, week, foreign = apportion.quotas(project, MONTH, today=AFTER)
    assert [one.limit.unit for one in (month, week, foreign)] == ["GiB"] * 3
    assert month.used == sum(size for team, _, _, size in FLOWS if team == "vision") == 644
    last_week = range(26, 32)  # 2026-10-26 is a Monday; November's first day is beyond the month
    assert week.used == sum(size for _, name, day, size in FLOWS if name == "detect" and day in last_week) == 77
    assert (month.left, foreign.used) == (Fraction(356), Fraction(8))
    assert [one.state for one in (month, week, foreign)] == ["warned", "fine", "over"]


def test_longer_and_shorter_windows(own: Project) -> None:
    policy = own.folder / "policy.yaml"
    more = "\n".join(
        f"  - {{team: vision, meter: gpu, hours: 100, per: {per}}}" for per in ("day", "week", "quarter", "year")
    )
    policy.write_text(policy.read_text("utf-8") + more + "\n", "utf-8")
    project = apportion.open_project(own.folder)
    used = {
        one.limit.per: one.used for one in apportion.quotas(project, MONTH, today=AFTER) if one.limit.team == "vision"
    }
    day = Fraction("20.5")
    assert used == {"day": 0, "week": 0, "month": 7 * day, "quarter": 7 * day, "year": 14 * day}
    assert window("week", date(2026, 10, 1)) == (date(2026, 9, 28), date(2026, 10, 4))
    assert window("quarter", date(2026, 11, 9)) == (date(2026, 10, 1), date(2026, 12, 31))


@pytest.mark.parametrize(
    ("used", "through", "state", "runs_out"),
    [
        (0, 10, "fine", None),
        (50, 10, "fine", 20),
        (30, 10, "fine", None),
        (80, 16, "warned", 20),
        (99, 30, "warned", 31),
        (96, 30, "warned", None),
        (100, 20, "warned", None),
        (101, 20, "over", None),
    ],
)
def test_states_and_the_straight_line(used: int, through: int, state: str, runs_out: int | None) -> None:
    limit = Limit("vision", "", "gpu", "", "GPU-hours", Fraction(100), "month", (Fraction(80), Fraction(95)))
    made = Used(limit, date(2026, 10, 1), date(2026, 10, 31), date(2026, 10, through), Fraction(used))
    assert made.state == state
    assert made.runs_out == (date(2026, 10, runs_out) if runs_out else None)
    assert made.left == 100 - used


def asked(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main([*arguments])
    return int(stop.value.code or 0)


def test_the_command_line_tells_and_exits_with_4_when_over(own: Project, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(own.folder)
    assert asked("--project", folder, "quota", "vision", "--period", MONTH) == 0
    said = capsys.readouterr().out
    assert ("vision" in said, "143.50" in said, "zebra" in said) == (True, True, False)
    policy = own.folder / "policy.yaml"
    policy.write_text(policy.read_text("utf-8").replace("hours: 400", "hours: 40"), "utf-8")
    assert asked("--project", folder, "quota", "--period", MONTH) == 4
    assert asked("--project", folder, "quota", "visoin") == 1


def foreseen_on(project: Project, today: date) -> Forecast:
    return forecast_of(known_beside(project, Asked(), live(project, today), today))


def test_budgets_spent_left_and_projected(own: Project) -> None:
    apportion.set_budget(own, "vision", "1000", MONTH, "agreed")
    apportion.set_budget(own, "vision/detect", "500.50 USD", MONTH)
    whole, part = apportion.budgets(own, MONTH, today=AFTER)
    sums = grouped(read_posted(own, MONTH), ("team", "project"))
    assert whole.spent == sum(amount for (team, _), amount in sums.items() if team == "vision")
    assert part.spent == sums["vision", "detect"]
    assert (whole.left, whole.projected) == (1000 - whole.spent, None)
    running = apportion.budgets(own, MONTH, today=date(2026, 10, 31))[0]
    ends = {one.outlook.name: one.outlook for one in foreseen_on(own, date(2026, 10, 31)).groups}
    assert running.through is not None
    assert running.through < date(2026, 10, 31)  # the day runs
    assert running.projected == round(ends["vision"].amount, 2)
    again = apportion.set_budget(own, "vision", "1000.00", MONTH, "agreed")
    assert (len(own.books.budgets.all()), again.who) == (2, own.books.budgets.all()[0].who)
    apportion.set_budget(own, "vision", "0", "2026-11")
    assert [one.budget.owner for one in apportion.budgets(own, "2026-11")] == ["vision/detect"]


@pytest.mark.parametrize(
    ("owner", "amount", "since", "code"),
    [
        ("nobody", "5", MONTH, "unknown-owner"),
        ("_idle", "5", MONTH, "unknown-owner"),
        ("vision", "-5", MONTH, "invalid-amount"),
        ("vision", "5.001", MONTH, "invalid-amount"),
        ("vision", "1e30", MONTH, "invalid-amount"),
        ("vision", "five", MONTH, "invalid-number"),
        ("vision", "5 EUR", MONTH, "other-currency"),
        ("vision", "5", "2026-13", "invalid-period"),
    ],
)
def test_bad_budgets_change_nothing(small: Project, owner: str, amount: str, since: str, code: str) -> None:
    with pytest.raises(ApportionError) as error:
        apportion.set_budget(small, owner, amount, since)
    assert error.value.code == code
    assert small.books.budgets.all() == []


def test_the_page_shows_the_verbs_figures_to_whom_they_belong(own: Project) -> None:
    clients = clients_of(own.folder)
    apportion.set_budget(own, "zebra", "123.45", MONTH)
    every = clients("finance").get(f"/quotas.json?period={MONTH}").json()
    assert "2 quotas and 1 budget" in every["title"]
    assert sorted(row["owner"] for table in every["tables"] for row in table["rows"]) == ["vision", "zebra", "zebra"]
    rows = clients("viewer").get(f"/quotas.json?period={MONTH}").json()["tables"][0]["rows"]
    assert [(row["owner"], row["used"], row["limit"]) for row in rows] == [("vision", "143.5", "400")]
    text = clients("viewer").get(f"/quotas?period={MONTH}").text
    assert not [word for word in world.SECRET if word in text]


def test_a_lead_sets_a_budget_for_their_own_team_alone(own: Project) -> None:
    clients: Clients = clients_of(own.folder)
    lead = clients("lead")
    wish = {"team": "speech", "project": "asr", "amount": "200", "since": MONTH, "why": "autumn"}
    assert sent(lead, "/quotas", "/quotas/budget", **wish).headers["location"] == f"/quotas?period={MONTH}"
    (made,) = own.books.budgets.all()
    assert (made.owner, made.who, made.why) == ("speech/asr", "grace", "autumn")
    refused = [sent(lead, "/quotas", "/quotas/budget", **{**wish, "team": team}) for team in ("zebra", "no-such", "")]
    assert ({one.status_code for one in refused}, len({one.text for one in refused})) == ({404}, 1)
    assert sent(lead, "/quotas", "/quotas/budget", **{**wish, "amount": "-1"}).status_code == 422
    assert clients("viewer").post("/quotas/budget", data=wish).status_code == 403
    assert own.books.budgets.all() == [made]
    assert "zebra" not in lead.get("/quotas").text
