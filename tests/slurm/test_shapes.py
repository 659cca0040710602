"""Accounting that is read with the wrong header is refused; what real clusters print is not."""

from collections.abc import Iterable

import pytest

from apportion.errors import InputError
from apportion.sources.slurm.sacct_text import Text
from apportion.sources.slurm.shapes import XDMOD

HEADER = "JobIDRaw|Start|End|Elapsed|Suspended|State|ExitCode|NNodes|AllocTRES"
ROWS = (
    "1|2026-10-05T00:00:00|2026-10-05T01:00:00|01:00:00|00:00:00|COMPLETED|0:0|1|cpu=1,node=1",
    "2|2026-10-05T00:00:00|2026-10-05T02:00:00|01:30:00|00:30:00|CANCELLED by 7|0:15|1|cpu=1,node=1",
    "3|2026-10-05T00:00:00|Unknown|05:00:00|00:00:00|RUNNING|0:0|1|cpu=1,node=1",
    "4|None|2026-10-05T00:00:00|00:00:00|00:00:00|CANCELLED|0:0|1|",
)


def rows_under(header: str, rows: Iterable[str] = ROWS) -> int:
    return sum(block.num_rows for block in Text("sacct.txt").blocks(["\n".join((header, *rows))]))


def test_suspended_running_and_waiting_jobs_are_as_they_should_be() -> None:
    assert rows_under(HEADER) == len(ROWS)


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (
            "State",
            "ExitCode",
            "ExitCode holds 'COMPLETED' and 'CANCELLED by 7' instead of exit codes, in 4 of the first 4 rows",
        ),
        ("NNodes", "AllocTRES", "AllocTRES holds '1' instead of TRES such as cpu=8,mem=64G, in 4 of the first 4 rows"),
        (
            "Elapsed",
            "Start",
            "Elapsed holds '2026-10-05T00:00:00' and 'None' instead of durations, in 4 of the first 4 rows",
        ),
        (
            "State",
            "NNodes",
            "NNodes holds 'COMPLETED' and 'CANCELLED by 7' instead of counts, in 4 of the first 4 rows",
        ),
    ],
)
def test_two_names_that_changed_places(one: str, two: str, message: str) -> None:
    header = HEADER.replace(one, "#").replace(two, one).replace("#", two)
    with pytest.raises(InputError) as caught:
        rows_under(header)
    assert caught.value.code == "shifted-columns"
    assert caught.value.message == message


def test_waiting_time_is_not_run_time() -> None:
    """Under a name too few before Start, which leaves the number of columns as it was, the time of submission would be the start."""
    rows = [
        f"{job}|2026-10-04T2{job}:00:00|2026-10-05T00:00:00|2026-10-05T01:00:00|01:00:00|COMPLETED" for job in (1, 2, 3)
    ]
    assert rows_under("JobIDRaw|Submit|Start|End|Elapsed|State", rows) == 3
    with pytest.raises(InputError) as caught:
        rows_under("JobIDRaw|Start|Submit|End|Elapsed|State", rows)
    assert "Elapsed holds '01:00:00' instead of the time from Start to End" in caught.value.message


def test_an_hour_that_the_clock_skipped_or_repeated_is_no_misfit() -> None:
    rows = [f"{job}|2026-10-25T01:00:00|2026-10-25T04:00:00|04:00:00|COMPLETED" for job in (1, 2, 3)]
    assert rows_under("JobIDRaw|Start|End|Elapsed|State", rows) == 3


def test_an_export_without_header_is_told_whose_header_it_fits() -> None:
    who, when = "7|7|lab|gpu|normal|vision|vis|2001|ann|1001", "2026-10-05T08:00:00|2026-10-05T18:00:00"
    row = f"{who}|{when}|{when}|10:00:00|0:0|COMPLETED|1|16|16|64G|cpu=16|cpu=16|12:00:00|g01|train"
    with pytest.raises(InputError) as caught:
        list(Text("slurm.log").blocks([row]))
    assert caught.value.code == "no-header"
    assert "it fits Open XDMoD's Slurm export" in caught.value.message
    assert "JobID,JobIDRaw,Cluster,Partition,QOS,Account" in caught.value.hint


WHO, WHEN = "7|7|lab|gpu|normal|vision|vis|2001|ann|1001", "2026-10-05T08:00:00|2026-10-05T08:00:00"
EXPORTED = [
    f"{WHO}|{WHEN}|2026-10-05T08:00:00|2026-10-05T18:00:00|10:00:00|0:0|COMPLETED|1|16|16|64G|{asked}|{got}|12:00:00|g01|train"
    for asked, got in (
        ("cpu=16,node=1", "billing=16,cpu=16,gres/gpu=4,node=1"),
        ("billing=1,cpu=16,node=1", "billing=16,cpu=16,gres/gpu=8,node=1"),
        ("cpu=16", "cpu=16,node=1"),
    )
]


def refusal(header: Iterable[str], rows: Iterable[str] = EXPORTED) -> InputError:
    with pytest.raises(InputError) as caught:
        rows_under("|".join(header), rows)
    assert caught.value.code == "shifted-columns"
    return caught.value


@pytest.mark.parametrize("end", ["", "|"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("lacking", ["QOS", "AllocTRES", "Account"])
def test_a_header_that_lacks_a_name_is_refused(lacking: str, count: int, end: str) -> None:
    """The exported rows have 26 fields, with what sacct -p writes after the last or without."""
    rows = [row + end for row in EXPORTED[:count]]
    found = refusal((name for name in XDMOD if name != lacking), rows)
    assert found.message == f"the rows have 26 fields and the header has 25, in {count} of the first {count} rows"
    assert found.hint == f"the cells fit the header of Open XDMoD's Slurm export: {','.join(XDMOD)}"


def test_a_header_with_a_name_too_many_is_refused() -> None:
    found = refusal([*XDMOD[:5], "Reservation", *XDMOD[5:]])
    assert found.message == "the rows have 26 fields and the header has 27, in 3 of the first 3 rows"
    assert "fit the header of Open XDMoD" in found.hint


def test_where_no_known_header_fits_the_place_is_named() -> None:
    header = "JobIDRaw|User|Submit|Start|End|State|AllocTRES"
    rows = [f"{job}|ann|vision|1791158400|1791158460|1791158500|COMPLETED|cpu=1" for job in (1, 2)]
    assert refusal(header.split("|"), rows).hint.endswith("the header lacks a name before submit")
    rows = [f"{job}|1791158400|1791158460|1791158500|COMPLETED|cpu=1" for job in (1, 2)]
    assert refusal(header.split("|"), rows).hint.endswith("the rows have no end")


def test_a_delimiter_after_the_last_field_is_in_order() -> None:
    """sacct -p writes one, also after the header; either may lack it."""
    header = "|".join(XDMOD)
    for head, tail in (("", ""), ("|", "|"), ("", "|"), ("|", "")):
        assert rows_under(header + head, [row + tail for row in EXPORTED]) == len(EXPORTED)


def test_names_with_a_delimiter_in_them_are_no_misfit() -> None:
    assert rows_under("|".join(XDMOD), [f"{row}|or|not" for row in EXPORTED]) == len(EXPORTED)


def test_what_was_asked_for_is_not_what_was_got() -> None:
    """Slurm says billing of what a job got, and of a request at most as well."""
    swapped = [{"ReqTRES": "AllocTRES", "AllocTRES": "ReqTRES"}.get(name, name) for name in XDMOD]
    assert rows_under("|".join(XDMOD), EXPORTED) == 3
    found = refusal(swapped)
    assert "AllocTRES holds" in found.message
    assert "(ReqTRES alone has its node= or billing=), in 2 of the first 2 rows" in found.message
    assert found.hint == f"the cells fit the header of Open XDMoD's Slurm export: {','.join(XDMOD)}"


def test_start_and_submit_that_changed_places_are_refused_without_an_elapsed_time_too() -> None:
    rows = [f"{job}|2026-10-04T2{job}:00:00|2026-10-05T00:00:00|2026-10-05T01:00:00|COMPLETED" for job in (1, 2)]
    assert rows_under("JobIDRaw|Submit|Start|End|State", rows) == 2
    assert "Start holds" in refusal(["JobIDRaw", "Start", "Submit", "End", "State"], rows).message
