"""The stanza of Google Cloud's bill."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apportion.errors import ProjectError
from apportion.sources.bills.bill import Reading
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import Stanza, stanza

ASKING = ("project", "dataset", "table", "billing_account", "location", "maximum_bytes_billed", "page_rows")
SETTINGS = ("role", "currency", "repeats", *ASKING, *STORE_SETTINGS)
DETAILED = "gcp_billing_export_resource_v1_"
PARTS = {  # what may stand in a query: names go there as they are, values as parameters
    "project": re.compile(r"[a-z0-9](?:[a-z0-9.:-]{0,98}[a-z0-9])?"),
    "dataset": re.compile(r"(?:[a-z0-9][a-z0-9.:-]{0,98}\.)?[A-Za-z0-9_]{1,1024}"),
    "table": re.compile(r"[A-Za-z0-9_-]{1,1024}"),
    "billing_account": re.compile(r"[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}"),
}
SUCH = {
    "project": "my-project",
    "dataset": "billing",
    "table": f"{DETAILED}0123AB_4567CD_89EF01",
    "billing_account": "0123AB-4567CD-89EF01",
}


@dataclass(frozen=True, slots=True)
class Table:
    """`payer` is the project in which queries run."""

    payer: str
    project: str
    dataset: str
    table: str

    @property
    def name(self) -> str:
        return f"{self.project}.{self.dataset}.{self.table}"


@dataclass(frozen=True, slots=True)
class How:
    where: str
    path: str
    reading: Reading
    table: Table


def how_of(settings: Mapping[str, Any]) -> tuple[How, Stanza]:
    found = stanza(settings, SETTINGS)
    path = found.text("path", "")
    return How(found.where, path, Reading.of(found), Table("", "", "", "") if path else table_of(found)), found


def table_of(found: Stanza) -> Table:
    project, dataset = (fitting(found, key) for key in ("project", "dataset"))
    owner, _, own = dataset.rpartition(".")
    if ("table" in found.settings) == ("billing_account" in found.settings):
        raise ProjectError(
            "missing-setting",
            "one of billing_account and table says which export is read",
            where=found.where,
            hint=f'billing_account = "{SUCH["billing_account"]}", or table = "{SUCH["table"]}"',
        )
    if "table" in found.settings:
        return Table(project, owner or project, own, fitting(found, "table"))
    return Table(project, owner or project, own, DETAILED + fitting(found, "billing_account").replace("-", "_"))


def fitting(found: Stanza, key: str) -> str:
    text = found.text(key)
    if not PARTS[key].fullmatch(text):
        raise found.refuse(key, f"such as {SUCH[key]}", text)
    return text
