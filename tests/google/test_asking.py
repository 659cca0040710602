"""Google's billing export asked from BigQuery through its own client: pages, parameters, late rows, and what can go wrong."""

import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.google import SOURCE, probe, read
from apportion.sources.google.months import month_text, months_due
from tests.google.bigquery import Warehouse, bigquery
from tests.google.exports import SCHEMA, Row, at, credit, drawn, row, write_parquet

STANZA = """\
[[sources]]
name = "g"
kind = "google"
project = "my-project"
dataset = "billing"
billing_account = "0123AB-4567CD-89EF01"
endpoint = "{url}"
anonymous = true
since = "2026-10-01"
"""
LATE = [
    row(at("2026-10-20"), 12.5, export_time=at("2026-11-14")),
    row(at("2026-10-03"), -4.75, export_time=at("2026-11-13"), credits=[credit("PROMOTION", -0.25)]),
]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return drawn(7)


@pytest.fixture
def warehouse(rows: list[Row]) -> Iterator[Warehouse]:
    with bigquery(rows) as store:
        yield store


def settings(store: Warehouse, **more: Any) -> dict[str, Any]:
    own = {"project": "p-1", "dataset": "d", "table": "t", "endpoint": store.url, "anonymous": True, "retries": 0}
    return {"name": "g", "kind": "google", **own, **more}


def span(first: str, last: str) -> Interval:
    return Interval(int(at(first).timestamp()), int(at(last).timestamp()))


def asked(store: Warehouse, window: Interval, **more: Any) -> list[Delivery]:
    return [one for one in read(settings(store, **more), Path(), window) if isinstance(one, Delivery)]


def tables(found: Sequence[Delivery]) -> list[Any]:
    return [one.tables["cost_lines"].sort_by("line_id") for one in found]


def test_what_is_asked_is_what_a_file_of_it_says(warehouse: Warehouse, rows: list[Row], tmp_path: Path) -> None:
    write_parquet(rows, tmp_path / "x.parquet")
    saved = read({"name": "g", "kind": "google", "path": "x.parquet"}, tmp_path)
    found = asked(warehouse, span("2026-10-01", "2026-12-01"), page_rows=37)
    assert tables(found) == tables([one for one in saved if isinstance(one, Delivery)])
    assert [one.window for one in found] == [span("2026-10-01", "2026-11-01"), span("2026-11-01", "2026-12-01")]
    assert warehouse.pages > 4
    assert {one["most"] for one in warehouse.asked} == {"200000000000"}
    assert [one.get("month") for one in warehouse.asked] == [None, "202610", "202611"]
    assert all("20261" not in one["sql"] and "_PARTITIONTIME" in one["sql"] for one in warehouse.asked)


def test_the_month_so_far_reaches_to_the_end_of_the_window(warehouse: Warehouse) -> None:
    (found,) = asked(warehouse, span("2026-11-01", "2026-11-20T12:00:00"))
    assert found.window == span("2026-11-01", "2026-11-20T12:00:00")
    assert not asked(warehouse, span("2026-08-01", "2026-09-01"))  # what the export does not know is left alone


def test_late_rows_of_an_earlier_month_are_read_with_the_whole_of_it(
    rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [one for one in rows if one["export_time"] < at("2026-11-12")]
    after = [*before, *LATE, row(at("2026-11-15"), 3.5)]
    books = {}
    with bigquery(before) as store:
        books["grown"] = project_of(tmp_path / "grown", store)
        days = ["2026-10-15", "2026-10-25T08:00:00", "2026-11-12", "2026-11-16T00:01:00"]
        for day in days:
            now = int(at(day).timestamp())
            monkeypatch.setattr("apportion.verbs.due.now_s", lambda now=now: now)
            store.rows = [one for one in after if one["export_time"] <= at(day)]
            apportion.ingest(books["grown"])
        assert [one.get("month") for one in store.asked[-3:]] == [None, "202610", "202611"]
        books["clean"] = project_of(tmp_path / "clean", store)
        apportion.ingest(books["clean"])
    lines = {name: project.books.scan("cost_lines").sort_by("line_id") for name, project in books.items()}
    assert lines["grown"] == lines["clean"]
    assert lines["clean"].num_rows == sum(
        1 + sum(each["type"] in ("PROMOTION", "SOMETHING_NEW") for each in one["credits"]) for one in after
    )


def project_of(folder: Path, store: Warehouse) -> Any:
    folder.mkdir()
    (folder / "apportion.toml").write_text(STANZA.format(url=store.url), "utf-8")
    return apportion.open_project(folder)


@pytest.mark.parametrize(
    ("window", "changed", "months"),
    [
        (("2026-10-01", "2026-10-20"), {"202609": 1}, ["2026-10"]),  # as stated by `since`: nothing before it
        (("2026-11-05T00:00:30", "2026-11-15"), {"202609": 1, "202611": 1}, ["2026-09", "2026-11"]),
        (("2026-09-30T22:00:00", "2026-11-01T07:00:00"), {}, ["2026-10"]),  # a period of other time zones
        (("2026-10-28T00:00:30", "2026-11-02"), {"202612": 1}, ["2026-10", "2026-11"]),
        (("2026-11-01", "2026-11-01T03:00:00"), {}, ["2026-11"]),
    ],
)
def test_which_months_a_window_calls_for(window: tuple[str, str], changed: dict[str, int], months: list[str]) -> None:
    assert [month_text(one) for one in months_due(span(*window), changed)] == months


def test_what_follows_the_books_never_begins_with_a_month() -> None:
    assert SOURCE.overlap_s % 60
    assert timedelta(seconds=SOURCE.overlap_s) > timedelta(days=10)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ((401, "authError"), "login-refused"),
        ((403, "accessDenied"), "login-refused"),
        ((403, "quotaExceeded"), "rate-limited"),
        ((429, "rateLimitExceeded"), "rate-limited"),
        ((404, "notFound"), "no-such-file"),
        ((400, "bytesBilledLimitExceeded"), "too-large"),
        ((400, "invalidQuery"), "bad-response"),
        ((503, "backendError"), "unreachable"),
    ],
)
def test_what_bigquery_refuses_is_a_sentence(warehouse: Warehouse, fault: tuple[int, str], code: str) -> None:
    warehouse.fault = fault
    with pytest.raises(InputError, match=code):
        asked(warehouse, span("2026-10-01", "2026-11-01"))
    (sign,) = probe(settings(warehouse), Path())
    assert sign.status == "wrong"


def test_a_silent_server_and_addresses_that_are_not_asked(warehouse: Warehouse) -> None:
    for endpoint, code in (("http://127.0.0.1:9", "unreachable"), ("http://169.254.169.254", "address-refused")):
        with pytest.raises(InputError, match=code):
            asked(warehouse, span("2026-10-01", "2026-11-01"), endpoint=endpoint)


def test_credentials_are_told_apart_and_never_shown(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = span("2026-10-01", "2026-11-01")
    (tmp_path / "key.json").write_text('{"private_key": "hidden-words"}', "utf-8")
    with pytest.raises(ProjectError, match="invalid-setting") as caught:
        list(read(settings(warehouse, anonymous=False, service_account="key.json"), tmp_path, window))
    assert "hidden-words" not in str(caught.value) + caught.value.hint
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    with pytest.raises(InputError, match="login-refused"):
        asked(warehouse, window, anonymous=False)


def test_without_the_extra_it_says_what_to_install(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    import google.cloud

    monkeypatch.delattr(google.cloud, "bigquery", raising=False)
    monkeypatch.setitem(sys.modules, "google.cloud.bigquery", None)
    with pytest.raises(ProjectError, match="google-missing"):
        asked(warehouse, span("2026-10-01", "2026-11-01"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "t` WHERE 1=1 --"},
        {"dataset": "d.e.f g"},
        {"project": "P`"},
        {"billing_account": "0123AB-4567CD-89EF01"},  # beside a table
        {"table": ""},
        {"maximum_bytes_billed": 0},
    ],
)
def test_wrong_settings_are_refused(warehouse: Warehouse, wrong: dict[str, Any]) -> None:
    with pytest.raises(ProjectError, match=r"invalid-setting|missing-setting"):
        asked(warehouse, span("2026-10-01", "2026-11-01"), **wrong)
    assert not warehouse.asked


def test_the_check_says_how_new_the_table_is(warehouse: Warehouse) -> None:
    first, *_ = probe(settings(warehouse), Path())
    assert first.status == "ok"
    assert first.text.startswith(f"p-1.d.t has {len(warehouse.rows)} rows, the last of 2026-")
    warehouse.schema = [each for each in SCHEMA if each["name"] != "resource"]
    assert "note" in [sign.status for sign in probe(settings(warehouse), Path())]
