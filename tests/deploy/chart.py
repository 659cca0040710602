"""The chart as Helm renders it: objects, and the pods among them."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests import processes

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/apportion"
HELM = str(Path(sys.executable).parent / "helm")
POLICY = ROOT / "examples/two-teams/policy.yaml"
VALUES = {path.stem: path for path in sorted((Path(__file__).parent / "values").glob("*.yaml"))}

Thing = Mapping[str, Any]


def helm(*words: str) -> processes.CompletedProcess[str]:
    return processes.run([HELM, *words], text=True)


def asked(values: str, *more: str) -> tuple[str, ...]:
    return ("--namespace", "costs", "--values", str(VALUES[values]), "--set-file", f"policy={POLICY}", *more)


@cache
def rendered(values: str, *more: str) -> tuple[Thing, ...]:
    done = helm("template", "prod", str(CHART), *asked(values, *more))
    assert done.returncode == 0, done.stderr
    return tuple(read_all(done.stdout))


def read_all(text: str) -> Iterator[Thing]:
    yield from (found for found in YAML(typ="safe").load_all(text) if found)


def one(things: Sequence[Thing], kind: str, ending: str = "") -> Thing:
    found = [thing for thing in things if thing["kind"] == kind and thing["metadata"]["name"].endswith(ending)]
    assert len(found) == 1, [thing["metadata"]["name"] for thing in found]
    return found[0]


def pod_of(thing: Thing) -> Thing | None:
    """The pod that an object is or makes: its metadata and spec."""
    spec = thing.get("spec", {})
    match thing["kind"]:
        case "Pod":
            return thing
        case "CronJob":
            made: Thing = spec["jobTemplate"]["spec"]["template"]
        case "Deployment" | "DaemonSet" | "Job":
            made = spec["template"]
        case _:
            return None
    return made


def pods(things: Sequence[Thing]) -> list[Thing]:
    return [pod for thing in things if (pod := pod_of(thing))]
