"""Their money as cost lines. It is taken from what is paid for (assets), never from how they split it among pods.

Their split does not add up to the assets (see `doubts`). What has no asset, the traffic of pods, is a line for each namespace.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

import pyarrow as pa

from apportion.model.delivery import Scope
from apportion.model.money import DIGITS, PLACES, plain, total_of
from apportion.model.rows import COST_LINES
from apportion.sources.opencost.day import FLAVOURS, Day, Reading
from apportion.sources.opencost.rows import Asset, CloudCost
from apportion.sources.opencost.supply import labels

SERVICES = {  # by type of asset: component, FOCUS ServiceCategory
    "Node": ("compute", "Compute"),
    "Disk": ("storage", "Storage"),
    "LoadBalancer": ("network", "Networking"),
    "Network": ("network", "Networking"),
    "ClusterManagement": ("support", "Management and Governance"),
}
CATEGORIES = {  # /cloudCost: category to component, FOCUS ServiceCategory
    "compute": ("compute", "Compute"),
    "storage": ("storage", "Storage"),
    "network": ("network", "Networking"),
    "management": ("support", "Management and Governance"),
}
OTHER = ("other", "Other")
SMALLEST = Decimal(1).scaleb(-PLACES)


def cost_lines(day: Day, reading: Reading) -> pa.Table:
    own = clouds(day.cloud) if reading.report == "cloudCost" else (*assets(day.assets), *traffic(day))
    issuer = reading.issuer or ("" if reading.report == "cloudCost" else FLAVOURS[reading.flavour or "opencost"])
    common = {
        "source": reading.source,
        "billing_start_s": day.window.start_s,  # they know no invoice: a day is billed by itself
        "billing_end_s": day.window.end_s,
        "BillingCurrency": reading.currency,
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
    }
    rows = []
    for line in own:
        said = {name: cell for name, cell in line.items() if cell not in ("", None)}  # an empty text is no text
        said["line_id"] = line_id(reading.source, line["charge_start_s"], said.pop("key"))
        said["InvoiceIssuerName"] = issuer or said.get("ServiceProviderName")
        rows.append(
            {"BillingAccountId": reading.account or None, **common, **said, "Tags": sorted(line["Tags"].items())}
        )
    return pa.Table.from_pylist(rows, COST_LINES)


def line_id(source: str, start_s: int, key: str) -> str:
    return hashlib.sha256(f"{source}\0{start_s}\0{key}".encode()).hexdigest()[:32]


def assets(found: Iterable[Asset]) -> Iterator[dict[str, Any]]:
    for asset in found:
        component, category = SERVICES.get(asset.type, OTHER)
        kind = asset.words.get("nodeType") or asset.words.get("storageClass") or asset.type
        adjustment = asset.number("adjustment")
        yield {
            "key": asset.key,
            "charge_start_s": asset.run.start_s,
            "charge_end_s": asset.run.end_s,
            "component": component,
            "EffectiveCost": money(asset.total),
            "ContractedCost": money(asset.total - adjustment),
            "ListCost": money(asset.total - adjustment + asset.discounted),
            "BillingAccountId": asset.words.get("account") or asset.words.get("project", ""),
            "SubAccountId": asset.cluster,
            "ServiceProviderName": asset.words.get("provider", ""),
            "ServiceCategory": category,
            "ServiceName": asset.words.get("service") or asset.type,
            "ChargeDescription": f"{asset.type} {asset.name} ({kind})",
            "SkuId": kind,
            "PricingCategory": "Dynamic" if asset.number("preemptible") else "Standard",
            "ResourceId": asset.words.get("providerID") or asset.name,
            "ResourceName": asset.name,
            "ResourceType": asset.type,
            "Tags": labels(asset),
        }


def traffic(day: Day) -> Iterator[dict[str, Any]]:
    """Network cost of pods, by namespace, in clusters whose traffic is no asset of its own."""
    known = {asset.cluster for asset in day.assets if asset.type == "Network"}
    sums: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for row in day.allocations:
        if row.cluster not in known and row.costs["network"]:
            sums[row.cluster, row.namespace].append(row.costs["network"])
    for (cluster, namespace), costs in sorted(sums.items()):
        yield {
            "key": f"network/{cluster}/{namespace}",
            "charge_start_s": day.window.start_s,
            "charge_end_s": day.window.end_s,
            "component": "network",
            "EffectiveCost": money(total_of(costs)),
            "ContractedCost": money(total_of(costs)),
            "ListCost": money(total_of(costs)),
            "SubAccountId": cluster,
            "ServiceProviderName": "",
            "ServiceCategory": "Networking",
            "ServiceName": "Kubernetes",
            "ChargeDescription": f"traffic of {namespace or 'no namespace'} in {cluster}",
            "ResourceType": "Network",
            "Tags": {"k8s.cluster": cluster, **({"k8s.namespace": namespace} if namespace else {})},
        }


def clouds(found: Iterable[CloudCost]) -> Iterator[dict[str, Any]]:
    for row in found:
        component, category = CATEGORIES.get(row.words.get("category", "").casefold(), OTHER)
        share = {} if row.kubernetes is None else {"kubernetes_share": plain(row.kubernetes)}
        yield {
            "key": row.key,
            "charge_start_s": row.window.start_s,
            "charge_end_s": row.window.end_s,
            "component": component,
            "BilledCost": optional(row.costs.get("invoicedCost")),
            "EffectiveCost": optional(row.costs.get("amortizedNetCost")),
            "ContractedCost": optional(row.costs.get("netCost")),
            "ListCost": optional(row.costs.get("listCost")),
            "BillingAccountId": row.words.get("invoiceEntityID") or row.words.get("accountID", ""),
            "SubAccountId": row.words.get("accountID", ""),
            "SubAccountName": row.words.get("accountName", ""),
            "ServiceProviderName": row.words.get("provider", ""),
            "ServiceCategory": category,
            "ServiceName": row.words.get("service", ""),
            "RegionId": row.words.get("regionID", ""),
            "AvailabilityZone": row.words.get("availabilityZone", ""),
            "ResourceId": row.words.get("providerID", ""),
            "Tags": {**row.labels, **share},
        }


def optional(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else money(amount)


def money(amount: Decimal) -> Decimal:
    """At 18 places; theirs have five."""
    with localcontext() as context:
        context.prec = DIGITS
        return amount.quantize(SMALLEST, ROUND_HALF_EVEN)


def scopes(lines: pa.Table, day: Day, reading: Reading) -> tuple[Scope, ...]:
    """What they speak for, one for each issuer: the accounts that are named, or all of them where none is."""
    pairs = set(zip(lines["InvoiceIssuerName"].to_pylist(), lines["BillingAccountId"].to_pylist(), strict=True))
    issuers = {issuer or "" for issuer, _ in pairs} or {reading.issuer or FLAVOURS[reading.flavour or "opencost"]}
    found = []
    for issuer in sorted(issuers):
        accounts = tuple(sorted({account for name, account in pairs if account and (name or "") == issuer}))
        found.append(Scope(issuer, accounts, (), (day.window,), role=reading.role))
    return tuple(found)
