"""The rendered chart: valid for Kubernetes, and what its pods may and may not do, for several sets of values."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from tests import snippets
from tests.deploy.chart import CHART, ROOT, VALUES, Thing, asked, helm, one, pod_of, pods, read_all, rendered

VERSIONS = ("1.27.0", "1.31.0", "1.37.0")  # the oldest that the chart takes, one between, the newest that is known here
OPERATORS = ("monitoring.coreos.com/v1",)  # not Kubernetes' own, so no schema here knows them
READER = ROOT / "docs/how-to/read-kubernetes-objects.md"
EXAMPLES = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))


@pytest.fixture(params=VALUES)
def things(request: pytest.FixtureRequest) -> tuple[Thing, ...]:
    return rendered(request.param)


def containers(found: tuple[Thing, ...]) -> Iterator[Thing]:
    for pod in pods(found):
        yield from (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])


@pytest.mark.parametrize("values", VALUES)
def test_helm_finds_nothing_to_say(values: str) -> None:
    done = helm("lint", "--strict", str(CHART), *asked(values))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"\[(WARNING|ERROR)\]", done.stdout), done.stdout


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("values", VALUES)
def test_kubernetes_would_take_every_object(values: str, version: str) -> None:
    for thing in rendered(values):
        if thing["apiVersion"] not in OPERATORS:
            kubernetes_validate.validate(json.loads(json.dumps(thing)), version, strict=True)


def test_kubernetes_would_take_the_examples() -> None:
    for thing in read_all("---\n".join(path.read_text("utf-8") for path in EXAMPLES)):
        kubernetes_validate.validate(json.loads(json.dumps(thing)), VERSIONS[-1], strict=True)


def test_nobody_is_root_or_may_become_it(things: tuple[Thing, ...]) -> None:
    for pod in pods(things):
        spec = pod["spec"]
        who = spec["securityContext"]
        assert who["runAsNonRoot"] is True
        assert who["runAsUser"] > 0
        assert who["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostIPC"} & set(spec)
        assert bool(spec.get("hostPID")) == (pod["metadata"]["labels"]["app.kubernetes.io/component"] == "agent")
    for container in containers(things):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_what_may_be_written_to_is_a_volume_and_only_the_books_last(things: tuple[Thing, ...]) -> None:
    for pod in pods(things):
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", ())}
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            mounts = {mount["mountPath"]: mount for mount in container.get("volumeMounts", ())}
            written = {path: volumes[mount["name"]] for path, mount in mounts.items() if not mount.get("readOnly")}
            assert {path for path in written if "emptyDir" not in written[path]} <= {"/project", "/spool", "/backup"}
            assert all("sizeLimit" in volume["emptyDir"] for volume in volumes.values() if "emptyDir" in volume)


def test_every_container_says_what_it_takes_and_servers_can_be_asked(things: tuple[Thing, ...]) -> None:
    for container in containers(things):
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        assert "memory" in container["resources"]["limits"]
        if container["name"] == "server":
            assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)
        if container["name"] == "agent":
            assert "livenessProbe" in container


def test_secrets_are_named_and_never_there(things: tuple[Thing, ...]) -> None:
    assert not [thing for thing in things if thing["kind"] == "Secret"]
    words = re.compile("PASSWORD|SECRET|TOKEN|KEY|JWT")
    for container in containers(things):
        for variable in container.get("env", ()):
            assert not words.search(variable["name"]) or "secretKeyRef" in variable["valueFrom"], variable


def test_names_are_short_and_unique(things: tuple[Thing, ...]) -> None:
    names = [(thing["kind"], thing["metadata"]["name"]) for thing in things]
    assert len(set(names)) == len(names)
    for kind, name in names:
        assert len(name) <= (52 if kind == "CronJob" else 63), name
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name), name


def selects(selector: Thing, labels: Thing) -> bool:
    wanted = selector.get("matchLabels", {}).items() <= labels.items()
    ranges = selector.get("matchExpressions", [])
    return wanted and all(labels.get(rule["key"]) in rule["values"] for rule in ranges)


def test_selectors_select_what_they_are_about(things: tuple[Thing, ...]) -> None:
    labels = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod["metadata"]["labels"] for pod in pods(things)
    }
    for thing in things:
        selector, pod = thing.get("spec", {}).get("selector"), pod_of(thing)
        if pod and thing["kind"] in ("Deployment", "DaemonSet"):
            assert selects(selector, pod["metadata"]["labels"])
            assert (
                selector["matchLabels"]["app.kubernetes.io/component"]
                == pod["metadata"]["labels"]["app.kubernetes.io/component"]
            )
        if thing["kind"] == "Service":
            assert [name for name, those in labels.items() if selects({"matchLabels": selector}, those)] == ["server"]
            ports = {port["name"] for port in pod_of(one(things, "Deployment"))["spec"]["containers"][0]["ports"]}  # type: ignore[index]
            assert {port["targetPort"] for port in thing["spec"]["ports"]} <= ports
        if thing["kind"] in ("PodDisruptionBudget", "ServiceMonitor"):
            assert [name for name, those in labels.items() if selects(selector, those)] == ["server"]


def test_what_is_not_allowed_is_denied(things: tuple[Thing, ...]) -> None:
    policies = [thing for thing in things if thing["kind"] == "NetworkPolicy"]
    if not policies:
        assert things is rendered("jobs")
        return
    for pod in pods(things):
        labels = pod["metadata"]["labels"]
        component = labels["app.kubernetes.io/component"]
        mine = [policy["spec"] for policy in policies if selects(policy["spec"]["podSelector"], labels)]
        assert {"policyTypes": ["Ingress", "Egress"]} in [
            {key: spec[key] for key in spec if key != "podSelector"} for spec in mine
        ]
        let_in = [rule for spec in mine for rule in spec.get("ingress", ())]
        let_out = [rule for spec in mine for rule in spec.get("egress", ())]
        is_served = any(thing["kind"] == "Service" for thing in things)
        assert bool(let_in) == (component == "server" and is_served)
        assert all(rule["from"] and rule["ports"] for rule in let_in)
        assert bool(let_out) == (component != "agent")
        assert all(rule["ports"] for rule in let_out)


def test_only_the_stated_places_are_reached_with_https_off() -> None:
    rules = one(rendered("everything"), "NetworkPolicy", "-outside")["spec"]["egress"]
    everywhere = [port["port"] for rule in rules if "to" not in rule for port in rule["ports"]]
    assert sorted(set(everywhere)) == [53, 443, 6443]  # names, and the API server for readCluster
    assert [rule["ports"][0]["port"] for rule in rules if "to" in rule] == [5432, 443, 6820]


def test_ports_follow_the_addresses() -> None:
    rules = one(rendered("postgresql"), "NetworkPolicy", "-outside")["spec"]["egress"]
    assert [port["port"] for rule in rules for port in rule["ports"]] == [53, 53, 6432, 9000, 443]


def test_a_sync_with_books_on_a_volume_goes_where_the_server_is() -> None:
    things = rendered("embedded")
    assert one(things, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}
    rule = pod_of(one(things, "CronJob"))["spec"]["affinity"]["podAffinity"]  # type: ignore[index]
    (near,) = rule["requiredDuringSchedulingIgnoredDuringExecution"]
    assert selects(near["labelSelector"], pod_of(one(things, "Deployment"))["metadata"]["labels"])  # type: ignore[index]
    assert one(things, "PersistentVolumeClaim")["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    apart = rendered("postgresql")
    assert one(apart, "Deployment")["spec"]["strategy"]["type"] == "RollingUpdate"
    assert "affinity" not in pod_of(one(apart, "CronJob", "-sync"))["spec"]  # type: ignore[index]
    assert not [thing for thing in apart if thing["kind"] == "PersistentVolumeClaim"]


def test_one_round_at_a_time(things: tuple[Thing, ...]) -> None:
    jobs = [thing["spec"] for thing in things if thing["kind"] == "CronJob"]
    assert jobs or things is rendered("restore")
    for job in jobs:
        assert (job["concurrencyPolicy"], job["jobTemplate"]["spec"]["backoffLimit"]) == ("Forbid", 0)


def test_only_sync_may_read_the_cluster_and_only_what_the_page_says() -> None:
    things = rendered("everything")
    page = next(one for one in snippets.snippets(READER.read_text("utf-8")) if one.file == "apportion-reader.yaml")
    assert one(things, "ClusterRole")["rules"] == YAML(typ="safe").load(page.text)["rules"]
    assert {verb for rule in one(things, "ClusterRole")["rules"] for verb in rule["verbs"]} == {"list"}
    (subject,) = one(things, "ClusterRoleBinding")["subjects"]
    assert (subject["name"], subject["namespace"]) == (one(things, "ServiceAccount")["metadata"]["name"], "costs")
    tokens = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod["spec"]["automountServiceAccountToken"]
        for pod in pods(things)
    }
    assert tokens == {"server": False, "sync": True, "agent": False, "backup": False, "test": False}
    assert not [thing for thing in rendered("postgresql") if thing["kind"].startswith("ClusterRole")]


def test_the_agent_sees_the_hosts_processes_and_the_driver_and_takes_no_gpu() -> None:
    spec = pod_of(one(rendered("agent"), "DaemonSet"))["spec"]  # type: ignore[index]
    (container,) = spec["containers"]
    told = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert (spec["hostPID"], spec["runtimeClassName"]) == (True, "nvidia")
    assert (told["NVIDIA_VISIBLE_DEVICES"], told["NVIDIA_DRIVER_CAPABILITIES"]) == ("all", "utility")
    assert "nvidia.com/gpu" not in {**container["resources"]["requests"], **container["resources"]["limits"]}
    assert "serviceAccountName" not in spec
    assert spec["volumes"][0]["hostPath"] == {"path": "/var/lib/apportion/agent", "type": "Directory"}
    shared = pod_of(one(rendered("everything"), "CronJob", "-sync"))["spec"]  # type: ignore[index]
    assert {"name": "spool", "persistentVolumeClaim": {"claimName": "spool", "readOnly": True}} in shared["volumes"]


def test_the_ingress_has_the_host_of_the_address() -> None:
    for values in ("postgresql", "everything"):
        (rule,) = one(rendered(values), "Ingress")["spec"]["rules"]
        assert rule["host"] == "costs.example"


def test_the_image_is_named_by_digest_tag_or_version() -> None:
    images = {values: {container["image"] for container in containers(rendered(values))} for values in VALUES}
    assert images["everything"] == {f"registry.example/costs/apportion@sha256:{'0' * 64}"}
    assert images["embedded"] == {f"apportion:{version()}"}


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def test_the_chart_is_of_this_version() -> None:
    chart = YAML(typ="safe").load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["appVersion"] == version()


def test_another_configuration_restarts_the_server() -> None:
    def stamp(*more: str) -> str:
        annotations = pod_of(one(rendered("embedded", *more), "Deployment"))["metadata"]["annotations"]  # type: ignore[index]
        return str(annotations["checksum/config"])

    assert stamp() != stamp("--set", "engine.threads=3")
    assert stamp() == stamp("--set", "sync.schedule=5 * * * *")


def keys(values: Any, schema: Any, path: str = "") -> Iterator[str]:
    """Where values and their schema do not have the same keys."""
    known = schema.get("properties")
    if known is None or not isinstance(values, dict):
        return
    for key in sorted((set(values) ^ set(known)) - {"global"}):
        yield f"{path}{key}"
    for key in set(values) & set(known):
        yield from keys(values[key], known[key], f"{path}{key}.")


def test_values_and_their_schema_have_the_same_keys() -> None:
    values = YAML(typ="safe").load((CHART / "values.yaml").read_text("utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    assert list(keys(values, schema)) == []
    assert list(keys({"a": {"b": 1}}, {"properties": {"a": {"properties": {"c": {}}}}})) == ["a.b", "a.c"]
