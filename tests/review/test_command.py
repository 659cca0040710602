"""`apportion review`: every form says the same, and a draft is saved by its key."""

import csv
import io
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.render.formats import render
from apportion.render.json import portable
from apportion.render.review import chart, review_sheet, spec, value
from apportion.render.sheet import Screen
from apportion.reports.review.review import Review
from tests.cli.conftest import Run
from tests.review.test_review import FOUND, READY
from tests.review.world import NOW


def test_every_form_says_the_same(run: Run, planted_once: Path, made: Review) -> None:
    ask = ("--project", planted_once, "review", "--period", NOW)
    shown = run(*ask, "-o", "json")
    told = shown.value()
    assert told == portable(value(made))
    assert f"review --period {NOW} --draft unmapped:account=speech-lab" in shown.err
    rows = list(csv.DictReader(io.StringIO(run(*ask, "-o", "csv").out)))
    assert [row["key"] for row in rows] == FOUND
    assert {row["key"] for row in rows if row["draft"]} == READY
    assert [row["what"] for row in rows] == [one["sentence"] for one in told["findings"]]
    assert [row["amount"] for row in rows] == [one["amount"] or "" for one in told["findings"]]


def test_the_terminal_has_every_finding_with_its_chart_and_its_change(made: Review) -> None:
    shown = render(review_sheet(made), "table", Screen())
    for one in made.found:
        assert one.finding.sentence in shown
        assert one.diff in shown
    assert "   Mon        2.8     4.1       1.4  ▂▂▂▂▂▂▂▂▂█████▃▃▃▃▃▃▃▃▃▃\n" in shown
    assert "   these workloads        72.65  ███████\n" in shown
    marked = render(review_sheet(made, "md"), "md", Screen())
    assert "**1. drift:team: By team, of the GPU-hours chem has" in marked
    assert "| these workloads | 72.65 | ███████ |" in marked


def test_charts_are_ready_to_draw(made: Review) -> None:
    by_key = {one["key"]: one for one in portable(value(made))["findings"]}
    for one in by_key.values():
        values, fields = one["chart"]["data"]["values"], {field["field"] for field in one["chart"]["encoding"].values()}
        assert one["chart"]["data"]["format"] == {"parse": {"amount": "number"}}
        assert values
        assert all(set(each) >= fields and Decimal(each["amount"]) >= 0 for each in values)
    assert len(by_key["season:flat"]["chart"]["data"]["values"]) == 7 * 24
    drawn = {
        (each["name"], each["series"]): Decimal(each["amount"])
        for each in by_key["drift:phase"]["chart"]["data"]["values"]
    }
    shares = {row["phase"]: row["share"] for row in by_key["drift:phase"]["evidence"]}
    assert all(abs(drawn[name, NOW] - 100 * Decimal(share)) < Decimal("0.001") for name, share in shares.items())


def test_the_pages_charts_have_the_same_values(made: Review) -> None:
    for one in made.found:
        drawn, ready = spec(one.finding)["data"]["values"], chart(one.finding)["data"]["values"]
        amounts = [each[name] for each in drawn for name in ("before", "after", "amount") if name in each]
        assert amounts == pytest.approx([float(each["amount"]) for each in ready], abs=1e-6)


def test_a_draft_is_saved_with_its_effect(run: Run, own: Path) -> None:
    shown = run("--project", own, "review", "--period", NOW, "--draft", "peaky:flat", "-o", "json")
    told = shown.value()
    assert told["draft"]["number"] == 1
    assert "method: temporal_shapley   # for now" in told["draft"]["text"]
    assert "would move" in told["effect"]["title"]
    assert "apportion --project" in shown.err
    listed = run("--project", own, "draft", "list", "-o", "json").value()
    assert [one["status"] for one in listed["drafts"]] == ["open"]


def test_a_month_that_is_not_posted(run: Run, planted_once: Path) -> None:
    shown = run("--project", planted_once, "review", "--period", "2026-08")
    assert (shown.code, shown.out) == (1, "")
    assert "error[nothing-posted]" in shown.err
