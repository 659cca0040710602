"""A delivery: atomic, idempotent, clipped to its window, replacing what the source said of it before."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.books.open import Books
from apportion.errors import BooksError, Problem
from apportion.model.delivery import Delivery, FileDigest, Rows, Scope, Withheld
from apportion.model.rows import TABLES, USAGE, WORKLOADS
from apportion.model.times import DAY_S, Interval
from tests.books.conftest import Place
from tests.books.rows import MONTH, capacity, cost_line, cost_lines, delivery, gpu_hours, jobs, scope, usage, workloads

HUNDRED = Interval(0, 100)


def test_what_is_delivered_is_read_back(books: Books) -> None:
    tables = {
        "usage": gpu_hours(5),
        "workloads": workloads([("job-0", "completed", {"slurm.account": "vision", "": ""})]),
        "capacity": capacity([("n0", "gpu", MONTH.start_s, MONTH.end_s, 8, "up")]),
        "cost_lines": cost_lines([cost_line("l1", "12345678901234567890.123456789012345678", source="slurm")]),
    }
    receipt = books.ingest(Delivery("slurm", MONTH, tables))
    assert receipt.changed
    assert receipt.rows == {"usage": 5, "workloads": 1, "capacity": 1, "cost_lines": 1}
    for name, table in tables.items():
        assert books.scan(name).equals(table), name
        assert books.scan(name).schema.equals(TABLES[name]), name


def test_an_empty_table_has_a_version_no_files_and_no_rows(books: Books) -> None:
    for name, version in books.inputs().items():
        assert version.rows == 0
        assert books.files(name, version.snapshot_id) == []
        assert books.scan(name).equals(TABLES[name].empty_table())


def test_the_same_delivery_twice_changes_nothing(books: Books) -> None:
    first = books.ingest(delivery(usage=gpu_hours(50)))
    before, files = books.inputs(), books.files("usage")
    shuffled = gpu_hours(50).take(pa.array([(i * 7) % 50 for i in range(50)]))
    again = books.ingest(delivery(usage=pa.concat_tables([shuffled.slice(20), shuffled.slice(0, 20)])))
    assert not again.changed
    assert again.delivery_id == first.delivery_id
    assert again.rows == {"usage": 50}
    assert (books.inputs(), books.files("usage")) == (before, files)
    assert len(books.deliveries()) == 1


def test_an_earlier_delivery_comes_back_after_another_one(books: Books) -> None:
    for count, changed in ((5, True), (6, True), (5, True), (5, False)):
        assert books.ingest(delivery(usage=gpu_hours(count))).changed is changed
        assert books.scan("usage").num_rows == count


def test_a_delivery_inside_the_window_is_not_forgotten_when_the_first_one_comes_again(books: Books) -> None:
    whole = delivery(HUNDRED, usage=usage([("a", "cpu", "n", 0, 100, 1, None)]))
    part = delivery(Interval(40, 60), usage=usage([("a", "cpu", "n", 40, 60, 5, None)]))
    books.ingest(whole)
    books.ingest(part)
    assert books.ingest(whole).changed
    assert jobs(books.scan("usage")) == [("a", "cpu", "n", 0, 100, 1, None)]


def test_rows_are_clipped_to_the_window_and_flows_keep_their_share(books: Books) -> None:
    rows = [
        ("level", "gpu", "n", -50, 150, 504_000, 252_000),
        ("flow", "energy", "n", -50, 151, 1000, None),
        ("huge", "network", "n", -(2**40), 2**40, 2**62, 2**62 - 1),
        ("before", "gpu", "n", -10, 0, 1, None),
        ("after", "gpu", "n", 100, 110, 1, None),
        ("point", "gpu", "n", 0, 0, 1, None),
        ("point at the end", "gpu", "n", 100, 100, 1, None),
    ]
    receipt = books.ingest(delivery(HUNDRED, usage=usage(rows)))
    huge = [amount * (2**40 + 100) // 2**41 - amount * 2**40 // 2**41 for amount in (2**62, 2**62 - 1)]
    assert jobs(books.scan("usage")) == sorted(
        [
            ("level", "gpu", "n", 0, 100, 504_000, 252_000),
            ("flow", "energy", "n", 0, 100, 1000 * 150 // 201 - 1000 * 50 // 201, None),
            ("huge", "network", "n", 0, 100, *huge),
            ("point", "gpu", "n", 0, 0, 1, None),
        ],
        key=str,
    )
    assert receipt.rows == {"usage": 4}
    assert receipt.outside == {"usage": 3}


def test_a_later_delivery_replaces_its_window_and_leaves_the_outside_parts(books: Books) -> None:
    rows = [
        ("a", "gpu", "n", 10, 90, 7, 3),
        ("b", "energy", "n", 0, 100, 1001, 501),
        ("c", "gpu", "n", 45, 55, 1, None),
        ("d", "gpu", "n", 0, 30, 1, None),
    ]
    books.ingest(delivery(HUNDRED, usage=usage(rows)))
    receipt = books.ingest(delivery(Interval(40, 60), usage=usage([("new", "gpu", "n", 0, 200, 9, None)])))
    assert receipt.replaced == {"usage": 3}
    assert jobs(books.scan("usage")) == sorted(
        [
            ("a", "gpu", "n", 10, 40, 7, 3),
            ("a", "gpu", "n", 60, 90, 7, 3),
            ("b", "energy", "n", 0, 40, 400, 200),
            ("b", "energy", "n", 60, 100, 401, 201),
            ("d", "gpu", "n", 0, 30, 1, None),
            ("new", "gpu", "n", 40, 60, 9, None),
        ],
        key=str,
    )


def test_an_empty_delivery_empties_its_window(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(3)))
    receipt = books.ingest(delivery(usage=USAGE.empty_table()))
    assert receipt.replaced == {"usage": 3}
    assert books.scan("usage").num_rows == 0


def test_other_sources_and_tables_stay_as_they_were(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(4, source="k8s"), source="k8s"))
    books.ingest(delivery(usage=gpu_hours(3), capacity=capacity([("n0", "gpu", MONTH.start_s, MONTH.end_s, 8, "up")])))
    before = books.inputs()
    books.ingest(delivery(usage=gpu_hours(2)))
    after = books.inputs()
    assert after["capacity"] == before["capacity"]
    assert books.scan("usage")["source"].to_pylist().count("k8s") == 4
    assert after["usage"].rows == 6


def test_the_old_snapshot_stays_readable(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(3)))
    old = books.inputs()["usage"].snapshot_id
    books.ingest(delivery(usage=gpu_hours(1)))
    assert books.scan("usage", old).num_rows == 3
    assert books.scan("usage").num_rows == 1
    with pytest.raises(BooksError, match="unknown-snapshot"):
        books.scan("usage", 1)


def test_workloads_are_renewed_by_name_whatever_their_window(books: Books) -> None:
    books.ingest(delivery(Interval(0, 10), workloads=workloads([("a", "running", {"k": "1"}), ("b", "completed", {})])))
    receipt = books.ingest(
        delivery(Interval(10, 20), workloads=workloads([("a", "failed", {"k": "2"}), ("c", "completed", {})]))
    )
    assert receipt.replaced == {"workloads": 1}
    found = books.scan("workloads", columns=["workload", "outcome"]).sort_by("workload").to_pylist()
    assert [(row["workload"], row["outcome"]) for row in found] == [
        ("a", "failed"),
        ("b", "completed"),
        ("c", "completed"),
    ]


def lived(name: str, start_s: int, end_s: int, outcome: str = "running") -> pa.Table:
    (row,) = workloads([(name, outcome, {})]).to_pylist()
    return pa.Table.from_pylist([{**row, "start_s": start_s, "end_s": end_s}], TABLES["workloads"])


@pytest.mark.parametrize("days", [(0, 1, 2), (2, 1, 0), (1, 2, 0, 1)])
def test_a_workload_told_of_day_by_day_lives_as_long_as_all_of_them_say(books: Books, days: tuple[int, ...]) -> None:
    """Else a plan of the month in which it began would not find it any more."""
    for day in days:
        own = lived("a", day * 100 + 7, day * 100 + 60, "failed" if day == 2 else "running")
        books.ingest(delivery(Interval(day * 100, day * 100 + 100), workloads=own))
    (found,) = books.scan("workloads").to_pylist()
    assert (found["start_s"], found["end_s"], found["outcome"]) == (7, 260, "failed")
    assert books.verify() == []


def test_a_day_told_of_again_may_shorten_a_life_inside_it(books: Books) -> None:
    for end in (90, 40):
        books.ingest(delivery(HUNDRED, workloads=lived("a", 10, end)))
    (found,) = books.scan("workloads").to_pylist()
    assert (found["start_s"], found["end_s"]) == (10, 40)


def test_cost_lines_are_replaced_by_billing_period(books: Books) -> None:
    october, november = MONTH.start_s, MONTH.end_s
    both = [cost_line("o", "10"), cost_line("n", "20", billing_start_s=november, billing_end_s=november + 1)]
    books.ingest(delivery(Interval(october, november + 1), "aws", cost_lines=cost_lines(both)))
    books.ingest(
        delivery(
            MONTH, "aws", cost_lines=cost_lines([cost_line("o2", "11"), cost_line("lost", "1", billing_start_s=0)])
        )
    )
    lines = books.scan("cost_lines", columns=["line_id", "EffectiveCost"]).sort_by("line_id").to_pylist()
    assert [(line["line_id"], line["EffectiveCost"]) for line in lines] == [("n", Decimal(20)), ("o2", Decimal(11))]


def test_the_digest_depends_on_content_alone(place_of: Callable[[str], Place]) -> None:
    """The same month at once, and day by day in another order and database."""
    days = [Interval(MONTH.start_s + day * DAY_S, MONTH.start_s + (day + 1) * DAY_S) for day in range(3)]
    hours = [
        [
            (f"j{hour}", "gpu", "n", day.start_s + hour * 3600, day.start_s + hour * 3600 + 3600, 1, hour or None)
            for hour in range(24)
        ]
        for day in days
    ]
    one, many = place_of("sqlite").open(), place_of("sqlite").open()
    one.ingest(delivery(usage=usage(row for rows in hours for row in rows)))
    for day, rows in reversed(list(zip(days, hours, strict=True))):
        many.ingest(delivery(day, usage=usage(rows[1:])))
        many.ingest(delivery(day, usage=usage(reversed(rows))))
    first, second = one.inputs()["usage"], many.inputs()["usage"]
    assert (first.rows, first.digest) == (second.rows, second.digest)
    assert len(one.files("usage")) != len(many.files("usage"))
    many.ingest(delivery(days[0], usage=usage([*hours[0][1:], (*hours[0][0][:-1], 1)])))
    assert many.inputs()["usage"].digest != first.digest


def test_doubled_rows_count_once_and_doubtful_ones_are_set_aside(books: Books) -> None:
    rows = [("a", "gpu", "n", 0, 10, 1, None), ("b", "gpu", "n", 0, 10, 1, None), ("c", "gpu", "n", 0, 10, 1, None)]
    twice = [*rows, rows[0], ("b", "gpu", "n", 0, 10, 2, None), rows[1]]
    receipt = books.ingest(delivery(HUNDRED, usage=usage(twice)))
    assert [row[0] for row in jobs(books.scan("usage"))] == ["a", "c"]
    assert receipt.quarantined == 2
    held = books.quarantine()
    assert [row["content"]["allocated"] for row in held] == [1, 2]
    assert all(row["key"] == ["b", "gpu", "n", 0, None] for row in held)
    assert [problem.code for problem in books.problems()] == ["conflicting-rows"] * 2


@pytest.mark.parametrize("in_blocks", [False, True])
def test_rows_that_are_facts_all_count(books: Books, in_blocks: bool) -> None:
    rows = usage([("a", "gpu", "n", 0, 10, 1, None)] * 2 + [("a", "gpu", "n", 0, 20, 1, None)])
    given = Rows(3, lambda: iter([rows[:1], rows[1:]])) if in_blocks else rows
    told = replace(delivery(HUNDRED, usage=given), facts=True, withheld=(Withheld("usage", "[1]", "{}"),))
    receipt = books.ingest(told)
    assert (receipt.rows, receipt.quarantined) == ({"usage": 3}, 1)
    assert sorted(row[4] for row in jobs(books.scan("usage"))) == [10, 10, 20]
    assert [row["key"] for row in books.quarantine()] == [[1]]
    assert not books.ingest(told).changed
    once = replace(told, tables={"usage": rows[1:]})
    assert books.ingest(once).replaced == {"usage": 3}
    assert books.verify() == []


def test_a_workload_is_renewed_by_its_id_and_its_set_of_labels(books: Books) -> None:
    def lives(*found: tuple[str, str | None, int, int]) -> pa.Table:
        rows = [
            {"source": "slurm", "workload": name, "run": name, "start_s": start, "end_s": end, "outcome": "completed",
             "labels": [("set", own or "")], "label_set": own}
            for name, own, start, end in found
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=WORKLOADS)

    def known() -> list[tuple[str, str | None, int, int]]:
        rows = books.scan("workloads").to_pylist()
        return sorted(((row["workload"], row["label_set"], row["start_s"], row["end_s"]) for row in rows), key=str)

    books.ingest(delivery(Interval(0, 50), usage=gpu_hours(0), workloads=lives(("1", None, 0, 20), ("1", "x", 0, 40))))
    books.ingest(
        delivery(Interval(50, 100), usage=gpu_hours(0), workloads=lives(("1", "x", 50, 60), ("1", "y", 60, 70)))
    )
    assert known() == [("1", "x", 0, 60), ("1", "y", 60, 70), ("1", None, 0, 20)]
    books.ingest(delivery(Interval(50, 100), usage=gpu_hours(0), workloads=lives(("1", "z", 60, 70))))
    assert known() == [("1", "x", 0, 60), ("1", "z", 60, 70), ("1", None, 0, 20)]
    books.ingest(
        delivery(Interval(0, 100), workloads=lives(("1", "z", 80, 90)))
    )  # without usage nothing else gives way
    assert known() == [("1", "x", 0, 60), ("1", "z", 80, 90), ("1", None, 0, 20)]


def test_money_that_is_set_aside_is_seen(books: Books) -> None:
    books.ingest(
        delivery(
            MONTH, "aws", cost_lines=cost_lines([cost_line("l", "10.5"), cost_line("l", "-3"), cost_line("m", "1")])
        )
    )
    assert sorted(problem.money for problem in books.problems("aws")) == ["-3", "10.5"]
    assert books.scan("cost_lines")["line_id"].to_pylist() == ["m"]


def test_problems_and_files_are_kept_until_a_later_delivery_replaces_them(books: Books) -> None:
    problem = Problem("jobs.csv", "reversed", "ends before it starts\0", "17", "0")
    told = replace(delivery(usage=gpu_hours(1)), problems=(problem,), files=(FileDigest("jobs.csv", "00", 1, "3"),))
    books.ingest(told)
    assert [found.code for found in books.problems()] == ["reversed"]
    assert books.problems("other") == []
    books.ingest(delivery(usage=gpu_hours(1)))
    assert books.problems() == []
    assert books.deliveries()[0]["superseded_by"] == books.deliveries()[1]["delivery_id"]


@pytest.mark.parametrize("wrong", ["schema", "null", "source", "reversed", "meter", "negative", "table", "type"])
def test_a_table_that_does_not_fit_is_refused_whole(books: Books, wrong: str) -> None:
    rows = gpu_hours(2)
    tables = {
        "schema": {"usage": rows.drop_columns(["used"])},
        "null": {
            "usage": pa.Table.from_pylist(
                [{**rows.to_pylist()[0], "workload": None}], pa.schema([field.with_nullable(True) for field in USAGE])
            )
        },
        "source": {"usage": gpu_hours(2, source="other")},
        "reversed": {"usage": usage([("a", "gpu", "n", 10, 5, 1, None)])},
        "meter": {"usage": usage([("a", "gpus", "n", 0, 5, 1, None)])},
        "negative": {"usage": usage([("a", "gpu", "n", 0, 5, -1, None)])},
        "table": {"usages": rows},
        "type": {"usage": rows.set_column(4, "start_s", pa.array(["yesterday"] * 2))},
    }[wrong]
    before = books.inputs()
    with pytest.raises(BooksError, match="invalid-delivery"):
        books.ingest(Delivery("slurm", MONTH, {"capacity": capacity([("n", "gpu", 0, 10, 1, "up")]), **tables}))
    assert books.inputs() == before


def test_a_second_source_over_one_scope_is_refused(books: Books) -> None:
    lines = cost_lines([cost_line("l", "10")])
    other = cost_lines([cost_line("l", "10", source="opencost")])
    books.ingest(replace(delivery(MONTH, "aws", cost_lines=lines), scopes=(scope(),)))
    second = replace(delivery(MONTH, "opencost", cost_lines=other), scopes=(scope(services=["EC2"]),))
    with pytest.raises(BooksError, match="scope-overlap") as refused:
        books.ingest(second)
    assert "aws" in refused.value.message
    assert "opencost" in refused.value.message
    assert 'role = "reference"' in refused.value.hint
    assert books.scan("cost_lines").num_rows == 1
    books.ingest(replace(second, scopes=(scope(role="reference"),)))
    assert books.reference_sources() == ["opencost"]
    assert books.scan("cost_lines").num_rows == 2


@pytest.mark.parametrize(
    "apart",
    [
        scope("Google"),
        scope(accounts=["2"]),
        scope(services=["S3"]),
        scope(billing=Interval(MONTH.end_s, MONTH.end_s + 1)),
    ],
    ids=["issuer", "account", "service", "period"],
)
def test_scopes_that_do_not_meet_stand_side_by_side(books: Books, apart: Scope) -> None:
    first = scope(accounts=["1"], services=["EC2"])
    books.ingest(replace(delivery(MONTH, "aws", cost_lines=cost_lines([cost_line("l", "1")])), scopes=(first,)))
    second = delivery(MONTH, "other", cost_lines=cost_lines([cost_line("l", "1", source="other")]))
    assert books.ingest(replace(second, scopes=(apart,))).changed


def test_cost_lines_without_a_stated_scope_speak_for_what_they_name(books: Books) -> None:
    books.ingest(delivery(MONTH, "aws", cost_lines=cost_lines([cost_line("l", "1")])))
    with pytest.raises(BooksError, match="scope-overlap"):
        books.ingest(delivery(MONTH, "copy", cost_lines=cost_lines([cost_line("l", "1", source="copy")])))
    apart = cost_lines([cost_line("l", "1", source="s3", ServiceName="S3")])
    assert books.ingest(delivery(MONTH, "s3", cost_lines=apart)).changed


def test_a_delivery_without_bills_leaves_the_scopes_of_its_source(books: Books) -> None:
    books.ingest(delivery(MONTH, "aws", cost_lines=cost_lines([cost_line("l", "1")])))
    books.ingest(delivery(MONTH, "aws", usage=gpu_hours(1, source="aws")))
    with pytest.raises(BooksError, match="scope-overlap"):
        books.ingest(delivery(MONTH, "copy", cost_lines=cost_lines([cost_line("l", "1", source="copy")])))


def test_a_source_that_becomes_a_reference_makes_room(books: Books) -> None:
    lines = cost_lines([cost_line("l", "1")])
    books.ingest(delivery(MONTH, "aws", cost_lines=lines))
    books.ingest(replace(delivery(MONTH, "aws", cost_lines=lines), scopes=(scope(role="reference"),)))
    assert books.reference_sources() == ["aws"]
    assert books.ingest(delivery(MONTH, "copy", cost_lines=cost_lines([cost_line("l", "1", source="copy")]))).changed


def test_every_deed_has_its_note(books: Books) -> None:
    delivered = books.ingest(delivery(usage=gpu_hours(1)))
    books.ingest(delivery(usage=gpu_hours(1)))
    books.save_policy("v1", "policy: test\n", "policy.yaml", "test", "2026-01-01")
    assert [note.what for note in books.audit()] == ["create", "delivery", "policy"]
    assert books.audit()[1].detail == delivered.delivery_id
