"""ServiceCategory by the service's name, and by the SKU's where one service sells machines, disks and traffic."""

import re

import pyarrow as pa
import pyarrow.compute as pc

BETWEEN = "\x1f"
AI, DATA, NET, SAFE, RULE = (
    "AI and Machine Learning", "Databases", "Networking", "Security", "Management and Governance",
)  # fmt: skip
SERVICES = {  # the first word that the service's name contains
    "vertex": AI, "gemini": AI, "generative": AI, "tpu": AI, "speech": AI, "translat": AI, "vision": AI, "dialogflow": AI, "notebook": AI,
    "machine learning": AI, "bigquery": "Analytics", "dataproc": "Analytics", "dataflow": "Analytics", "data catalog": "Analytics",
    "looker": "Analytics", "pub/sub": "Integration", "composer": "Integration", "cloud scheduler": "Integration", "cloud tasks": "Integration",
    "sql": DATA, "spanner": DATA, "bigtable": DATA, "firestore": DATA, "datastore": DATA, "memorystore": DATA, "alloydb": DATA,
    "storage": "Storage", "filestore": "Storage", "lustre": "Storage", "netapp": "Storage", "backup": "Storage",
    "network": NET, "dns": NET, "cdn": NET, "load balanc": NET, "vpn": NET, "interconnect": NET, "cloud nat": NET,
    "key management": SAFE, "secret": SAFE, "armor": SAFE, "security": SAFE, "identity": SAFE, "certificate": SAFE,
    "logging": RULE, "monitoring": RULE, "support": RULE, "trace": RULE, "cloud build": "Developer Tools", "artifact": "Developer Tools",
    "source repo": "Developer Tools", "compute": "Compute", "kubernetes": "Compute", "cloud run": "Compute", "functions": "Compute",
    "app engine": "Compute", "vmware": "Compute", "batch": "Compute",
}  # fmt: skip
MIXED = ("Compute",)
DISKS = re.compile(r"^storage |\bpd\b|hyperdisk|snapshot|\bdisk\b|machine image", re.IGNORECASE)
TRAFFIC = re.compile(r"network|egress|ingress|data transfer|external ip|load balanc|\bvpn\b|cloud nat\b", re.IGNORECASE)
FEE = re.compile(r"^commit(?:ment|ted use)\b", re.IGNORECASE)


def category(service: str, sku: str) -> str:
    name = service.casefold()
    found = next((value for word, value in SERVICES.items() if word in name), "Other")
    if found not in MIXED or FEE.match(sku):
        return found
    return "Storage" if DISKS.search(sku) else NET if TRAFFIC.search(sku) else found


def categories(services: pa.Array, skus: pa.Array) -> pa.Array:
    joined = pc.binary_join_element_wise(pc.fill_null(services, ""), pc.fill_null(skus, ""), BETWEEN)
    distinct = joined.dictionary_encode()
    found = [category(*cell.split(BETWEEN, 1)) for cell in distinct.dictionary.to_pylist()]
    return pa.array(found, pa.string()).take(distinct.indices)


def fees(skus: pa.Array) -> pa.Array:
    """Which rows are the fee of a commitment: its SKU says so, and nothing else does."""
    return pc.fill_null(pc.match_substring_regex(skus, FEE.pattern, ignore_case=True), fill_value=False)
