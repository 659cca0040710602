"""Devices that pods hold through ResourceClaims (DRA), which no request and no metric of the pod names.

The claim that the scheduler makes for a plain `nvidia.com/gpu` (`POD-extended-resources-*`) says again what the request says: pods do not
name it among their claims, so it is not counted.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.gpus import Board, share_of
from apportion.sources.kubernetes.lives import Pod
from apportion.sources.kubernetes.objects import CLAIM, SLICE, Moment, Object, get, listed, table
from apportion.sources.kubernetes.quantities import quantity
from apportion.sources.kubernetes.settings import How

Device = tuple[str, str, str]  # driver, pool, name
Held = Mapping[str, Fraction]  # by meter


def claims_of(pod: Pod) -> list[str]:
    """Names of the claims in the pod's namespace; of one made from a template only the status knows the name."""
    made = {
        each.get("name"): each.get("resourceClaimName") for each in listed(pod.found, "status", "resourceClaimStatuses")
    }
    asked = listed(pod.found, "spec", "resourceClaims")
    names = [each.get("resourceClaimName") or made.get(each.get("name")) for each in asked]
    return sorted({str(name) for name in names if name})


def devices_of(moment: Moment) -> dict[Device, Object]:
    """What drivers offer, by the newest generation of each pool."""
    newest: dict[tuple[str, str], int] = {}
    for each in moment.all(SLICE):
        pool = pool_of(each)
        newest[pool] = max(newest.get(pool, 0), generation(each))
    return {
        (*pool_of(each), str(device.get("name"))): device.get("basic") or device  # `basic` up to v1beta1
        for each in moment.all(SLICE)
        if generation(each) == newest[pool_of(each)]
        for device in listed(each, "spec", "devices")
    }


def pool_of(found: Object) -> tuple[str, str]:
    return str(get(found, "spec", "driver")), str(get(found, "spec", "pool", "name"))


def generation(found: Object) -> int:
    told = get(found, "spec", "pool", "generation")
    return told if isinstance(told, int) else 0


def attribute(device: Object, name: str) -> str:
    """Attributes are typed: `{"string": "mig"}`; a name may carry its driver before a slash."""
    for key, value in table(device, "attributes").items():
        if key.rpartition("/")[2] == name and isinstance(value, Mapping):
            return str(next(iter(value.values()), ""))
    return ""


def share(result: Mapping[str, Any], device: Object | None, board: Board) -> Fraction:
    """What an allocation takes of one device: all of it, the slices of its MIG profile, or the capacity that a share consumes."""
    name = f"{result.get('driver')}/{result.get('pool')}/{result.get('device')}"
    if device is None:
        raise InputError("unknown-share", f"no ResourceSlice has the device {name}")
    profile = attribute(device, "profile") if attribute(device, "type") == "mig" else ""
    whole = share_of(f"mig-{profile}", board) if profile else Fraction(1)
    if not result.get("shareID"):
        return whole
    consumed = table(result, "consumedCapacity")
    offered = table(device, "capacity")
    parts = [
        quantity(amount) / quantity(get(offered, key, "value"))
        for key, amount in consumed.items()
        if get(offered, key, "value") is not None and quantity(get(offered, key, "value")) > 0
    ]
    if not parts:
        raise InputError("unknown-share", f"the share of {name} does not say which capacity it consumes")
    return whole * max(parts)


def allocated(claim: Object, devices: Mapping[Device, Object], how: How) -> dict[str, Fraction]:
    """Devices of a claim by meter. Access for administrators takes nothing from anybody."""
    total: dict[str, Fraction] = {}
    for result in listed(claim, "status", "allocation", "devices", "results"):
        meter = how.drivers.get(str(result.get("driver")))
        if meter is None or result.get("adminAccess"):
            continue
        device = devices.get((str(result.get("driver")), str(result.get("pool")), str(result.get("device"))))
        total[meter] = total.get(meter, Fraction(0)) + share(result, device, how.board)
    return total


def claimed(
    pods: Iterable[Pod], moment: Moment, how: How, problems: list[Problem]
) -> dict[tuple[str, str], tuple[Held, list[Pod]]]:
    """What each claim holds, and the pods that it holds it for."""
    users: dict[tuple[str, str], list[Pod]] = {}
    for pod in pods:
        for name in claims_of(pod):
            users.setdefault((pod.namespace, name), []).append(pod)
    devices = devices_of(moment)
    found: dict[tuple[str, str], tuple[Held, list[Pod]]] = {}
    for (namespace, name), holders in sorted(users.items()):
        claim = moment.named(CLAIM, name, namespace)
        where = f"claim {namespace}/{name}"
        if claim is None or get(claim, "status", "allocation") is None:
            if any(pod.start_s < pod.end_s for pod in holders):
                problems.append(
                    Problem(
                        where,
                        "missing-claim",
                        f"the claim of {holders[0].place} is gone or not allocated; its devices are not counted",
                    )
                )
            continue
        try:
            found[namespace, name] = allocated(claim, devices, how), reserved_for(claim, holders)
        except InputError as error:
            problems.append(Problem(where, error.code, error.message))
    return found


def reserved_for(claim: Object, holders: list[Pod]) -> list[Pod]:
    """Those that the claim is reserved for, and those that are over: a reservation ends with its pod."""
    reserved = {
        str(each.get("uid")) for each in listed(claim, "status", "reservedFor") if each.get("resource") == "pods"
    }
    return [pod for pod in holders if pod.uid in reserved or pod.outcome != "running"] or holders


def boards_by_node(moment: Moment, how: How) -> dict[str, dict[str, int]]:
    """Devices that drivers offer on each node, by meter. A MIG slice belongs to its board, so that a board is one, however it may be cut."""
    node_of = {pool_of(each): get(each, "spec", "nodeName") for each in moment.all(SLICE)}
    boards: dict[str, dict[str, set[str]]] = {}
    for (driver, pool, name), device in devices_of(moment).items():
        node = node_of[driver, pool]
        if node and driver in how.drivers:
            own = attribute(device, "parentUUID") or attribute(device, "uuid") or f"{pool}/{name}"
            boards.setdefault(str(node), {}).setdefault(how.drivers[driver], set()).add(own)
    return {node: {meter: len(found) for meter, found in meters.items()} for node, meters in boards.items()}
