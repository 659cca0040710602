"""The rendered commands, run as their manifests say: on a read-only root, as the user they name, with the books where the values put them."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.books import postgres
from tests.clouds import s3_server
from tests.deploy.chart import Thing, one, pod_of, rendered
from tests.deploy.pod import Kubelet, why_not
from tests.deploy.running import SECRETS, configs, go_round, in_cron, in_server, sources, writable
from tests.loopback import free_port
from tests.processes import PATIENCE_S


@pytest.fixture(scope="module", autouse=True)
def _pods_can_be() -> None:
    if reason := why_not():
        pytest.skip(reason)


@contextmanager
def serving(kubelet: Kubelet, things: tuple[Thing, ...]) -> Iterator[list[str]]:
    """What the server says, from when it says where it is."""
    process = kubelet.start(in_server(things))
    assert process.stdout is not None
    try:
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Open "):
                break
        assert said, "it said nothing"
        assert said[-1].startswith("Open "), "".join(said)
        yield said
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(PATIENCE_S)


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    cookie: str


def answer(port: int, path: str, **headers: str) -> Answer:
    """As soon as it listens."""
    end = time.monotonic() + PATIENCE_S
    while True:
        link = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        try:
            link.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            found = link.getresponse()
            return Answer(found.status, found.read().decode(), found.headers.get("set-cookie", "").partition(";")[0])
        except ConnectionRefusedError:
            assert time.monotonic() < end, "nobody listens"
        finally:
            link.close()
        time.sleep(0.05)


def test_on_postgresql_and_an_object_store(tmp_path: Path) -> None:
    if reason := postgres.cannot_start():
        pytest.skip(reason)
    port = free_port()
    with postgres.server() as socket, s3_server() as store:
        socket.chmod(0o755)  # the pod's user is not the server's
        url = postgres.new_database(socket, "costs")
        places = ["--set", f"books.postgresql.url={url}", "--set", f"books.warehouse.endpoint={store.url}"]
        things = rendered("postgresql", *places, "--set", f"server.port={port}", *sources())
        kubelet = Kubelet(tmp_path, configs(things), SECRETS, (socket,))
        assert writable(kubelet, in_server(things)) == {"/project", "/tmp"}
        go_round(kubelet, things)
        code, found = kubelet.run(in_cron(things), "apportion", "check")
        assert code == 0, found
        assert not list((tmp_path / "empty-project").glob(".apportion/*.db"))
        assert not (tmp_path / "empty-project/.apportion/warehouse").exists()
        with serving(kubelet, things) as said:
            assert said == ["Open https://costs.example\n"]
            told = {"Host": "costs.example", "X_Forwarded_User": "ann", "X_Forwarded_Groups": "ml-vision"}
            come = answer(port, "/login", **told)
            page = answer(port, "/?period=2026-10", **told, Cookie=come.cookie)
            assert (page.status, "vision" in page.text, "speech" in page.text) == (200, True, False)
            assert answer(port, "/", Host="10.1.2.3").status == 400
            (container,) = in_server(things)["spec"]["containers"]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                get = container[probe]["httpGet"]
                headers = {header["name"]: header["value"] for header in get["httpHeaders"]}
                assert answer(port, get["path"], **headers).status == 200


def test_on_a_volume_for_one_person(tmp_path: Path) -> None:
    port = free_port()
    things = rendered("embedded", "--set", f"server.port={port}", *sources())
    kubelet = Kubelet(tmp_path, configs(things))
    go_round(kubelet, things)
    (claim,) = tmp_path.glob("claim-*")
    assert (claim / ".apportion/books.db").exists()
    with serving(kubelet, things) as said:
        link = re.fullmatch(r"Open http://127\.0\.0\.1:\d+(/login\?\S+)\n", said[-1])
        assert link
        assert answer(port, link[1], Host=f"127.0.0.1:{port}").status in (200, 303)
        (container,) = in_server(things)["spec"]["containers"]
        for probe in ("livenessProbe", "readinessProbe"):
            code, told = kubelet.run(in_server(things), *container[probe]["exec"]["command"])
            assert (code, told) == (0, "")


def test_a_probe_fails_where_nobody_answers(tmp_path: Path) -> None:
    port = free_port()
    things = rendered("embedded", "--set", f"server.port={port}")
    (container,) = in_server(things)["spec"]["containers"]
    code, told = Kubelet(tmp_path, configs(things)).run(
        in_server(things), *container["livenessProbe"]["exec"]["command"]
    )
    assert code != 0
    assert "refused" in told


def test_the_agent_without_a_board_says_so(tmp_path: Path) -> None:
    """Its own command: this machine has no board, so it can say why and no more."""
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool").chmod(0o777)
    things = rendered("agent", "--set", f"agent.spool.hostPath={tmp_path / 'spool'}")
    pod = pod_of(one(things, "DaemonSet"))
    assert pod is not None
    (container,) = pod["spec"]["containers"]
    node = {"name": "NODE", "value": "gpu-1"}  # the kubelet fills in what spec.nodeName is
    words = [word.replace("$(NODE)", "gpu-1") for word in container["args"]]
    named = {**container, "env": [node, *container["env"][1:]], "args": words}
    kubelet = Kubelet(tmp_path, {})
    code, said = kubelet.run({**pod, "spec": {**pod["spec"], "containers": [named]}})
    assert (code, "no-nvml" in said) == (1, True), said
    check = container["livenessProbe"]["exec"]["command"]
    assert kubelet.run({**pod, "spec": {**pod["spec"], "containers": [named]}}, *check)[0] != 0
    (tmp_path / "spool/gpu-1.20261001.1790000000000.jsonl").touch()
    assert kubelet.run({**pod, "spec": {**pod["spec"], "containers": [named]}}, *check) == (0, "")
