"""What a kubelet does with a pod's container, without one: volumes where the manifest mounts them, the root file system read-only, the user that
it names, the environment with the Secrets that it refers to, and the image's own settings from the Dockerfile.

The image's file system is this machine's programs and this environment. Names and network are this machine's, too.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests import processes
from tests.deploy.chart import ROOT, Thing
from tests.deploy.dockerfile import instructions

SYSTEM = ("bin", "etc", "lib", "lib32", "lib64", "sbin", "usr")
PROGRAMS = (ROOT, Path(sys.prefix), Path(sys.base_prefix))


def why_not() -> str:
    """Why there can be no pod here; empty where there can."""
    if os.geteuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
        return "no mount namespaces: only root may make them, with util-linux"
    if not all(place.stat().st_mode & 0o005 == 0o005 for place in PROGRAMS):
        return "no mount namespaces: the pods' user may not read this environment"
    done = processes.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
    return "no mount namespaces: they are forbidden here" if done.returncode else ""


@dataclass(frozen=True)
class Kubelet:
    """Volumes lie in `folder`; `configs` and `secrets` hold texts by object and key; `beside` is visible to pods, too."""

    folder: Path
    configs: Mapping[str, Mapping[str, str]]
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()

    def start(self, pod: Thing, *instead: str) -> processes.Process[str]:
        """The pod's only container, or another command in its place."""
        (container,) = pod["spec"]["containers"]
        root = self.folder / "root"
        root.mkdir(exist_ok=True)
        lines = ["set -e", f"mount -t tmpfs none {root}", *self.system(root)]
        lines += [line for mount in container["volumeMounts"] for line in self.mounted(root, pod, mount)]
        who = pod["spec"]["securityContext"]
        words = [*("env", "-i", *(f"{name}={value}" for name, value in self.environment(container).items()))]
        words += instead or (*container.get("command", image().entrypoint), *container.get("args", ()))
        inside = f"cd {container.get('workingDir', '/')} && exec {shlex.join(words)}"
        as_user = f"setpriv --reuid={who['runAsUser']} --regid={who['runAsGroup']} --groups={who['fsGroup']} --bounding-set=-all --no-new-privs"
        lines += [f"mount -o remount,ro {root}", f"exec chroot {root} {as_user} sh -c {shlex.quote(inside)}"]
        return processes.Process(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines)],
            stdout=processes.PIPE,
            stderr=processes.STDOUT,
            stdin=processes.DEVNULL,
            text=True,
        )

    def run(self, pod: Thing, *instead: str) -> tuple[int, str]:
        process = self.start(pod, *instead)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def system(self, root: Path) -> Iterator[str]:
        """Links stay links: where /bin is one, it leads to what is mounted."""
        for name in SYSTEM:
            if (place := Path("/", name)).is_symlink():
                yield f"ln -s {place.readlink()} {root}/{name}"
            elif place.exists():
                yield bound(place, root / name)
        yield f"mkdir {root}/proc {root}/dev && mount --rbind /proc {root}/proc && mount --rbind /dev {root}/dev"
        for place in dict.fromkeys((*PROGRAMS, *self.beside)):
            yield bound(place, root / str(place).lstrip("/"))

    def mounted(self, root: Path, pod: Thing, mount: Thing) -> Iterator[str]:
        volume = next(one for one in pod["spec"]["volumes"] if one["name"] == mount["name"])
        source, is_read_only = self.source(pod, volume), bool(mount.get("readOnly"))
        target = root / mount["mountPath"].lstrip("/")
        if "subPath" in mount:
            yield f"touch {target}"  # as the container's runtime does, in the volume below
            source = source / mount["subPath"]
        else:
            yield f"mkdir -p {target}"
        yield f"mount --bind {source} {target}"
        if is_read_only:
            yield f"mount -o remount,bind,ro {target}"
        if mount["mountPath"] == "/tmp":  # where this environment lies below it, the volume hides it
            yield from (
                bound(place, root / str(place).lstrip("/"))
                for place in dict.fromkeys((*PROGRAMS, *self.beside))
                if place.is_relative_to("/tmp")
            )

    def source(self, pod: Thing, volume: Thing) -> Path:
        group = pod["spec"]["securityContext"]["fsGroup"]
        match volume:
            case {"hostPath": {"path": path}}:
                return Path(path)
            case {"configMap": {"name": name}}:
                return self.files(volume["name"], self.configs[name], 0o644, group)
            case {"secret": {"secretName": name}}:
                items = volume["secret"].get("items")
                texts = (
                    {item["path"]: self.secrets[name][item["key"]] for item in items} if items else self.secrets[name]
                )
                return self.files(volume["name"], texts, volume["secret"]["defaultMode"], group)
        kept = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        place = self.folder / (f"claim-{kept}" if kept else f"empty-{volume['name']}")
        place.mkdir(exist_ok=True)
        os.chown(place, 0, group)
        place.chmod(0o2775)
        return place

    def files(self, name: str, texts: Mapping[str, str], mode: int, group: int) -> Path:
        place = self.folder / f"files-{name}"
        place.mkdir(exist_ok=True)
        for key, text in texts.items():
            (place / key).write_text(text, "utf-8")
            os.chown(place / key, 0, group)
            (place / key).chmod(mode)
        return place

    def environment(self, container: Thing) -> dict[str, str]:
        found = dict(image().environment)
        for variable in container["env"]:
            where = variable.get("valueFrom", {}).get("secretKeyRef")
            found[variable["name"]] = self.secrets[where["name"]][where["key"]] if where else variable["value"]
        return found


def bound(place: Path, target: Path) -> str:
    return f"mkdir -p {target} && mount --bind {place} {target} && mount -o remount,bind,ro {target}"


@dataclass(frozen=True)
class Image:
    entrypoint: tuple[str, ...]
    environment: Mapping[str, str]


def image() -> Image:
    """What the Dockerfile says of the image; its programs are this environment's."""
    found = dict(instructions((ROOT / "Dockerfile").read_text("utf-8")))
    pairs = dict(re.findall(r"(\w+)=(\S+)", found["ENV"]))
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return Image(tuple(re.findall(r'"([^"]*)"', found["ENTRYPOINT"])), {**pairs, "PATH": path})
