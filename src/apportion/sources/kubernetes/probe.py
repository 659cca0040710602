"""Looking whether a cluster could be asked, before it is."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError
from apportion.model.times import instant_text
from apportion.sources.files.paths import input_files
from apportion.sources.kubernetes.api import Api, DeniedError, MissingError
from apportion.sources.kubernetes.ask import FORMATS, server_time, version, wanted
from apportion.sources.kubernetes.delivery import SKEW_S
from apportion.sources.kubernetes.objects import KUEUE, POD, Kind
from apportion.sources.kubernetes.rbac import rule_for
from apportion.sources.kubernetes.saved import read_saved
from apportion.sources.kubernetes.settings import SETTINGS, How, how_of
from apportion.sources.live import Sign
from apportion.sources.settings import Stanza, stanza


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether it answers, to whom, what it may not show, which kinds it has, and whether its clock is ours."""
    found = stanza(settings, SETTINGS)
    try:
        how = how_of(found)
        if "path" in settings:
            yield from probe_files(found, base, how)
            return
        with Api.of(found, base) as api:
            yield from probe_api(api, how)
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint)


def probe_files(found: Stanza, base: Path, how: How) -> Iterator[Sign]:
    moment, digests = read_saved(input_files(found.text("path"), base, FORMATS, found.where), how.as_of_s)
    yield Sign(
        "ok", f"{sum(each.rows for each in digests)} objects in {len(digests)} files, as of {instant_text(moment.at_s)}"
    )
    if not moment.all(POD):
        yield Sign(
            "wrong", "there are no pods among them", "kubectl get pods,namespaces,nodes -A -o json > cluster.json"
        )


def probe_api(api: Api, how: How) -> Iterator[Sign]:
    yield Sign("ok", f"Kubernetes {version(api)} answers at {api.host}")
    skew = server_time(api) - int(time.time())
    if abs(skew) > SKEW_S:
        yield Sign(
            "wrong",
            f"its clock is {abs(skew)} s {'ahead of' if skew > 0 else 'behind'} this machine's",
            "timedatectl set-ntp true",
        )
    yield from who(api)
    kinds = [kind for kind in wanted(how) if api.served(kind)]
    hidden = [kind for kind in kinds if not may_list(api, kind)]
    needed = [kind for kind in hidden if kind in how.needed()]
    if needed:
        yield Sign(
            "wrong", f"it may not list {', '.join(map(str, needed))}", f"add to its ClusterRole: {rule_for(needed)}"
        )
    if others := [kind for kind in hidden if kind not in needed]:
        yield Sign(
            "note",
            f"owners stay unknown where it may not list {', '.join(map(str, others))}",
            f"add to its ClusterRole: {rule_for(others)}",
        )
    if not hidden:
        yield Sign("ok", f"it may list all {len(kinds)} kinds that are read")
    extra = sorted({kind.group for kind in kinds if "." in kind.group})
    yield Sign("note", f"extensions found: {', '.join(extra) or 'none'}")
    if "kueue" in how.reservations and KUEUE not in extra:
        yield Sign("note", "Kueue is not installed, so there are no reservations", 'set reservations = ["quota"] or []')


def who(api: Api) -> Iterator[Sign]:
    document = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        review = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", document)
    except (DeniedError, MissingError):
        return  # before Kubernetes 1.28
    yield Sign("ok", f"it knows this user as {review['status']['userInfo'].get('username')}")


def may_list(api: Api, kind: Kind) -> bool:
    attributes = {"group": kind.group, "resource": kind.plural, "verb": "list"}
    document = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    try:
        review = api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", document)
    except (DeniedError, MissingError):
        return True  # who may not ask learns it when reading
    return bool(review["status"].get("allowed"))
