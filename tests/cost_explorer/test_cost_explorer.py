"""Cost Explorer asked through boto3: pages, exact decimals, what is estimated, whole months; a reference unless it is the bill."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pyarrow.compute as pc
import pytest

import apportion
from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, parse_instant, parse_period, zone_named
from apportion.sources.cost_explorer import probe, read
from apportion.verbs.reconcile import reconciled
from tests.clouds import s3_server
from tests.sources import making

ACCOUNT = "123456789012"
SECRET = "wJalr-not-a-real-key"
POLICY = """\
policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {a: {}}
pools: {all: {costs: otherwise, method: fixed, shares: {a: 100}}}
"""
METRICS = ("UnblendedCost", "AmortizedCost", "NetUnblendedCost", "NetAmortizedCost")


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server() as cloud:
        yield cloud.url


@pytest.fixture
def aws(moto: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty Cost Explorer."""
    post(moto, "/moto-api/reset", {})
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCOSTS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    return moto


def post(url: str, path: str, body: object) -> None:
    request = Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST")
    with urlopen(request, timeout=30) as answer:
        answer.read()


def day(date: str, *groups: tuple[str, str, str], estimated: bool = False) -> dict[str, Any]:
    """(service, record type, amount) of a day."""
    following = f"{date[:8]}{int(date[8:]) + 1:02d}"
    made = [
        {"Keys": [service, kind], "Metrics": {name: {"Amount": amount, "Unit": "USD"} for name in METRICS}}
        for service, kind, amount in groups
    ]
    return {"TimePeriod": {"Start": date, "End": following}, "Total": {}, "Groups": made, "Estimated": estimated}


def seed(url: str, *pages: list[dict[str, Any]]) -> None:
    """moto hands out one page after the other, the next one when its token is asked for."""
    tokens = [f"page-{number}" for number in range(1, len(pages))]
    results = [
        {"ResultsByTime": page, **({"NextPageToken": token} if token else {})}
        for page, token in zip(pages, [*tokens, ""], strict=True)
    ]
    post(url, "/moto-api/static/ce/cost-and-usage-results", {"account_id": ACCOUNT, "results": results})


def span(first: str, last: str) -> Interval:
    return Interval(second(first), second(last))


def second(text: str) -> int:
    return parse_instant(text, zone_named("UTC"))


def settings(url: str, **more: Any) -> dict[str, Any]:
    return {"name": "ce", "kind": "cost_explorer", "endpoint": url, "retries": 0, **more}


def deliveries(url: str, window: Interval, **more: Any) -> list[Delivery]:
    return [one for one in read(settings(url, **more), Path(), window) if isinstance(one, Delivery)]


def test_pages_decimals_and_what_is_estimated(aws: str) -> None:
    seed(
        aws,
        [day("2026-10-01", ("EC2", "Usage", "10.1234567891"), ("Tax", "Tax", "1.92"))],
        [day("2026-10-02", ("EC2", "Usage", "0.1"), ("S3", "Credit", "-0.0000004812"), estimated=True)],
    )
    (found,) = deliveries(aws, span("2026-10-02", "2026-10-03"))
    lines = found.tables["cost_lines"]
    assert found.window == span("2026-10-01", "2026-10-03")  # the month so far
    assert lines.num_rows == 4
    assert pc.sum(lines["BilledCost"]).as_py() == Decimal("10.1234567891") + Decimal("1.92") + Decimal("0.1") - Decimal(
        "0.0000004812"
    )
    assert set(lines["BillingAccountId"].to_pylist()) == {ACCOUNT}
    by_kind = {row["line_type"]: (row["ChargeCategory"], row["status"]) for row in lines.to_pylist()}
    assert by_kind == {"Usage": ("Usage", "estimated"), "Tax": ("Tax", "final"), "Credit": ("Credit", "estimated")}
    assert [scope.role for scope in found.scopes] == ["reference"]


def test_a_window_over_two_months_is_two_deliveries(aws: str) -> None:
    seed(aws, [day("2026-10-01", ("EC2", "Usage", "1"))])
    found = deliveries(aws, Interval(second("2026-10-20"), second("2026-11-03") + DAY_S // 2))
    assert [one.window for one in found] == [span("2026-10-01", "2026-11-01"), span("2026-11-01", "2026-11-03")]


@pytest.mark.parametrize(
    ("groups", "keys", "columns", "tags"),
    [
        (["tag:team", "SERVICE"], ["team$vision", "EC2"], {"ServiceName": "EC2"}, {"team": "vision"}),
        (["tag:team", "LINKED_ACCOUNT"], ["team$", "0042"], {"SubAccountId": "0042"}, {}),
        (["cost_category:Unit"], ["Unit$ML"], {}, {"cost_category.Unit": "ML"}),
    ],
)
def test_groups_become_columns_and_tags(
    aws: str, groups: list[str], keys: list[str], columns: dict[str, str], tags: dict[str, str]
) -> None:
    made = day("2026-10-01", ("x", "y", "5"))
    made["Groups"][0]["Keys"] = keys
    seed(aws, [made])
    (found,) = deliveries(aws, span("2026-10-01", "2026-10-02"), group_by=groups)
    (row,) = found.tables["cost_lines"].to_pylist()
    assert {name: row[name] for name in columns} == columns
    assert dict(row["Tags"]) == tags


def test_beside_a_bill_it_is_compared_and_alone_it_is_the_bill(aws: str, tmp_path: Path) -> None:
    seed(aws, [day("2026-10-01", ("Virtual Machines", "Usage", "12.5"))])
    stanza = (
        f'[[sources]]\nname = "ce"\nkind = "cost_explorer"\nendpoint = "{aws}"\nissuer = "Nimbus"\naccount = "0042"\n'
    )
    bill = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bill.csv"\n'
    (tmp_path / "bill.csv").write_text(making.bill_text({"BilledCost": "12.5", "EffectiveCost": "12.5"}), "utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    (tmp_path / "apportion.toml").write_text(bill + stanza, "utf-8")
    project = apportion.open_project(tmp_path)
    apportion.ingest(project, periods=[parse_period("2026-10")])
    report = reconciled(project, "2026-10")
    (reference,) = next(one for one in report.beside if one.name == "references").sections[0].rows
    assert Decimal(0) in reference
    assert report.title.endswith("no difference.")
    planned = apportion.plan(project, "2026-10")
    assert [(bill.id, bill.total) for bill in planned.bills] == [("Nimbus 2026-10 USD", Decimal("12.5"))]
    (tmp_path / "apportion.toml").write_text(bill + stanza + 'role = "bill"\n', "utf-8")
    with pytest.raises(apportion.ApportionError, match="scope-overlap"):
        apportion.ingest(apportion.open_project(tmp_path), ["ce"])


def test_wrong_credentials_and_a_silent_server_are_sentences(moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(InputError, match="login-refused"):
        deliveries(moto, span("2026-10-01", "2026-10-02"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCOSTS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(InputError, match="unreachable") as caught:
        deliveries("http://127.0.0.1:9", span("2026-10-01", "2026-10-02"))
    assert SECRET not in str(caught.value) + caught.value.hint
    with pytest.raises(InputError, match="address-refused"):
        deliveries("http://169.254.169.254", span("2026-10-01", "2026-10-02"))


@pytest.mark.parametrize("wrong", [["SERVICE", "REGION", "AZ"], ["SERVICES"], ["tag:"]])
def test_wrong_groups_are_refused(wrong: list[str]) -> None:
    with pytest.raises(ProjectError, match="invalid-setting"):
        deliveries("http://127.0.0.1:9", span("2026-10-01", "2026-10-02"), group_by=wrong)


def test_saved_answers_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for number, amount in enumerate(("1", "2")):
        text = json.dumps({"ResultsByTime": [day("2026-10-01", ("EC2", "Usage", amount))]})
        (tmp_path / f"{number}.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match="conflicting-rows"):
        list(read({"name": "ce", "kind": "cost_explorer", "path": "*.json"}, tmp_path))


def test_the_check_says_that_aws_answers(aws: str) -> None:
    seed(aws, [day("2026-10-01", ("EC2", "Usage", "1"))])
    (sign,) = probe(settings(aws), Path())
    assert (sign.status, sign.text) == ("ok", f"account {ACCOUNT} answers with 1 groups for yesterday")
