"""Pods of a rendered chart on the example's project: its sources, its Secrets, and what the container may write to."""

import json
import sys

from tests.deploy.chart import ROOT, Thing, one, pod_of
from tests.deploy.pod import Kubelet

EXAMPLE = ROOT / "examples/two-teams"
SECRETS = {
    "apportion-db": {"password": "not asked for on a socket"},
    "apportion-store": {"AWS_ACCESS_KEY_ID": "AKIDSTORES", "AWS_SECRET_ACCESS_KEY": "s3-very-secret"},
    "apportion-certificates": {"ca.crt": "not asked for on a socket"},
    "apportion-names": {"names.key": "a" * 64},
}


def sources() -> list[str]:
    """The example's own, read from where a volume brings them, and a round that posts."""
    text = (EXAMPLE / "apportion.toml").read_text("utf-8").partition("\n\n")[2]
    text += "\n[sync]\napply = true\n"
    mounts = {name: f"/project/{name}" for name in ("bills", "usage")}
    volumes = [{"name": name, "hostPath": {"path": str(EXAMPLE / name)}} for name in mounts]
    shown = [{"name": name, "mountPath": path, "readOnly": True} for name, path in mounts.items()]
    return ["--set-string", f"settings={text.replace(',', chr(92) + ',')}", "--set-json", f"extraVolumes={json.dumps(volumes)}",
            "--set-json", f"extraVolumeMounts={json.dumps(shown)}"]  # fmt: skip


def configs(things: tuple[Thing, ...]) -> dict[str, dict[str, str]]:
    return {thing["metadata"]["name"]: thing["data"] for thing in things if thing["kind"] == "ConfigMap"}


def in_cron(things: tuple[Thing, ...], ending: str = "-sync") -> Thing:
    found = pod_of(one(things, "CronJob", ending))
    assert found is not None
    return found


def in_server(things: tuple[Thing, ...]) -> Thing:
    found = pod_of(one(things, "Deployment"))
    assert found is not None
    return found


def go_round(kubelet: Kubelet, things: tuple[Thing, ...]) -> None:
    """The CronJob's own command, which posts the month."""
    code, said = kubelet.run(in_cron(things))
    assert code == 0, said
    assert "Unable to resolve region" not in said  # Amazon was asked about somebody else's bucket


def writable(kubelet: Kubelet, pod: Thing) -> set[str]:
    """Folders in which the container can make a file, by trying all that it sees outside /proc and /dev."""
    script = """
import os, pathlib
for folder, below, _ in os.walk("/"):
    below[:] = [name for name in below if not (folder == "/" and name in ("proc", "dev"))]
    if folder.startswith(("/usr/", "/etc/")) and folder.count("/") > 2 or "/site-packages" in folder:
        below[:] = []
    try:
        file = pathlib.Path(folder, ".is-it-writable")
        file.touch()
        file.unlink()
    except OSError:
        continue
    below[:] = []
    print(folder)
"""
    code, said = kubelet.run(pod, sys.executable, "-c", script)
    assert code == 0, said
    return set(said.split())
