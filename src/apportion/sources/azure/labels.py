"""Tags of a row, and what else it says that owners are found by: resource group, cost centre, invoice section, account, virtual machine.

Files of an EA write tags without braces: `"team": "vision","env": "prod"`. What is Azure's own goes under `azure.`, so that it is never
taken for a tag that somebody set: `azure.cost_allocation_rule` marks money that Azure's own rules moved already.
"""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.cells.labels import labels_from_cells, labels_from_columns
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import per_distinct

OWN = {
    "azure.resource_group": "resource_group",
    "azure.cost_center": "cost_center",
    "azure.invoice_section": "section",
    "azure.account": "owner_account",
    "azure.cost_allocation_rule": "rule",
    "azure.vm": "vm",
}
DETAILS = {  # of AdditionalInfo, and what FOCUS calls it in SkuPriceDetails
    "ServiceType": "InstanceType",
    "VCPUs": "CoreCount",
    "GPUs": "GpuCount",
    "GpuCount": "GpuCount",
}


def tags(cells: pa.Array, words: Mapping[str, pa.Array]) -> Parsed:
    """The maps; `bad` are the rows whose tags cannot be read."""
    found = labels_from_cells(per_distinct(cells, braced))
    own = {label: words[ours] for label, ours in OWN.items() if words[ours].null_count < len(cells)}
    return Parsed(labels_from_columns(len(cells), own, found.values), found.bad)


def braced(cells: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(cells)
    whole = pc.if_else(
        pc.starts_with(trimmed, "{"), trimmed, pc.binary_join_element_wise("{", pc.utf8_rtrim(trimmed, ","), "}", "")
    )
    return pc.if_else(pc.equal(trimmed, ""), None, whole)


def details(info: pa.Array) -> tuple[pa.Array, pa.Array]:
    """SkuPriceDetails as JSON text, and the name of the virtual machine: a scale set's row names it here alone."""
    encoded = info.dictionary_encode()
    facts = [read(cell) for cell in encoded.dictionary.to_pylist()]
    skus = [
        {theirs: found[ours] for ours, theirs in DETAILS.items() if isinstance(found.get(ours), str | int)}
        for found in facts
    ]
    texts = [json.dumps(sku, sort_keys=True, ensure_ascii=False) if sku else None for sku in skus]
    names = [name if isinstance(name := found.get("VMName"), str) and name else None for found in facts]
    return pa.array(texts, pa.string()).take(encoded.indices), pa.array(names, pa.string()).take(encoded.indices)


def read(cell: str) -> dict[str, Any]:
    """Nothing where it is no JSON object: no money depends on it."""
    try:
        found = json.loads(cell if cell.lstrip().startswith("{") else f"{{{cell}}}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
