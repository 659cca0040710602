"""Which file is an export of Cloud Billing, and what is said about it as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.bills.form import Form, Lines
from apportion.sources.bills.part import Fault, Part
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns
from apportion.sources.files.stream import Stream
from apportion.sources.google.columns import NAMES, NOTED, lines_of
from apportion.sources.google.fields import Fields

REQUIRED = ("billing_account_id", "service.description", "usage_start_time", "usage_end_time", "cost", "currency")
OTHERS = (
    "service.id", "export_time", "seller_name", "cost_type", "credits", "labels", "system_labels", "tags", "project.labels", "invoice.month",
    "location.region", "location.location", "resource.global_name", "subscription.instance_id",
)  # fmt: skip
PATHS = tuple(dict.fromkeys((*REQUIRED, *NAMES.values(), *NOTED.values(), *OTHERS)))
TOPS = tuple(dict.fromkeys(path.partition(".")[0] for path in PATHS))
STANDARD = (
    "the export names no resources: it is the standard one, and GKE's cost allocation is in the detailed one only"
)
HINTS = {
    "BilledCost": 'it has FOCUS columns: read it by kind = "focus"',
    "line_item_unblended_cost": "it is a bill of AWS",
    "lineItem/UnblendedCost": "it is a bill of AWS",
    "cost/myCost": 'it is a cost report of Oracle: read it by kind = "oracle"',
    "CostInBillingCurrency": "it is a bill of Azure",
}
HINT = "expected the export of Cloud Billing to BigQuery, as gcp_billing_export_resource_v1_... has it"


@dataclass(slots=True)
class Exports:
    """The files of one reading; `newest` is the latest export_time among their rows, which tells whether a month can still grow."""

    newest: int | None = None

    def form_of(self, header: Sequence[str], file: InputFile) -> Form:
        has = {*header, *(path for path in PATHS if path.partition(".")[0] in header)}
        if missing := [name for name in REQUIRED if name not in has]:
            hint = next((hint for name, hint in HINTS.items() if name in header), HINT)
            raise missing_columns(missing, header, file, hint)
        notes = () if has & {"resource.name", "resource.global_name"} else (Fault(-1, "no-resources", STANDARD),)
        wanted = tuple(name for name in header if name in PATHS or name in TOPS)
        return Form("Google Cloud billing export", wanted, self.translate, notes)

    def translate(self, part: Part) -> Lines:
        found = pc.max(Fields(part).seconds("export_time")).as_py()
        self.see(found)
        return lines_of(part)

    def see(self, export_s: int | None) -> None:
        if export_s is not None:
            self.newest = max(export_s, self.newest or export_s)


def as_exported(file: InputFile) -> InputFile:
    """BigQuery calls its JSON lines `.json`; `bq query --format=json` writes one list."""
    if file.format != "json":
        return file
    with Stream(file) as stream:
        begin = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return file if begin.startswith(b"[") else replace(file, format="jsonl")


def with_status(lines: pa.Table, status: str | None) -> pa.Table:
    cells = pa.repeat(pa.scalar(status, pa.string()), lines.num_rows)
    return lines.set_column(lines.column_names.index("status"), lines.schema.field("status"), cells)
