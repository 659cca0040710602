"""What a pod asks for, by Kubernetes' own rule (k8s.io/component-helpers, `PodRequests`).

Containers add up, sidecars (init containers that always restart) with them; an init container runs beside the sidecars that started
before it, so the pod needs the largest of those moments. What is said for the pod as a whole counts instead, and overhead is added.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from apportion.sources.kubernetes.objects import get, listed, table
from apportion.sources.kubernetes.quantities import quantity

Amounts = Mapping[str, Fraction]
POD_LEVEL = ("cpu", "memory", "hugepages-")


def pod_requests(spec: Mapping[str, Any]) -> dict[str, Fraction]:
    """By the name of the resource."""
    total = added(*(asked(container) for container in listed(spec, "containers")))
    sidecars: Amounts = {}
    largest: Amounts = {}
    for container in listed(spec, "initContainers"):
        if container.get("restartPolicy") == "Always":
            sidecars = added(sidecars, asked(container))
            largest = larger(largest, sidecars)
        else:
            largest = larger(largest, added(sidecars, asked(container)))
    whole = larger(added(total, sidecars), largest)
    stated = quantities(get(spec, "resources", "requests"))
    whole |= {name: amount for name, amount in stated.items() if name.startswith(POD_LEVEL)}
    return added(whole, quantities(spec.get("overhead")))


def asked(container: Mapping[str, Any]) -> dict[str, Fraction]:
    """Requests; a limit stands in where there is none, as the API server itself fills it in."""
    return quantities({**table(container, "resources", "limits"), **table(container, "resources", "requests")})


def quantities(found: object) -> dict[str, Fraction]:
    return {name: quantity(get(found, name)) for name in table(found)}


def added(*parts: Amounts) -> dict[str, Fraction]:
    total: Counter[str] = Counter()
    for part in parts:
        for name, amount in part.items():
            total[name] += amount  # type: ignore[assignment]  # a Counter adds whatever adds
    return {name: Fraction(amount) for name, amount in total.items()}


def larger(one: Amounts, other: Amounts) -> dict[str, Fraction]:
    return {name: max(one.get(name, Fraction(0)), other.get(name, Fraction(0))) for name in {*one, *other}}
