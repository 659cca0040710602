"""Licence logs: seat-seconds equal those of the schedule that the log was written from."""

import random
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval, instant_text, parse_instant
from tests.sources.making import codes, put, read

HOUR, DAY = 3600, 86_400
START = parse_instant("2026-10-20T00:00:00Z")
BERLIN = ZoneInfo("Europe/Berlin")
EVER = Interval(START - 400 * DAY, START + 400 * DAY)


def clock(second: int, zone: ZoneInfo) -> str:
    local = datetime.fromtimestamp(second, tz=zone)
    return f"{local.hour:2}:{local.minute:02}:{local.second:02}"


def day(second: int, zone: ZoneInfo) -> str:
    local = datetime.fromtimestamp(second, tz=zone)
    return f"{local.month}/{local.day}/{local.year}"


def log_of(events: list[tuple[int, str]], zone: ZoneInfo) -> str:
    return "".join(
        f"{clock(second, zone)} {text.replace('DAY', day(second, zone))}\n"
        for second, text in sorted(events, key=lambda one: one[0])
    )


def seat_seconds(deliveries: list[Delivery]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for delivery in deliveries:
        for row in delivery.tables["usage"].to_pylist():
            start, end = max(row["start_s"], delivery.window.start_s), min(row["end_s"], delivery.window.end_s)
            found[row["workload"]] += row["allocated"] * (end - start)
    return dict(found)


@pytest.mark.parametrize("seed", [2, 71, 828])
def test_two_weeks_over_the_end_of_summer_time(tmp_path: Path, seed: int, record_property: Any) -> None:
    """Midnights, the hour that comes twice, several check-outs of one user at once, restarts, counts, and days in which nobody asks."""
    dice = random.Random(seed)
    until = START + 14 * DAY
    events: list[tuple[int, str]] = [
        (START, "(lmgrd) FlexNet Licensing (v11.16.2.1 build 245043 x64_n6) started on lic1 (linux) (DAY)")
    ]
    events += [(second, "(lmgrd) TIMESTAMP DAY") for second in range(START + 4 * HOUR, until, 4 * HOUR)]
    restart = START + dice.randrange(5 * DAY, 9 * DAY)
    events += [
        (restart, "(MLM) daemon shutdown requested - shutting down"),
        (restart + 30, "(MLM) Server started on lic1 for:\tMATLAB"),
    ]
    truth: dict[str, int] = defaultdict(int)
    for _ in range(400):
        user, feature, count = (
            f"u{dice.randrange(9)}",
            dice.choice(["MATLAB", "Image_Toolbox"]),
            dice.choice([1, 1, 1, 3]),
        )
        out = START + 60 + dice.randrange(14 * DAY - 120)
        back = out + dice.randrange(1, 30 * HOUR)
        if restart - 60 <= out <= restart + 60:
            continue
        ended = restart if out < restart < back else min(back, until)
        many = f"  ({count} licenses) " if count > 1 else "  "
        events.append((out, f'(MLM) OUT: "{feature}" {user}@ws1{many}'))
        if ended == back:
            events.append((back, f'(MLM) IN: "{feature}" {user}@ws1{many}'))
        truth[f"licence/MLM/{feature}/{user}@ws1"] += count * (ended - out)
        if dice.random() < 0.2:
            events.append(
                (out + 1, f'(MLM) DENIED: "{feature}" {user}@ws1  (Licensed number of users already reached. (-4,342))')
            )
    events.append((until, "(lmgrd) TIMESTAMP DAY"))
    put(tmp_path / "debug.log", log_of(events, BERLIN))
    found = read("licences", tmp_path, path="debug.log", time_zone="Europe/Berlin")
    assert seat_seconds(found) == truth
    assert [instant_text(one.window.start_s) for one in found] == ["2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z"]
    assert {problem.code for problem in found[0].problems} <= {"ambiguous-time"}, "where no line goes back in that hour"
    record_property("lines of the log", len(events))


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def one(tmp_path: Path, text: str, **settings: Any) -> Delivery:
    put(tmp_path / "debug.log", text)
    (found,) = read("licences", tmp_path, EVER, path="debug.log", **settings)
    return found


def test_the_day_before_the_first_date_is_counted_back(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        lines(
            '23:00:00 (a) OUT: "F" u@h', ' 1:00:00 (a) IN: "F" u@h  (INACTIVE)', " 1:30:00 (lmgrd) TIMESTAMP 10/6/2026"
        ),
    )
    (row,) = found.tables["usage"].to_pylist()
    assert (instant_text(row["start_s"]), instant_text(row["end_s"])) == (
        "2026-10-05T23:00:00Z",
        "2026-10-06T01:00:00Z",
    )
    assert found.problems == ()


def test_days_without_a_line_are_seen_by_the_next_date(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        lines(
            " 9:00:00 (lmgrd) TIMESTAMP 10/1/2026",
            '10:00:00 (a) OUT: "F" u@h',
            "11:00:00 (lmgrd) TIMESTAMP 10/4/2026",
            '12:00:00 (a) IN: "F" u@h',
        ),
    )
    (row,) = found.tables["usage"].to_pylist()
    assert row["end_s"] - row["start_s"] == 3 * DAY + 2 * HOUR


def test_part_of_a_count_may_come_back(tmp_path: Path) -> None:
    found = one(tmp_path, lines(
        " 1:00:00 (lmgrd) TIMESTAMP 10/1/2026", ' 2:00:00 (a) OUT: "F" u@h  (20 licenses) ', ' 3:00:00 (a) IN: "F" u@h  (8 licenses) ',
        ' 4:00:00 (a) IN: "F" u@h  (12 licenses) ',
    ))  # fmt: skip
    assert [row["allocated"] for row in found.tables["usage"].to_pylist()] == [20, 12]
    (workload,) = found.tables["workloads"].to_pylist()
    assert dict(workload["labels"]) == {
        "licence.daemon": "a",
        "licence.feature": "F",
        "licence.host": "h",
        "licence.user": "u",
    }
    assert workload["outcome"] == "completed"


def test_what_was_out_before_the_log_counts_from_its_beginning(tmp_path: Path) -> None:
    found = one(tmp_path, lines(" 1:00:00 (lmgrd) TIMESTAMP 10/1/2026", ' 3:00:00 (a) IN: "F" u@h'))
    assert seat_seconds([found]) == {"licence/a/F/u@h": 2 * HOUR}
    assert codes(found) == ["estimated"]


def test_a_seat_that_nobody_took_since_the_start_is_listed(tmp_path: Path) -> None:
    start = " 1:00:00 (lmgrd) FLEXnet Licensing (v11.6.0.0 build 56285 i86_lsb) started on lic1 (linux) (10/1/2026)"
    found = one(tmp_path, lines(start, ' 3:00:00 (a) IN: "F" u@h'))
    assert found.tables["usage"].num_rows == 0
    assert [(problem.where, problem.code) for problem in found.problems] == [("debug.log:2", "unmatched-check-in")]


def test_a_crash_ends_check_outs_with_the_last_line(tmp_path: Path) -> None:
    found = one(tmp_path, lines(
        " 1:00:00 (lmgrd) TIMESTAMP 10/1/2026", ' 2:00:00 (a) OUT: "F" u@h', ' 2:10:00 (b) OUT: "G" u@h', " 4:00:00 (lmgrd) TIMESTAMP 10/1/2026",
        " 9:00:00 (a) Server started on lic1 for:\tF", " 9:30:00 (lmgrd) TIMESTAMP 10/1/2026",
    ))  # fmt: skip
    assert seat_seconds([found]) == {"licence/a/F/u@h": 2 * HOUR, "licence/b/G/u@h": 7 * HOUR + 20 * 60}
    (problem,) = found.problems
    assert problem.code == "estimated"
    assert "2026-10-01T04:00:00Z" in problem.message


def test_a_seat_taken_in_one_log_and_given_back_in_the_next(tmp_path: Path) -> None:
    put(tmp_path / "logs/b.log", lines(" 0:00:10 (lmgrd) TIMESTAMP 10/2/2026", ' 6:00:00 (a) IN: "F" u@h'))
    put(tmp_path / "logs/a.log", lines("18:00:00 (lmgrd) TIMESTAMP 10/1/2026", '20:00:00 (a) OUT: "F" u@h'))
    (found,) = read("licences", tmp_path, EVER, path="logs", server="lic1")
    assert seat_seconds([found]) == {"licence/lic1/F/u@h": 10 * HOUR}
    put(tmp_path / "logs/c.log", lines(" 5:00:00 (lmgrd) TIMESTAMP 10/2/2026", ' 6:00:00 (a) IN: "F" u@h'))
    with pytest.raises(InputError, match=r"logs/c.log begins before logs/b.log ends"):
        read("licences", tmp_path, EVER, path="logs")


def test_seats_that_lmstat_and_the_stanza_tell(tmp_path: Path) -> None:
    put(
        tmp_path / "l/debug.log",
        lines(
            " 0:00:00 (lmgrd) TIMESTAMP 10/1/2026", ' 6:00:00 (a) OUT: "F" u@h', " 0:00:00 (lmgrd) TIMESTAMP 10/3/2026"
        ),
    )
    for number, (date, seats) in enumerate([("10/1/2026 12:00", 10), ("10/2/2026 12:00", 12)]):
        put(
            tmp_path / f"l/lmstat{number}.txt",
            f"lmstat - Copyright\nFlexible License Manager status on Thu {date}\n\n"
            f"Users of F:  (Total of {seats} licenses issued;  Total of 1 license in use)\nUsers of G:  (Uncounted, node-locked)\n",
        )
    (found,) = read("licences", tmp_path, EVER, path="l", seats={"H": 3})
    rows = [
        (row["resource"], instant_text(row["start_s"])[5:13], instant_text(row["end_s"])[5:13], row["amount"])
        for row in found.tables["capacity"].to_pylist()
    ]
    assert rows == [
        ("licence/H", "10-01T00", "10-03T00", 3),
        ("licence/F", "10-01T00", "10-02T12", 10),
        ("licence/F", "10-02T12", "10-03T00", 12),
    ]


def test_a_table_of_check_outs(tmp_path: Path) -> None:
    text = "product,who,host,taken,returned,n\n"
    text += "F,u,h,2026-10-01 00:00,2026-10-01 02:00,2\nF,u,h,2026-10-01 01:00,2026-10-01 03:00,1\n"
    text += "F,u,h,2026-10-01 09:00,2026-10-01 08:00,1\nF,,h,2026-10-01 09:00,,1\nG,v,,2026-10-01 00:00,,\n"
    put(tmp_path / "out.csv", text)
    columns = {"feature": "product", "user": "who", "out": "taken", "in": "returned", "count": "n"}
    (found,) = read("licences", tmp_path, EVER, path="out.csv", columns=columns)
    assert seat_seconds([found]) == {"licence/server/F/u@h": 2 * 2 * HOUR + 2 * HOUR, "licence/server/G/v@": 3 * HOUR}
    assert [row["allocated"] for row in found.tables["usage"].to_pylist()][:3] == [2, 3, 1]
    assert codes(found) == ["malformed-row", "malformed-row"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('10:00:00 (a) OUT: "F" u@h\n', "undated-log"),
        ("hello\n", "unknown-form"),
        ("Users of F:  (Total of 3 licenses issued;  Total of 0 licenses in use)\n", "undated-log"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        one(tmp_path, text)
    assert refused.value.code == code


def test_a_garbled_check_out_is_listed(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        lines(" 1:00:00 (lmgrd) TIMESTAMP 10/1/2026", " 2:00:00 (a) OUT: F", ' 3:00:00 (a) OUT: "F" Jane Doe@pc-1'),
    )
    assert [(problem.where, problem.code) for problem in found.problems] == [("debug.log:2", "malformed-row")]
