"""Which component a cost line belongs to: compute, storage, network, licence, energy, support or other.

A bill may say it outright, in a column `x_Component` or a tag `apportion.component` (or `apportion:component`). Else the first that holds:

    the service, meter or resource type speaks of energy, electricity or kWh      energy
    ... of a licence, or the subcategory of software                              licence
    the subcategory is Support, or the service speaks of support                  support
    ServiceCategory Compute, AI and Machine Learning                              compute
    ServiceCategory Storage                                                       storage
    ServiceCategory Networking                                                    network
    ServiceCategory Management and Governance                                     support
    anything else                                                                 other
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.cells.text import rows_where

COMPONENTS = ("compute", "storage", "network", "licence", "energy", "support", "other")
KEYS = ("ServiceCategory", "ServiceSubcategory", "ServiceName", "SkuMeter", "ResourceType")
CATEGORIES = {
    "compute": "compute",
    "ai and machine learning": "compute",
    "storage": "storage",
    "networking": "network",
    "management and governance": "support",
}
TAGS = ("apportion.component", "apportion:component")
BETWEEN = "\x1f"
ENERGY = re.compile(r"\b(?:energy|electricity|kwh)\b")
LICENCE = re.compile(r"\blicen[cs](?:e|es|ed|ing)\b")
SUPPORT = re.compile(r"\bsupport\b")


def component_of(category: str, subcategory: str, service: str, meter: str, resource_type: str) -> str:
    words = f"{service} {meter} {resource_type}".casefold().replace("_", " ")
    below = subcategory.casefold()
    if ENERGY.search(words):
        return "energy"
    if LICENCE.search(words) or LICENCE.search(below) or "software" in below:
        return "licence"
    if below == "support" or SUPPORT.search(service.casefold()):
        return "support"
    return CATEGORIES.get(category.casefold(), "other")


def components(columns: dict[str, pa.Array], tags: pa.Array) -> tuple[pa.Array, list[int]]:
    """A component for each row, and the rows that state one which does not exist."""
    joined = pc.binary_join_element_wise(
        *(pc.fill_null(columns[name], "") for name in KEYS), BETWEEN
    ).dictionary_encode()
    ruled = pa.array(
        [component_of(*(cell.split(BETWEEN) + [""] * 5)[:5]) for cell in joined.dictionary.to_pylist()], pa.string()
    ).take(joined.indices)
    stated = stated_components(columns, tags)
    known = pc.is_in(stated, pa.array(COMPONENTS))
    return pc.if_else(pc.fill_null(known, fill_value=False), stated, ruled), rows_where(
        pc.and_(stated.is_valid(), pc.invert(known))
    )


def stated_components(columns: dict[str, pa.Array], tags: pa.Array) -> pa.Array:
    stated = pc.utf8_lower(columns["x_Component"])
    if pc.any(pc.is_in(tags.keys, pa.array(TAGS)), min_count=0).as_py():
        for key in TAGS:
            stated = pc.coalesce(stated, pc.utf8_lower(pc.map_lookup(tags, pa.scalar(key), "first")))
    return stated
