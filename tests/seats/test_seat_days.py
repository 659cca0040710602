"""Lists of seats against a reading day by day: whose each user's seat is on each day, and what that makes of a bill."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import open_project
from tests.sources.making import bill_text, csv_text, put, read

FIRST, LAST = date(2026, 9, 1), date(2026, 11, 30)
DAYS = [FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1)]
Row = dict[str, str]


def midnight(day: date, zone: ZoneInfo) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


def month(first: date, zone: ZoneInfo) -> Interval:
    after = (first + timedelta(days=31)).replace(day=1)
    return Interval(midnight(first, zone), midnight(after, zone))


def drawn(dice: random.Random) -> list[Row]:
    """Seats handed on, given twice, taken away and back, left open, ended before they began; some of a team without names."""
    rows = []
    for _ in range(60):
        start = date(2026, 7, 1) + timedelta(days=dice.randrange(150))
        until = start + timedelta(days=dice.randrange(-1, 60))
        named = dice.random() < 0.8
        rows.append(
            {
                "product": dice.choice(["Copilot", "Figma"]),
                "user": f"u{dice.randrange(12)}" if named else "",
                "team": dice.choice(["vision", "speech", "bio"]),
                "from": start.isoformat(),
                "until": until.isoformat() if dice.random() < 0.8 else "",
                "seats": "" if named else str(dice.randrange(1, 4)),
            }
        )
    return rows


def holders(rows: list[Row], day: date) -> Iterator[tuple[str, str, int]]:
    """Product, team and seats on one day, as a person would read the list: of a user's rows the one that began last counts."""
    on = [row for row in rows if row["from"] <= day.isoformat() <= (row["until"] or "9999")]
    newest: dict[tuple[str, str], Row] = {}
    for row in on:
        if not row["user"]:
            yield row["product"], row["team"], int(row["seats"])
            continue
        key = row["product"], row["user"]
        if key not in newest or row["from"] >= newest[key]["from"]:
            newest[key] = row
    for (product, _), row in newest.items():
        yield product, row["team"], 1


def seat_seconds(found: list[Delivery]) -> Counter[tuple[str, str]]:
    sums: Counter[tuple[str, str]] = Counter()
    for delivery in found:
        labels = {row["workload"]: dict(row["labels"]) for row in delivery.tables["workloads"].to_pylist()}
        for row in delivery.tables["usage"].to_pylist():
            assert delivery.window.start_s <= row["start_s"] < row["end_s"] <= delivery.window.end_s
            of = labels[row["workload"]]
            sums[of["licence.feature"], of["licence.team"]] += row["allocated"] * (row["end_s"] - row["start_s"])
    return sums


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_every_day_of_three_months(tmp_path: Path, seed: int, zone: str) -> None:
    """On the day on which clocks go back a seat counts 25 hours."""
    rows, local = drawn(random.Random(seed)), ZoneInfo(zone)
    put(tmp_path / "seats.csv", csv_text(rows))
    truth: Counter[tuple[str, str]] = Counter()
    for day in DAYS:
        for product, team, seats in holders(rows, day):
            truth[product, team] += seats * (midnight(day + timedelta(days=1), local) - midnight(day, local))
    found = [
        one
        for first in (date(2026, 9, 1), date(2026, 10, 1), date(2026, 11, 1))
        for one in read("licences", tmp_path, month(first, local), path="seats.csv", time_zone=zone)
    ]
    assert seat_seconds(found) == truth
    wrong = sum(bool(row["until"]) and row["until"] < row["from"] for row in rows)
    assert [problem.code for problem in found[0].problems].count("malformed-row") == wrong


@pytest.mark.parametrize("seed", [5, 23])
def test_a_bill_is_shared_by_seat_days(tmp_path: Path, seed: int) -> None:
    """A bill of 7 a seat-day, so that whole figures must come out."""
    rows = [row for row in drawn(random.Random(seed)) if row["product"] == "Copilot"]
    days: Counter[str] = Counter()
    for day in DAYS:
        if day.month == 10:
            for _, team, seats in holders(rows, day):
                days[team] += seats
    charge = {"ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-11-01T00:00:00Z", "ResourceId": ""}
    put(tmp_path / "bill.csv", bill_text({"EffectiveCost": str(7 * sum(days.values())), **charge}))
    put(tmp_path / "seats.csv", csv_text(rows))
    stanza = '[[sources]]\nname = "{0}"\nkind = "{1}"\npath = "{0}.csv"\n'
    put(
        tmp_path / "apportion.toml",
        '[project]\nname = "seats"\n' + stanza.format("bill", "focus") + stanza.format("seats", "licences"),
    )
    put(
        tmp_path / "policy.yaml",
        "policy: seats\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\nteams: {vision: {}, speech: {}, bio: {}}\n"
        'owners:\n  - {when: {team: "*"}, team: "{team}"}\n'
        "pools:\n  seats: {costs: otherwise, usage: {node: licence/*}, meter: licence, method: proportional}\n",
    )
    ingest(open_project(tmp_path))
    owed: Counter[str] = Counter()
    for posting in plan(open_project(tmp_path), "2026-10").plan.postings.to_pylist():
        owed[posting["team"]] += posting["amount"]
    assert sum(owed.values()) == 7 * sum(days.values())
    assert {team: round(amount, 6) for team, amount in owed.items() if amount} == {
        team: Decimal(7 * seats) for team, seats in days.items() if seats
    }


def test_without_a_window_all_months_up_to_this_one_are_read(tmp_path: Path) -> None:
    start = (datetime.now(UTC).date().replace(day=1) - timedelta(days=40)).replace(day=1)
    put(tmp_path / "seats.csv", f"feature,user,from\nF,u,{start}\n")
    before = datetime.now(UTC).date()
    found = read("licences", tmp_path, path="seats.csv")
    expected = 12 * (before.year - start.year) + before.month - start.month + 1
    assert len(found) in (expected, expected + 1)  # midnight may have passed
    assert all(one.tables["usage"].num_rows == 1 for one in found)
    (again,) = read("licences", tmp_path, found[0].window, path="seats.csv")
    assert again.tables == found[0].tables


def test_a_month_ahead_is_read_where_a_row_begins_there_and_no_further(tmp_path: Path) -> None:
    put(tmp_path / "seats.csv", "feature,user,from,until\nF,u,2100-03-05,2100-03-06\nF,v,2100-02-01,2190-01-01\n")
    found = read("licences", tmp_path, path="seats.csv")
    assert [row["workload"] for one in found for row in one.tables["usage"].to_pylist()] == [
        "licence/seats/F/v",
        "licence/seats/F/u",
        "licence/seats/F/v",
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("feature,user\nF,u\n", "missing-columns"),
        ("feature,from,until\nF,2026-10-01,\n", "missing-columns"),
        ("user,from\nu,2026-10-01\n", "missing-columns"),
        ("feature,user,from\nF,u,soon\n", "no-rows"),
        ("feature,user,from\nF,u,0001-01-01\n", "no-rows"),
        ("feature,user,from\nF,u,2026-02-30\n", "no-rows"),
        ("feature,user,from\nF,u,1026-10-01\n", "window-too-wide"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path: Path, text: str, code: str) -> None:
    put(tmp_path / "seats.csv", text)
    with pytest.raises(InputError) as refused:
        read("licences", tmp_path, path="seats.csv")
    assert refused.value.code == code


def test_tokens_are_whole_numbers(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"tokens\.F must be a whole number"):
        read("licences", tmp_path, path="seats.csv", tokens={"F": 0})
