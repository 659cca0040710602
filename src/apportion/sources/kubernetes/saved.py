"""Objects that were saved: `kubectl get pods,nodes,namespaces,jobs -A -o json > cluster.json`."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.times import parse_instant
from apportion.sources.files.paths import InputFile
from apportion.sources.files.stream import Stream, corrupt
from apportion.sources.kubernetes.objects import BY_KEY, Moment, Object, get, group_of, meta, slim

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z", re.ASCII)
PLANNED = ("renewTime", "notAfter")  # nothing that is still to come


def read_saved(files: Sequence[InputFile], as_of_s: int | None) -> tuple[Moment, tuple[FileDigest, ...]]:
    """All files are one moment: `as_of`, else the newest time that an object names. An object in two files is the later file's."""
    found: dict[tuple[str, str], dict[str, Object]] = {}
    digests = []
    newest = 0
    for file in files:
        with Stream(file) as stream:
            items = list(objects(parsed(stream, file), file))
            digests.append(FileDigest(file.name, stream.sha256, len(items), "0"))
        for each in items:
            newest = max(newest, *times(each), 0)
            key = (group_of(each), str(each.get("kind")))
            if key in BY_KEY:
                found.setdefault(key, {})[identity(each)] = slim(each)
    at_s = as_of_s if as_of_s is not None else newest
    if not at_s:
        raise InputError(
            "no-rows",
            "the files hold no object of a cluster",
            where=files[0].name,
            hint="save them with kubectl get ... -o json",
        )
    return Moment(at_s, {key: list(each.values()) for key, each in found.items()}), tuple(digests)


def identity(found: Object) -> str:
    return str(meta(found, "uid") or f"{meta(found, 'namespace')}/{meta(found, 'name')}")


def parsed(stream: Stream, file: InputFile) -> Any:
    try:
        return json.loads(stream.read_all().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise corrupt(file, f"it is no JSON ({str(error)[:120]})") from error


def objects(found: Any, file: InputFile) -> Iterator[Object]:
    """The items of a List, of a PodList and its like, or the one object itself."""
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        raise corrupt(file, "it is no object of Kubernetes")
    if not isinstance(found.get("items"), list):
        yield found
        return
    kind = found["kind"].removesuffix("List")
    for each in found["items"]:
        if not isinstance(each, dict):
            raise corrupt(file, "its items are no objects")
        yield {"apiVersion": found.get("apiVersion"), "kind": kind, **each} if kind else each


def times(found: Object) -> Iterator[int]:
    """Times that were written down when something happened: creation, changes, heartbeats."""
    heads = (meta(found, "managedFields"), meta(found, "creationTimestamp"), get(found, "status"))
    text = json.dumps(heads)
    for planned in PLANNED:
        text = re.sub(rf'"{planned}": *"[^"]*"', "", text)
    for match in TIME.findall(text):
        try:
            yield parse_instant(match)
        except InputError:
            continue
