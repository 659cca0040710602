"""Copies of the books on a cluster: made by the clock and before an upgrade, as their manifests say, and restored by the chart's own Job."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.books import postgres, versions
from tests.clouds import s3_server
from tests.deploy.chart import Thing, one, pod_of, rendered
from tests.deploy.pod import Kubelet, why_not
from tests.deploy.running import SECRETS, configs, go_round, in_cron, sources, writable

CLAIM = "claim-copies"


@pytest.fixture
def _pods_can_be() -> None:
    if reason := why_not():
        pytest.skip(reason)


def spec_of(things: tuple[Thing, ...], kind: str, ending: str = "") -> Thing:
    found = pod_of(one(things, kind, ending))
    assert found is not None
    spec: Thing = found["spec"]
    return spec


def mounts(container: Thing) -> dict[str, Thing]:
    return {mount["mountPath"]: mount for mount in container["volumeMounts"]}


@pytest.mark.parametrize(("kind", "ending"), [("CronJob", "-backup"), ("Job", "-before-upgrade")])
def test_a_backup_sees_the_books_and_nothing_of_the_sources(kind: str, ending: str) -> None:
    (container,) = spec_of(rendered("everything"), kind, ending)["containers"]
    names = {variable["name"] for variable in container["env"]}
    assert {"PGPASSWORD", "HTTPS_PROXY"} <= names
    assert not names & {"SLURM_JWT", "APPORTION_CLIENT_SECRET"}
    paths = {"/project", "/project/apportion.toml", "/project/policy.yaml", "/tmp", "/backup"}
    assert set(mounts(container)) == paths
    (container,) = spec_of(rendered("postgresql"), kind, ending)["containers"]
    assert set(mounts(container)) == {*paths, "/certificates"}
    assert container["args"] == ["backup", "/backup", "--keep", "2"]


def test_a_backup_of_books_on_a_volume_goes_where_the_server_is() -> None:
    things = rendered("copies")
    sync = spec_of(things, "CronJob", "-sync")
    assert "podAffinity" in sync["affinity"]
    for spec in (spec_of(things, "CronJob", "-backup"), spec_of(things, "Job", "-before-upgrade")):
        assert spec["affinity"] == sync["affinity"]
        assert {"name": "backup", "persistentVolumeClaim": {"claimName": "copies"}} in spec["volumes"]
    assert "affinity" not in spec_of(rendered("postgresql"), "CronJob", "-backup")
    assert "affinity" not in spec_of(rendered("restore"), "Job")


def test_an_upgrade_makes_a_copy_first_whatever_the_release_before_let_out() -> None:
    things = rendered("everything")
    job, policy = one(things, "Job"), one(things, "NetworkPolicy", "-before-upgrade")
    for hook in (job, policy):
        assert hook["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    assert int(policy["metadata"]["annotations"]["helm.sh/hook-weight"]) < 0
    assert policy["spec"]["egress"] == one(things, "NetworkPolicy", "-outside")["spec"]["egress"]
    cron = one(things, "CronJob", "-backup")["spec"]["jobTemplate"]["spec"]
    assert {key: job["spec"][key] for key in cron} == cron
    off = rendered("everything", "--set", "backup.beforeUpgrade=false")
    assert not [thing for thing in off if thing["metadata"]["name"].endswith("-before-upgrade")]
    assert not [thing for thing in rendered("embedded") if "backup" in json.dumps(thing["metadata"])]


def test_while_books_are_restored_nobody_else_opens_them() -> None:
    things = rendered("restore")
    assert [thing["metadata"]["name"] for thing in things if pod_of(thing)] == [one(things, "Job")["metadata"]["name"]]
    other = rendered("restore", "--set", "backup.restore=another.tar")
    assert one(other, "Job")["metadata"]["name"] != one(things, "Job")["metadata"]["name"]


@dataclass(frozen=True)
class Cluster:
    """One place of volumes, whatever is rendered."""

    folder: Path
    beside: tuple[Path, ...] = ()

    def kubelet(self, things: tuple[Thing, ...]) -> Kubelet:
        return Kubelet(self.folder, configs(things), SECRETS, self.beside)

    def backup(self, things: tuple[Thing, ...], pod: Thing) -> Path:
        """Runs it, and returns the file that it says it made."""
        code, said = self.kubelet(things).run(pod)
        assert code == 0, said
        (line,) = (line for line in said.splitlines() if line.startswith("Copied the books to /backup/"))
        return self.folder / CLAIM / Path(line.removesuffix(".")).name

    def restore(self, things: tuple[Thing, ...]) -> list[tuple[int, str]]:
        """Each container of the Job, in the order of a kubelet, up to the first that fails."""
        pod = pod_of(one(things, "Job"))
        assert pod is not None
        done: list[tuple[int, str]] = []
        for container in (*pod["spec"]["initContainers"], *pod["spec"]["containers"]):
            done.append(self.kubelet(things).run({**pod, "spec": {**pod["spec"], "containers": [container]}}))
            if done[-1][0]:
                break
        return done

    def figures(self, things: tuple[Thing, ...]) -> Any:
        words = ("apportion", "report", "showback", "--period", "2026-10", "-q", "-o", "json")
        code, said = self.kubelet(things).run(in_cron(things), *words)
        assert code == 0, said
        return json.loads(said)


def before_upgrade(things: tuple[Thing, ...]) -> Thing:
    found = pod_of(one(things, "Job", "-before-upgrade"))
    assert found is not None
    return found


def restoring(file: Path, *more: str) -> tuple[str, ...]:
    return ("--set", f"backup.restore={file.name}", "--set", "server.enabled=false,sync.enabled=false", *more)


def kept(cluster: Cluster) -> set[Path]:
    return set((cluster.folder / CLAIM).iterdir())


@pytest.fixture
def on_postgresql(tmp_path: Path) -> Iterator[tuple[Cluster, tuple[str, ...], tuple[str, ...]]]:
    """With what says where the books are, and where empty ones can be."""
    if reason := postgres.cannot_start():
        pytest.skip(reason)
    with postgres.server() as socket, s3_server() as store:
        socket.chmod(0o755)  # the pod's user is not the server's

        def place(name: str) -> tuple[str, ...]:
            url = postgres.new_database(socket, name)
            values = {"postgresql.url": url, "warehouse.endpoint": store.url, "warehouse.url": f"s3://bills/{name}"}
            return tuple(word for key, value in values.items() for word in ("--set", f"books.{key}={value}"))

        yield Cluster(tmp_path, (socket,)), place("costs"), place("empty")


@pytest.mark.usefixtures("_pods_can_be")
def test_copies_on_postgresql_and_an_object_store_are_made_kept_and_restored(
    on_postgresql: tuple[Cluster, tuple[str, ...], tuple[str, ...]],
) -> None:
    cluster, here, empty = on_postgresql
    things = rendered("postgresql", *here, *sources())
    pod = in_cron(things, "-backup")
    code, said = cluster.kubelet(things).run(pod)
    assert (code, "error[no-books]" in said) == (1, True), (
        said
    )  # it makes none: copies of wrong books would push out good ones
    assert writable(cluster.kubelet(things), pod) == {"/project", "/tmp", "/backup"}
    assert kept(cluster) == set()
    go_round(cluster.kubelet(things), things)
    first, second = cluster.backup(things, pod), cluster.backup(things, before_upgrade(things))
    third = cluster.backup(things, pod)
    assert kept(cluster) == {second, third} != {first, second}
    figures = cluster.figures(things)
    assert figures["bill"] != "0"
    again = rendered("postgresql", *empty, *restoring(third))
    (code, told), (sound, found) = cluster.restore(again)
    assert (code, sound) == (0, 0), told + found
    assert "The books are whole." in found
    assert figures["head"] in told
    assert figures["head"] in found
    assert cluster.figures(rendered("postgresql", *empty, *sources())) == figures
    ((code, told),) = cluster.restore(again)
    assert (code, "error[books-exist]" in told) == (1, True), told


@pytest.mark.usefixtures("_pods_can_be")
def test_copies_of_a_volume_are_restored_to_another_and_a_spoiled_one_is_not(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    things = rendered("copies", *sources())
    go_round(cluster.kubelet(things), things)
    file = cluster.backup(things, in_cron(things, "-backup"))
    figures = cluster.figures(things)
    whole = file.read_bytes()
    again = rendered("copies", *restoring(file, "--set", "books.volume.existingClaim=new-books"))
    file.write_bytes(whole[: len(whole) // 2])
    ((code, told),) = cluster.restore(again)
    assert (code, "error[damaged-backup]" in told) == (1, True), told
    file.write_bytes(whole)
    assert [code for code, _ in cluster.restore(again)] == [0, 0]
    assert (tmp_path / "claim-new-books/.apportion/books.db").exists()
    volume = ("--set", "books.volume.existingClaim=new-books")
    assert cluster.figures(rendered("copies", *volume, *sources())) == figures


@pytest.mark.usefixtures("_pods_can_be")
def test_the_copy_before_an_upgrade_is_of_the_schema_that_the_version_before_can_restore(tmp_path: Path) -> None:
    """The hook runs the new image on the books of the version before."""
    number = max(int(folder.name) for folder in versions.VERSIONS.iterdir()) - 1
    cluster, things = Cluster(tmp_path), rendered("copies")
    books = tmp_path / "claim-prod-apportion/.apportion"
    books.mkdir(parents=True)
    original = versions.VERSIONS / str(number) / "books.tar.gz"
    versions.make_books(f"sqlite:///{books}/books.db", books / "warehouse", number, original)
    for path in (books, *books.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    file = cluster.backup(things, before_upgrade(things))
    assert versions.members(file) == versions.members(original)
