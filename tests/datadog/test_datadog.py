"""Datadog through its own client against a loopback stub: what the stub's schedule says is what is delivered."""

import json
import random
import socket
import ssl
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import trustme

from apportion.errors import ApportionError, InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import DAY_S, Interval, parse_instant
from apportion.sources.datadog import SOURCE, probe
from apportion.sources.live import Progress
from tests.datadog.stub import API_KEY, APP_KEY, Metric, Stub, serving
from tests.sources.making import codes

START = parse_instant("2026-10-05T00:00:00Z")
DAY = Interval(START, START + DAY_S)
KEYS = {"api_key": "env:STUB_API_KEY", "app_key": "env:STUB_APP_KEY"}
POD = ("kube_cluster_name:train", "kube_namespace:vision", "pod_name:a-0", "host:n1")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", API_KEY)
    monkeypatch.setenv("STUB_APP_KEY", APP_KEY)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as found:
        yield found


def items(stub: Stub, window: Interval | None = DAY, **settings: Any) -> list[Delivery | Progress]:
    whole = {"name": "dd", "kind": "datadog", "url": stub.url, **KEYS, **settings}
    return list(SOURCE.read(whole, Path(), window))


def delivery(stub: Stub, window: Interval = DAY, **settings: Any) -> Delivery:
    (found,) = [item for item in items(stub, window, **settings) if isinstance(item, Delivery)]
    return found


def totals(found: Delivery) -> dict[tuple[str, str], tuple[int, int]]:
    """Unit-seconds held and used of levels, units of flows."""
    sums: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in found.tables["usage"].to_pylist():
        seconds = 1 if row["meter"] == "energy" else row["end_s"] - row["start_s"]
        held, used = sums[row["workload"], row["meter"]]
        sums[row["workload"], row["meter"]] = held + row["allocated"] * seconds, used + (row["used"] or 0) * seconds
    return dict(sums)


@pytest.mark.parametrize("seed", [5, 77])
def test_a_day_of_pods_equals_the_schedule(stub: Stub, seed: int) -> None:
    """Pods come and go at bucket edges; percent, devices and milliwatts become base units, GPU-seconds and joules."""
    dice = random.Random(seed)
    truth: dict[tuple[str, str], tuple[int, int]] = {}
    metrics = {
        name: Metric(unit, {})
        for name, unit in (
            ("gpu.device.total", "device"),
            ("gpu.sm_active", "percent"),
            ("gpu.power.usage", "milliwatt"),
        )
    }
    for number in range(20):
        boards = dice.choice([1, 2, 4, 8])
        first, last = sorted(START + 300 * dice.randrange(289) for _ in range(2))
        busy = {at: dice.randrange(0, 100 * boards + 1) for at in range(first, last, 300)}
        watts = {at: dice.randrange(70_000, 700_000) * boards for at in busy}
        group = (
            "kube_cluster_name:train",
            f"kube_namespace:team{number % 3}",
            f"pod_name:p-{number}",
            f"host:n{number % 5}",
        )
        metrics["gpu.device.total"].groups[group] = {at: float(boards) for at in busy}.get
        metrics["gpu.sm_active"].groups[group] = {at: float(value) for at, value in busy.items()}.get
        metrics["gpu.power.usage"].groups[group] = {at: float(value) for at, value in watts.items()}.get
        if busy:
            workload = f"k8s/train/team{number % 3}/p-{number}"
            truth[workload, "gpu"] = (
                boards * GPU * 300 * len(busy),
                sum(value * GPU // 100 * 300 for value in busy.values()),
            )
            joules = sum(round(Fraction(value * 300, 1000)) for value in watts.values())
            truth[workload, "energy"] = (joules, joules)
    stub.metrics = metrics
    found = delivery(stub)
    assert totals(found) == truth
    assert found.problems == ()
    assert {row["resource"] for row in found.tables["usage"].to_pylist()} <= {f"n{number}" for number in range(5)}
    labels = {row["workload"]: dict(row["labels"]) for row in found.tables["workloads"].to_pylist()}
    assert all(label["k8s.cluster"] == "train" and label["k8s.pod"] in workload for workload, label in labels.items())
    assert found.window == DAY


def test_the_dcgm_check_counts_watts_and_no_devices(stub: Stub) -> None:
    stub.metrics = {
        "dcgm.gpu_utilization": Metric("percent", {POD: lambda _: 50.0}),
        "dcgm.power_usage": Metric("watt", {POD: lambda _: 400.0}),
    }
    found = delivery(stub, metrics="dcgm")
    assert totals(found) == {
        ("k8s/train/vision/a-0", "gpu"): (0, GPU // 2 * DAY_S),
        ("k8s/train/vision/a-0", "energy"): (400 * DAY_S, 400 * DAY_S),
    }


def test_milliwatts_are_milliwatts_whatever_the_answer_says(stub: Stub) -> None:
    """Units of a metric can be edited in Datadog; what the agent writes does not change with them."""
    stub.metrics = {"gpu.power.usage": Metric("watt", {POD: lambda _: 400_000.0})}
    assert totals(delivery(stub))["k8s/train/vision/a-0", "energy"] == (400 * DAY_S, 400 * DAY_S)


def test_counts_of_millijoules(stub: Stub) -> None:
    stub.metrics = {"dcgm.total_energy_consumption.count": Metric("millijoule", {POD: lambda _: 120_000_000.0})}
    found = delivery(stub, metrics="none", used={"energy": "dcgm.total_energy_consumption.count"})
    assert totals(found) == {("k8s/train/vision/a-0", "energy"): (120_000 * 288, 120_000 * 288)}
    assert stub.seen[0]["body"]["data"]["attributes"]["queries"][0]["query"].endswith(".as_count()")


def test_the_interval_is_what_the_answer_has(stub: Stub) -> None:
    stub.metrics = {"gpu.sm_active": Metric("percent", {POD: lambda at: 100.0 if at // 600 % 2 else 0.0})}
    stub.coarsest_points = 150
    found = delivery(stub)
    assert {row["end_s"] - row["start_s"] for row in found.tables["usage"].to_pylist()} == {600}
    assert totals(found)["k8s/train/vision/a-0", "gpu"] == (0, GPU * DAY_S // 2)


def test_a_long_window_is_asked_in_chunks_and_none_twice(stub: Stub) -> None:
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda _: 8.0})}
    window = Interval(START + 100, START + 4 * DAY_S - 100)
    told = items(stub, window, interval_s=60)
    (found,) = [item for item in told if isinstance(item, Delivery)]
    asked = [(one["body"]["data"]["attributes"]["from"], one["body"]["data"]["attributes"]["to"]) for one in stub.seen]
    assert len(asked) == len([item for item in told if isinstance(item, Progress)]) > 4
    assert [end for _, end in asked[:-1]] == [start for start, _ in asked[1:]]
    assert totals(found)["k8s/train/vision/a-0", "gpu"][0] == 8 * GPU * (4 * DAY_S - 120)
    assert found.tables["usage"].num_rows == 1, "equal buckets that follow each other are one row"


def test_gaps_are_bridged_for_a_quarter_of_an_hour_and_listed(stub: Stub) -> None:
    holes = {*range(START + 3000, START + 3900, 300), *range(START + 9000, START + 12000, 300)}
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda at: None if at in holes else 2.0})}
    found = delivery(stub)
    assert codes(found) == ["estimated", "not-measured"]
    assert "from 2026-10-05T00:50:00Z to 2026-10-05T01:05:00Z: held at the value before" in found.problems[0].message
    assert totals(found)["k8s/train/vision/a-0", "gpu"][0] == 2 * GPU * (DAY_S - 3000)


def test_jobs_of_slurm_and_machines(stub: Stub) -> None:
    job = (
        "slurm_cluster_name:hpc",
        "slurm_job_id:4242",
        "slurm_user:alice",
        "slurm_account:vision",
        "team:x",
        "host:n7",
    )
    other = (*job[:-1], "host:n8")
    alone = ("slurm_job_id:N/A", "host:n9")
    stub.metrics = {
        "gpu.device.total": Metric(None, {group: lambda _: 4.0 for group in (job, other, alone)}),
        "gpu.power.usage": Metric(None, {alone: lambda _: 70_000.0}),
    }
    found = delivery(stub, by=["slurm_cluster_name", "slurm_job_id", "slurm_user", "slurm_account", "team", "host"])
    rows = {(row["workload"], row["resource"]) for row in found.tables["usage"].to_pylist()}
    assert rows == {("slurm/hpc/4242", "n7"), ("slurm/hpc/4242", "n8"), ("datadog/host:n9", "n9")}
    assert totals(found) == {
        ("slurm/hpc/4242", "gpu"): (2 * 4 * GPU * DAY_S, 0),
        ("datadog/host:n9", "energy"): (70 * DAY_S, 70 * DAY_S),
    }, "boards that no job has are held by nobody; what they draw is seen"
    labels = {row["workload"]: dict(row["labels"]) for row in found.tables["workloads"].to_pylist()}
    assert labels["slurm/hpc/4242"] == {
        "slurm.cluster": "hpc", "slurm.job": "4242", "slurm.user": "alice", "slurm.account": "vision", "datadog.team": "x",
    }  # fmt: skip
    assert "by {slurm_cluster_name,slurm_job_id,slurm_user,slurm_account,team,host}" in json.dumps(stub.seen[0]["body"])


def test_a_metric_in_a_unit_that_nobody_knows_is_listed(stub: Stub) -> None:
    stub.metrics = {
        "my.cores": Metric("parsec", {POD: lambda _: 1.0}),
        "my.bytes": Metric("gibibyte", {POD: lambda _: 2.0}),
    }
    found = delivery(stub, metrics="none", held={"cpu": "my.cores", "memory": "my.bytes"})
    assert [problem.code for problem in found.problems] == ["unknown-metric"]
    assert totals(found) == {("k8s/train/vision/a-0", "memory"): (2**31 * DAY_S, 0)}


def test_a_busy_server_is_asked_again_when_it_says(stub: Stub) -> None:
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda _: 1.0})}
    stub.faults = ["429"]
    assert delivery(stub).tables["usage"].num_rows == 1
    assert len(stub.seen) == 2


def test_half_an_answer_is_asked_for_again(stub: Stub) -> None:
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda _: 1.0})}
    stub.faults = ["half", "500"]
    assert delivery(stub).tables["usage"].num_rows == 1
    assert len(stub.seen) == 3


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        (["429"] * 9, "rate-limited"),
        (["503"] * 9, "unreachable"),
        (["half"] * 9, "half-response"),
        (["400"], "bad-response"),
        (["403"], "login-refused"),
    ],
)
def test_faults_that_stay_are_told_and_nothing_is_delivered(stub: Stub, faults: list[str], code: str) -> None:
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda _: 1.0})}
    stub.faults = faults
    told: list[Delivery | Progress] = []
    with pytest.raises(InputError) as refused:
        told.extend(SOURCE.read({"name": "dd", "kind": "datadog", "url": stub.url, **KEYS, "retries": 1}, Path(), DAY))
    assert refused.value.code == code
    assert not [item for item in told if isinstance(item, Delivery)]
    assert API_KEY not in str(refused.value)
    assert APP_KEY not in str(refused.value)


def test_wrong_keys_are_refused_without_being_shown(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_APP_KEY", "some-other-key")
    with pytest.raises(InputError) as refused:
        delivery(stub)
    assert refused.value.code == "login-refused"
    assert "some-other-key" not in str(refused.value)
    with pytest.raises(ProjectError) as written:
        delivery(stub, app_key="the-key-itself")
    assert written.value.code == "secret-in-settings"
    assert "the-key-itself" not in str(written.value)


def test_a_server_that_is_not_there(stub: Stub) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError) as refused:
            delivery(stub, url=url, retries=0)
    assert refused.value.code == "unreachable"
    with pytest.raises(InputError) as address:
        delivery(stub, url="http://169.254.169.254")
    assert address.value.code == "address-refused"


def test_a_certificate_that_nobody_signed_and_one_that_our_authority_signed(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with serving(Stub({"gpu.device.total": Metric(None, {POD: lambda _: 1.0})}), context) as stub:
        with pytest.raises(InputError) as refused:
            delivery(stub, retries=0)
        assert (refused.value.code, "ca_file" in refused.value.hint) == ("tls-failed", True)
        assert delivery(stub, ca_file=str(tmp_path / "ca.pem")).tables["usage"].num_rows == 1


def test_a_server_that_is_slow(stub: Stub) -> None:
    def slow(at: int) -> float:
        if at == START:
            time.sleep(3)
        return 1.0

    stub.metrics = {"gpu.device.total": Metric(None, {POD: slow})}
    with pytest.raises(InputError) as refused:
        delivery(stub, timeout_s=1, retries=0)
    assert refused.value.code == "too-slow"


def test_cloud_cost_is_a_reference_by_whole_days(stub: Stub) -> None:
    first = ("providername:aws", "servicename:AmazonEC2", "team:vision")
    second = ("providername:aws", "servicename:AmazonS3")
    stub.metrics = {
        "all.cost": Metric(
            "dollar",
            {first: lambda at: 100.25 + (at - START) // DAY_S, second: lambda at: 0.1 if at == START else None},
        )
    }
    found = delivery(
        stub,
        Interval(START + 3600, START + 2 * DAY_S + 7200),
        records="costs",
        by=["providername", "servicename", "team"],
    )
    assert found.window == Interval(START, START + 2 * DAY_S)
    rows = found.tables["cost_lines"].to_pylist()
    assert sorted(row["BilledCost"] for row in rows) == [Decimal("0.1"), Decimal("100.25"), Decimal("101.25")]
    assert {(row["BillingCurrency"], row["ServiceName"], row["ServiceProviderName"]) for row in rows} == {
        ("USD", "AmazonEC2", "aws"),
        ("USD", "AmazonS3", "aws"),
    }
    assert dict(rows[0]["Tags"])["team"] == "vision"
    assert len({row["line_id"] for row in rows}) == 3
    (scope,) = found.scopes
    assert scope.role == "reference"
    query = stub.seen[0]["body"]["data"]["attributes"]["queries"][0]
    assert query["data_source"] == "cloud_cost"
    assert query["query"] == "sum:all.cost{*} by {providername,servicename,team}.rollup(sum, daily)"
    assert not [
        item for item in items(stub, Interval(START, START + 3600), records="costs") if isinstance(item, Delivery)
    ], "no day is over"


def test_what_check_says(stub: Stub) -> None:
    settings = {"name": "dd", "kind": "datadog", "url": stub.url, **KEYS}
    stub.metrics = {
        "gpu.device.total": Metric(None, {POD: lambda _: 1.0}),
        "gpu.sm_active": Metric("percent", {POD: lambda _: 1.0}),
    }
    signs = list(probe(settings, Path()))
    assert [(sign.status, sign.text) for sign in signs] == [
        ("ok", "2 series answer"),
        ("note", "gpu.power.usage (energy, used) says nothing"),
    ]
    stub.faults = ["403"]
    (wrong,) = probe(settings, Path())
    assert (wrong.status, "timeseries_query" in wrong.fix) == ("wrong", True)
    (unset,) = probe({key: value for key, value in settings.items() if key != "app_key"}, Path())
    assert unset.fix == 'app_key = "env:DD_APP_KEY", or with file: or keyring:'


def test_saved_answers_read_the_same(stub: Stub, tmp_path: Path) -> None:
    stub.metrics = {
        "gpu.device.total": Metric("device", {POD: lambda _: 8.0}),
        "gpu.sm_active": Metric("percent", {POD: lambda _: 200.5}),
    }
    live = delivery(stub)
    body = stub.seen[0]["body"]
    (tmp_path / "day.json").write_text(json.dumps({"request": body, "response": stub.answer(body)}), encoding="utf-8")
    (found,) = list(SOURCE.read({"name": "dd", "kind": "datadog", "path": "day.json"}, tmp_path, None))
    assert isinstance(found, Delivery)
    assert found.window == DAY
    assert found.tables["usage"] == live.tables["usage"]
    (tmp_path / "day.json").write_text('{"request": {}}', encoding="utf-8")
    with pytest.raises(InputError, match="no saved request with its response"):
        list(SOURCE.read({"name": "dd", "kind": "datadog", "path": "day.json"}, tmp_path, None))


@pytest.mark.parametrize(
    ("change", "code"),
    [({"interval_s": 7}, "invalid-setting"), ({"site": "datadog.com"}, "invalid-setting"), ({"used": {"gpu": "gpu.device.total"}}, "invalid-setting"),
     ({"held": {"gpus": "x"}}, "invalid-setting")],
)  # fmt: skip
def test_settings_that_are_wrong(stub: Stub, change: dict[str, Any], code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        delivery(stub, **change)
    assert refused.value.code == code


def test_the_stanza_that_init_writes_is_accepted(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DD_API_KEY", API_KEY)
    monkeypatch.setenv("DD_APP_KEY", APP_KEY)
    (settings,) = tomllib.loads(SOURCE.stanza)["sources"]
    stub.metrics = {"gpu.device.total": Metric(None, {POD: lambda _: 1.0})}
    assert [item for item in SOURCE.read({**settings, "url": stub.url}, Path(), DAY) if isinstance(item, Delivery)]
