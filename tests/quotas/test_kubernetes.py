"""A cluster is held to quotas by a plan: shown, applied as shown, undone; on an API server on loopback, with the arithmetic done by hand."""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.quotas import Limit, Moved, Used
from apportion.verbs import enforce_kubernetes as verbs
from apportion.verbs.enforcing.cluster import listing
from apportion.verbs.enforcing.manifests import Cluster, planned, queue_name
from apportion.verbs.project import Project
from tests.cli.tiny import edit
from tests.kubernetes.objects import made
from tests.kubernetes.server import TOKEN, Recorded
from tests.quotas.cluster import flavour, space, writable
from tests.quotas.schemas import check
from tests.quotas.world import TODAY, with_quotas

HOURS = 12 * 24  # from the 20th to the end of October
RULE = '  - {when: {k8s.namespace: "vis-*"}, team: vision}\n  - {when: {k8s.namespace: talk}, team: speech}\n'
SPACES = ("vis-a", "vis-b", "talk", "kube-system")
OTHER = made("v1", "ResourceQuota", "apportion", "vis-b", spec={"hard": {"pods": "9"}, "scopes": ["NotTerminating"]})


def used(team: str, left: str, meter: str = "gpu", moved: Moved = Moved(), *, hard: bool = True) -> Used:  # noqa: B008 - frozen
    limit = Limit(team, "", meter, "", f"{meter}-hours", Fraction(left), "month", hard=hard)
    return Used(limit, date(2026, 10, 1), date(2026, 10, 31), TODAY, Fraction(0), moved)


def cluster(**more: object) -> Cluster:
    return Cluster("c", {"vis-a": "vision", "vis-b": "vision", "talk": "speech", "kube-system": ""}, **more)  # type: ignore[arg-type]


def test_hours_become_what_may_be_held_at_once() -> None:
    quotas = [used("vision", str(HOURS * 5)), used("vision", str(HOURS * 64), "memory"), used("speech", "1")]
    plan = planned(quotas, [], cluster(), TODAY)
    hard = {change.namespace: (change.after or {})["hard"] for change in plan.changes}
    assert hard == {
        "vis-a": {"requests.nvidia.com/gpu": "3", "requests.memory": "32Gi"},
        "vis-b": {"requests.nvidia.com/gpu": "2", "requests.memory": "32Gi"},
        "talk": {"requests.nvidia.com/gpu": "1"},
    }
    assert "1,440 gpu-hours are left in the 288 hours until 2026-10-31, so at most 5 gpu at once" in plan.said[0]
    for one in listing(plan.changes, plan.kueue)["items"]:
        check(one)
    nothing = planned([used("vision", str(HOURS)), used("speech", "0")], [], cluster(), TODAY)
    assert [(one.after or {})["hard"]["requests.nvidia.com/gpu"] for one in nothing.changes] == ["1", "0", "0"]
    assert any("cannot be shared by 2 namespaces" in one for one in nothing.warnings)


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_what_is_lent_is_borrowed_in_kueue_and_the_sum_stays(version: str) -> None:
    ten, lent = Fraction(HOURS * 10), Fraction(HOURS * 3)
    before = planned([], [used("vision", str(ten)), used("speech", str(ten))], cluster(kueue=version), TODAY)
    pair = [used("vision", str(ten), moved=Moved(lent=lent)), used("speech", str(ten), moved=Moved(borrowed=lent))]
    after = planned([], pair, cluster(kueue=version, flavours=("a100",)), TODAY)
    amounts = []
    for plan in (before, after):
        items = listing(plan.changes, plan.kueue)["items"]
        for one in items:
            check(one)
        queues = [one for one in items if one["kind"] == "ClusterQueue"]
        amounts.append([one["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] for one in queues])
    assert [one["nominalQuota"] for one in amounts[0]] == [one["nominalQuota"] for one in amounts[1]] == ["10", "10"]
    assert [(one["borrowingLimit"], one["lendingLimit"]) for one in amounts[1]] == [("0", "3"), ("3", "0")]
    kinds = [(change.kind, change.namespace, change.name) for change in after.changes]
    assert kinds[:3] == [
        ("Cohort", "", "apportion"),
        ("ClusterQueue", "", "apportion-vision"),
        ("LocalQueue", "vis-a", "apportion"),
    ]
    assert any("no ResourceFlavor default-flavor" in one for one in before.warnings)
    assert after.warnings == ()


def test_a_soft_quota_may_borrow_what_is_free_and_names_stay_apart() -> None:
    plan = planned([], [used("vision", str(HOURS), hard=False)], cluster(), TODAY)
    resources = (plan.changes[1].after or {})["resourceGroups"][0]["flavors"][0]["resources"]
    assert resources == [{"name": "nvidia.com/gpu", "nominalQuota": "1", "lendingLimit": "0"}]
    assert queue_name("vision") == "apportion-vision"
    assert len({queue_name(name) for name in ("Vision", "vision", "vi sion", "vi/sion", "-" * 90)}) == 5


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    with writable([*map(space, SPACES), flavour("a100"), deepcopy(OTHER)]) as recorded:
        yield recorded


@pytest.fixture
def project(ingested: Path, tmp_path: Path, server: Recorded) -> Project:
    folder = tmp_path / "p"
    shutil.copytree(ingested, folder)
    edit(folder / "policy.yaml", "owners:\n", f"owners:\n{RULE}")
    stanza = f'[[sources]]\nname = "c"\nkind = "kubernetes"\ncluster = "c"\nurl = "{server.url}"\ntoken = "env:TEST_TOKEN"\nretries = 0\n'
    edit(folder / "apportion.toml", '[[sources]]\nname = "acme"', f'{stanza}\n[[sources]]\nname = "acme"')
    return with_quotas(
        folder,
        "{team: vision, meter: gpu, hours: 1488, per: month, enforce: kubernetes}",
        "{team: speech, meter: gpu, hours: 1488, per: month, enforce: kueue}",
        "{team: speech, money: 9, per: month, enforce: kueue}",
    )


def specs(server: Recorded) -> dict[tuple[str, str, str], object]:
    heads = [(one["kind"], one["metadata"], one.get("spec")) for one in server.objects]
    return {(kind, head.get("namespace", ""), head["name"]): deepcopy(spec) for kind, head, spec in heads}


def test_shown_applied_and_undone(project: Project, server: Recorded) -> None:
    before = specs(server)
    plan = verbs.enforce_kubernetes(project, today=TODAY)
    assert specs(server) == before  # nothing is changed by a plan
    assert any("speech: its quota of money is not enforced" in one for one in plan.warnings)
    with pytest.raises(ApportionError, match="no plan 'feed'"):
        verbs.apply_kubernetes(project, "feed")
    assert verbs.apply_kubernetes(project, plan.digest).done == 5
    after = specs(server)
    assert after["ResourceQuota", "vis-a", "apportion"] == {"hard": {"requests.nvidia.com/gpu": "3"}}  # 1440 h in 288
    assert after["ResourceQuota", "vis-b", "apportion"] == {
        "hard": {"requests.nvidia.com/gpu": "2"},
        "scopes": ["NotTerminating"],
    }
    assert ("ClusterQueue", "", "apportion-speech") in after
    again = verbs.apply_kubernetes(project, plan.digest)
    assert (again.done, again.there) == (0, 5)
    assert verbs.enforce_kubernetes(project, today=TODAY).changes == ()
    back = verbs.undo_kubernetes(project)
    verbs.apply_kubernetes(project, back.digest)
    assert specs(server) == before
    assert verbs.undo_kubernetes(project).changes == ()
    noted = [note.detail for note in project.books.audit() if note.what == "enforce"]
    assert [one.partition(" plan")[0] for one in noted] == [
        "kubernetes c: held to quotas by",
        "kubernetes c: undone by",
    ]


def test_what_moved_is_refused_and_nothing_is_half_applied(project: Project, server: Recorded) -> None:
    plan = verbs.enforce_kubernetes(project, today=TODAY)
    theirs = next(one for one in server.objects if one["kind"] == "ResourceQuota")
    theirs["spec"]["hard"] = {"pods": "10"}
    before = specs(server)
    with pytest.raises(ApportionError) as refused:
        verbs.apply_kubernetes(project, plan.digest)
    assert (refused.value.code, specs(server)) == ("plan-outdated", before)


def test_an_unreachable_or_closed_cluster_is_said(project: Project, server: Recorded) -> None:
    server.denied.add("clusterqueues")
    with pytest.raises(ApportionError) as refused:
        verbs.enforce_kubernetes(project, today=TODAY)
    assert refused.value.code == "not-permitted"
    edit(project.folder / "apportion.toml", server.url, "http://127.0.0.1:9")
    with pytest.raises(ApportionError) as gone:
        verbs.enforce_kubernetes(apportion.open_project(project.folder), today=TODAY)
    assert gone.value.code == "unreachable"


def test_manifests_are_written_for_kubectl(project: Project, tmp_path: Path) -> None:
    plan = verbs.enforce_kubernetes(project, today=TODAY)
    verbs.write_manifests(plan, tmp_path / "quotas.json")
    written = json.loads((tmp_path / "quotas.json").read_text("utf-8"))
    assert written["kind"] == "List"
    for one in written["items"]:
        check(one)
