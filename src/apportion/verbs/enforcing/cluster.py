"""A cluster of Kubernetes: how it stands, and the calls that change it. Only here is its API written to."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError
from apportion.sources.files.paths import input_files
from apportion.sources.kubernetes.api import Api, ConflictError, Denied, DeniedError, MissingError
from apportion.sources.kubernetes.ask import FORMATS, denied
from apportion.sources.kubernetes.objects import (
    CLUSTER_QUEUE,
    COHORT,
    FLAVOUR,
    LOCAL_QUEUE,
    NAMESPACE,
    QUOTA,
    Kind,
    Moment,
    meta,
    table,
)
from apportion.sources.kubernetes.quotas import namespace_labels
from apportion.sources.kubernetes.saved import read_saved
from apportion.sources.kubernetes.settings import SETTINGS, How, how_of
from apportion.sources.live import WHEN
from apportion.sources.settings import Stanza, stanza
from apportion.verbs.enforcing.manifests import Change, manifest

SET = (QUOTA, CLUSTER_QUEUE, LOCAL_QUEUE, COHORT)
KINDS = {kind.name: kind for kind in SET}
JSON = "application/json"
Place = tuple[str, str, str]


def read(settings: Mapping[str, Any], base: Path) -> tuple[Moment, How, dict[str, str]]:
    """What is needed of it, from its API or from files saved of it, and the version of each kind that it takes."""
    found = stanza({key: value for key, value in settings.items() if key not in WHEN}, SETTINGS)
    how = how_of(found)
    if "path" in settings:
        moment, _ = read_saved(input_files(found.text("path"), base, FORMATS, found.where), how.as_of_s)
        return moment, how, {}
    with Api.of(found, base) as api:
        return looked(api), how, {kind.name: api.served(kind) or "" for kind in SET}


def looked(api: Api) -> Moment:
    """All of it, or the first failure: nothing is planned on half an answer. A cluster without Kueue has none of its kinds."""
    listed: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for kind in (NAMESPACE, FLAVOUR, *SET):
        answer = api.all(kind)
        if isinstance(answer, Denied):
            raise denied(api, answer)
        listed[kind.key] = answer or []
    return Moment(api.now_s or 0, listed)


def specs_of(moment: Moment) -> dict[Place, Mapping[str, Any]]:
    return {
        (kind.name, str(meta(each, "namespace") or ""), str(meta(each, "name"))): table(each, "spec")
        for kind in SET
        for each in moment.all(kind)
    }


def flavours_of(moment: Moment) -> tuple[str, ...]:
    return tuple(sorted(str(meta(each, "name")) for each in moment.all(FLAVOUR)))


def labels_of(moment: Moment, how: How) -> dict[str, dict[str, str]]:
    """What the owner rules see of each namespace."""
    names = [str(meta(each, "name")) for each in moment.all(NAMESPACE)]
    return {name: {"k8s.cluster": how.cluster, **namespace_labels(name, moment, how)} for name in names}


@contextmanager
def writing(settings: Mapping[str, Any], base: Path) -> Iterator["Writer"]:
    """Files saved of a cluster cannot be written to."""
    found = stanza({key: value for key, value in settings.items() if key not in WHEN}, SETTINGS)
    if "path" in settings:
        raise ProjectError(
            "not-there-to-change",
            "the source reads saved files, and its cluster cannot be reached by it",
            where=found.where,
            hint="apportion enforce --to kubernetes --write FILE, then kubectl apply -f FILE",
        )
    with Api.of(found, base) as api:
        yield Writer(api, found)


class Writer:
    def __init__(self, api: Api, found: Stanza) -> None:
        self.api = api
        self.found = found

    def carry_out(self, change: Change) -> None:
        """What is written is what was read but for the keys of the plan; another's change in between is refused by the server."""
        kind = KINDS[change.kind]
        version = self.api.served(kind)
        if version is None:
            raise self.api.told(
                "bad-response", f"{self.api.host} has no {kind}", "install Kueue, or use enforce: kubernetes"
            )
        many = collection(kind, version, change.namespace)
        try:
            self.written(change, many, version)
        except DeniedError as error:
            hint = f"its ClusterRole needs get, create, update and delete of {kind}"
            raise self.api.told("not-permitted", f"{self.api.host}: {error}", hint) from error
        except (ConflictError, MissingError) as error:
            raise self.api.told(
                "plan-outdated", f"{change.kind} {change.name} was changed meanwhile: {error}", "make a new plan"
            ) from error

    def written(self, change: Change, many: str, version: str) -> None:
        one = f"{many}/{change.name}"
        if change.after is None:
            self.api.ask("DELETE", one, JSON)
        elif change.before is None:
            self.api.post(many, manifest(change, version))
        else:
            there = self.api.get(one)
            spec = {**table(there, "spec"), **change.after}
            spec = {key: value for key, value in spec.items() if value is not None}
            self.api.ask("PUT", one, JSON, {**there, "spec": spec})


def collection(kind: Kind, version: str, namespace: str) -> str:
    head, _, plural = kind.path(version).rpartition("/")
    return f"{head}/namespaces/{namespace}/{plural}" if namespace else f"{head}/{plural}"


def listing(changes: Sequence[Change], kueue: str) -> dict[str, Any]:
    """For `kubectl apply -f`: whole objects. What is to be removed is not in it."""
    items = [manifest(one, kueue) for one in changes if one.after is not None]
    return {"apiVersion": "v1", "kind": "List", "items": items}
