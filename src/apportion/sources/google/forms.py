"""Which file is an export of Cloud Billing, and what is said about it as a whole."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.bills.form import COST, CURRENCY, TIME, Form, Lines
from apportion.sources.bills.part import Fault, Part
from apportion.sources.bills.vendors import refuse_others
from apportion.sources.bills.watch import Watch
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns
from apportion.sources.files.stream import Stream
from apportion.sources.google.columns import NAMES, NOTED, lines_of
from apportion.sources.google.fields import Fields
from apportion.sources.google.months import FINAL_S

REQUIRED = ("billing_account_id", "service.description", "usage_start_time", "usage_end_time", "cost", "currency")
OTHERS = (
    "service.id", "export_time", "seller_name", "cost_type", "credits", "labels", "system_labels", "tags", "project.labels", "invoice.month",
    "location.region", "location.location", "resource.global_name", "subscription.instance_id",
)  # fmt: skip
PATHS = tuple(dict.fromkeys((*REQUIRED, *NAMES.values(), *NOTED.values(), *OTHERS)))
TOPS = tuple(dict.fromkeys(path.partition(".")[0] for path in PATHS))
TYPED = {"cost": COST, "currency": CURRENCY, "usage_start_time": TIME, "usage_end_time": TIME}
STANDARD = (
    "the export names no resources: it is the standard one, and GKE's cost allocation is in the detailed one only"
)
HINT = "expected the export of Cloud Billing to BigQuery, as gcp_billing_export_resource_v1_... has it"


class Exports(Watch):
    """The files of one reading; `newest` is the latest export_time among their rows, which tells whether a month can still grow."""

    def __init__(self, newest: int | None = None) -> None:
        self.newest = newest

    def form_of(self, header: Sequence[str], file: InputFile) -> Form:
        refuse_others(header, file, "google")
        has = {*header, *(path for path in PATHS if path.partition(".")[0] in header)}
        if missing := [name for name in REQUIRED if name not in has]:
            raise missing_columns(missing, header, file, HINT)
        notes = () if has & {"resource.name", "resource.global_name"} else (Fault(-1, "no-resources", STANDARD),)
        wanted = tuple(name for name in header if name in PATHS or name in TOPS)
        typed = {name: kind for name, kind in TYPED.items() if name in header}
        return Form("Google Cloud billing export", wanted, self.translate, notes, typed)

    def translate(self, part: Part) -> Lines:
        found = pc.max(Fields(part).seconds("export_time")).as_py()
        if found is not None:
            self.newest = max(found, self.newest or found)
        return lines_of(part)

    def finish(self, lines: pa.Table) -> pa.Table:
        """A month is final when the export has rows of five days after its end: Google has sent the invoice by then."""
        if self.newest is None:
            return lines
        over = pc.less_equal(lines["billing_end_s"], self.newest - FINAL_S)
        place = lines.column_names.index("status")
        return lines.set_column(place, lines.schema.field("status"), pc.if_else(over, "final", "estimated"))


def as_exported(file: InputFile) -> InputFile:
    """BigQuery calls its JSON lines `.json`; `bq query --format=json` writes one list."""
    if file.format != "json":
        return file
    with Stream(file) as stream:
        begin = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return file if begin.startswith(b"[") else replace(file, format="jsonl")
