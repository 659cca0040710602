"""The official client against a server on loopback: ways to log in, pages, and everything that goes wrong between."""

import base64
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, InputError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.kubernetes import SOURCE
from apportion.sources.kubernetes.objects import KINDS
from tests.kubernetes.authority import certificates
from tests.kubernetes.objects import AT_S, HOUR_S, made, namespace, node, pod
from tests.kubernetes.reading import LAST_HOUR, ask, codes, one, rows, stanza
from tests.kubernetes.server import TOKEN, serving

WORLD = [node(), namespace("vision"), *(pod(f"p{number}") for number in range(25))]
BUSY = json.dumps({"kind": "Status", "message": "too many requests", "code": 429}).encode()
PODS = "/api/v1/pods"


def test_lists_come_in_pages_and_nothing_is_written() -> None:
    with serving(WORLD) as recorded:
        found = one(recorded, page=10)
    assert len(rows(found, "workloads")) == 25
    assert [path for path in recorded.asked if path.startswith(PODS)] == [
        f"{PODS}?limit=10",
        f"{PODS}?limit=10&continue=10",
        f"{PODS}?limit=10&continue=20",
    ]
    assert recorded.methods == {"GET"}


def test_a_list_that_has_moved_on_is_read_again_from_the_start() -> None:
    with serving(WORLD, faults=[(f"{PODS}?limit=10&continue=20", 410, {}, b'{"reason":"Expired"}')]) as recorded:
        found = one(recorded, page=10)
    assert len({row["workload"] for row in rows(found, "workloads")}) == len(rows(found, "workloads")) == 25
    assert len([path for path in recorded.asked if path.startswith(PODS)]) == 6


def test_a_list_that_always_moves_on_is_given_up() -> None:
    with (
        serving(WORLD, faults=[(PODS, 410, {}, b"{}")] * 9) as recorded,
        pytest.raises(InputError, match="lost the list") as told,
    ):
        one(recorded)
    assert told.value.code == "half-response"


@pytest.mark.parametrize(
    "fault",
    [
        (PODS, 429, {"Retry-After": "0"}, BUSY),
        (PODS, 503, {"Retry-After": "0"}, b"etcd leader changed"),
        (PODS, 200, {"Content-Length": "100000"}, b'{"items": ['),
    ],
    ids=["busy", "no leader", "half an answer"],
)
def test_what_passes_is_tried_again(fault: tuple[str, int, dict[str, str], bytes]) -> None:
    with serving(WORLD, faults=[fault]) as recorded:
        assert len(rows(one(recorded), "workloads")) == 25


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ((PODS, 429, {"Retry-After": "0"}, BUSY), "rate-limited"),
        ((PODS, 500, {"Retry-After": "0"}, b"oh"), "unreachable"),
        ((PODS, 200, {"Content-Length": "100000"}, b'{"items": ['), "half-response"),
        ((PODS, 200, {}, b"<html>login</html>"), "bad-response"),
        ((PODS, 200, {}, b'{"items": 7}'), "bad-response"),
        ((PODS, 302, {"Location": "http://127.0.0.1:1/"}, b"{}"), "bad-response"),
        (("/version", 404, {}, b"{}"), "bad-response"),
    ],
)
def test_what_stays_is_told_and_nothing_is_delivered(fault: tuple[str, int, dict[str, str], bytes], code: str) -> None:
    with serving(WORLD, faults=[fault] * 9) as recorded, pytest.raises(InputError) as told:
        ask(recorded)
    assert told.value.code == code
    assert TOKEN not in str(told.value)


def test_a_wrong_token_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "wrong-" + TOKEN)
    with serving(WORLD) as recorded, pytest.raises(InputError) as told:
        ask(recorded, token="env:OTHER")
    assert told.value.code == "login-refused"
    assert TOKEN not in str(told.value)


def test_nobody_there_and_nobody_answering() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings = {"name": "it", "cluster": "c", "url": f"http://127.0.0.1:{port}", "timeout_s": 1, "retries": 0}
        with pytest.raises(InputError) as told:
            list(SOURCE.read(settings, Path(), LAST_HOUR))
        assert told.value.code == "too-slow"
    with pytest.raises(InputError) as told:
        list(SOURCE.read(settings, Path(), LAST_HOUR))
    assert told.value.code == "unreachable"


def test_metadata_addresses_are_refused() -> None:
    with pytest.raises(InputError) as told:
        list(SOURCE.read({"name": "it", "cluster": "c", "url": "http://169.254.169.254"}, Path(), LAST_HOUR))
    assert told.value.code == "address-refused"


def test_what_the_delivery_needs_must_be_allowed() -> None:
    with serving(WORLD, denied={"pods"}) as recorded, pytest.raises(InputError) as told:
        ask(recorded)
    assert told.value.code == "not-permitted"
    assert '{apiGroups: [""], resources: [pods], verbs: [list]}' in told.value.hint


def test_what_only_says_more_is_listed_where_it_is_not_allowed() -> None:
    job = made("batch/v1", "Job", "j", "vision")
    with serving([*WORLD, job], denied={"jobs"}, absent={"batch.volcano.sh"}) as recorded:
        found = one(recorded)
    assert codes(found) == ["not-permitted"]
    assert "jobs.batch may not be listed" in found.problems[0].message


def test_absent_extensions_are_no_failure() -> None:
    groups = {kind.group for kind in KINDS if "." in kind.group}
    with serving(WORLD, absent=groups) as recorded:
        found = one(recorded)
    assert codes(found) == []
    assert not [path for path in recorded.asked if "kueue" in path]


def test_a_kind_that_its_group_lacks_is_absent() -> None:
    missing: Any = ("/apis/kueue.x-k8s.io/v1beta2/cohorts", 404, {}, b'{"kind":"Status","code":404}')
    with serving(WORLD, faults=[missing]) as recorded:
        assert codes(one(recorded)) == []


def kubeconfig(folder: Path, url: str, authority: Path | None) -> Path:
    trust = {"certificate-authority-data": base64.b64encode(authority.read_bytes()).decode()} if authority else {}
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": {"server": url, **trust}}],
        "users": [{"name": "reader", "user": {"token": TOKEN}}],
        "contexts": [{"name": "training", "context": {"cluster": "one", "user": "reader"}}],
        "current-context": "",
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(found), encoding="utf-8")  # JSON is YAML
    return file


def test_a_kubeconfig_and_a_private_authority(tmp_path: Path) -> None:
    authority, context = certificates(tmp_path)
    with serving(WORLD, context) as recorded:
        kubeconfig(tmp_path, recorded.url, authority)
        settings = {"name": "it", "cluster": "c", "kubeconfig": "kubeconfig", "context": "training", "retries": 0}
        (found,) = [each for each in SOURCE.read(settings, tmp_path, LAST_HOUR) if isinstance(each, Delivery)]
        assert len(rows(found, "workloads")) == 25
        kubeconfig(tmp_path, recorded.url, None)
        with pytest.raises(InputError) as told:
            list(SOURCE.read(settings, tmp_path, LAST_HOUR))
        assert told.value.code == "tls-failed"
        assert len(rows(one(recorded, ca_file=str(authority)), "workloads")) == 25


def test_a_pods_own_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes.config import incluster_config

    authority, context = certificates(tmp_path)
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    with serving(WORLD, context) as recorded:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", recorded.url.rpartition(":")[2])
        told = list(SOURCE.read({"name": "it", "cluster": "c"}, tmp_path, LAST_HOUR))
    assert isinstance(told[-1], Delivery)
    assert len(rows(told[-1], "workloads")) == 25


@pytest.mark.parametrize("settings", [{"kubeconfig": "nowhere"}, {"kubeconfig": "kubeconfig", "context": "other"}])
def test_no_way_to_log_in_is_told(tmp_path: Path, settings: dict[str, Any]) -> None:
    kubeconfig(tmp_path, "https://127.0.0.1:1", None)
    with pytest.raises(InputError) as told:
        list(SOURCE.read({"name": "it", "cluster": "c", **settings}, tmp_path, LAST_HOUR))
    assert told.value.code == "no-kubeconfig"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"token": "plain"}, "secret-in-settings"),
        ({"url": "https://user:pass@host"}, "secret-in-settings"),
        ({"url": "ftp://host"}, "invalid-setting"),
        ({"usage": "some"}, "invalid-setting"),
        ({"reservations": ["slurm"]}, "invalid-setting"),
        ({"drivers": {"a": "gpus"}}, "invalid-setting"),
        ({"cluster": None}, "missing-setting"),
        ({"clustre": "c"}, "unknown-setting"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, Any], code: str) -> None:
    settings = {"name": "it", "kind": "kubernetes", "cluster": "c", "url": "http://127.0.0.1:1", **wrong}
    with pytest.raises(ApportionError) as told:
        list(SOURCE.read({key: value for key, value in settings.items() if value is not None}, Path(), LAST_HOUR))
    assert told.value.code == code


def test_what_is_long_ago_is_not_spoken_of() -> None:
    """Yesterday's rows were said yesterday, by a look that still saw the pods that are gone now."""
    yesterday = Interval(AT_S - 30 * HOUR_S, AT_S - 6 * HOUR_S)
    with serving(WORLD) as recorded:
        found = one(recorded, yesterday)
        assert recorded.asked == ["/version"]
    assert (found.window, dict(found.tables), codes(found)) == (yesterday, {}, ["past-window"])


def test_a_missed_run_is_made_good_as_far_as_the_reach() -> None:
    window = Interval(AT_S - 5 * HOUR_S, AT_S - 60)
    with serving(WORLD) as recorded:
        past, recent = ask(recorded, window)
        assert (past.window, past.tables) == (Interval(window.start_s, AT_S - 2 * HOUR_S), {})
        assert recent.window == Interval(AT_S - 2 * HOUR_S, window.end_s)
        assert min(row["start_s"] for row in rows(recent, "capacity")) == AT_S - 2 * HOUR_S
        assert one(recorded, window, reach_hours=5).window == window


def test_two_clocks_that_nearly_agree_leave_no_hole() -> None:
    with serving(WORLD, now_s=AT_S - 200) as recorded:
        found = one(recorded)
        assert found.window == LAST_HOUR
        assert {row["end_s"] for row in rows(found, "capacity")} == {AT_S}
    with serving(WORLD, now_s=AT_S - 1800) as recorded:
        assert one(recorded).window == Interval(LAST_HOUR.start_s, AT_S - 1800)
    with serving(WORLD, now_s=AT_S - 2 * HOUR_S) as recorded:
        assert ask(recorded) == []


def test_progress_is_told_for_each_kind() -> None:
    with serving(WORLD) as recorded, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_TOKEN", TOKEN)
        *before, last = SOURCE.read(stanza(recorded), Path(), LAST_HOUR)
    assert isinstance(last, Delivery)
    assert [each.done for each in before if not isinstance(each, Delivery)] == list(range(len(before)))
