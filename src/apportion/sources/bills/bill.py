"""Files to bills: cost lines with what is wrong with some of them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.delivery import FileDigest
from apportion.model.money import plain
from apportion.sources.bills.form import Form, FormOf
from apportion.sources.bills.lines import SCHEMA, Written
from apportion.sources.bills.manifests.listed import as_stated
from apportion.sources.bills.part import Fault, Part
from apportion.sources.bills.shapes import form_for
from apportion.sources.cells.money import total
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, once
from apportion.sources.settings import COUNTED, TOLD, Stanza

ROLES = ("bill", "reference")
NEVER_ENDED = "the last line has no end: the file may have been cut off"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source reads: its name, whether its bills are posted or only compared with, a currency that it insists on, the site whose
    electricity they are for, and whether lines that several files hold are told.
    """

    source: str
    role: str = "bill"
    currency: str = ""
    electricity_of: str = ""
    repeats: str = TOLD

    @classmethod
    def of(cls, found: Stanza, units: Collection[str] = MINOR_DIGITS) -> "Reading":
        """As a stanza with the settings `role`, `currency` and `repeats` says; `units` is what its lines can be in."""
        currency = found.word("currency", units) if "currency" in found.settings else ""
        repeats = found.word("repeats", (TOLD, COUNTED), TOLD)
        return cls(found.text("name"), found.word("role", ROLES, "bill"), currency, repeats=repeats)


@dataclass(frozen=True, slots=True)
class Bill:
    """One file. Its lines still lack their ids, and their billing period where that could not be read."""

    file: InputFile
    lines: pa.Table
    faults: tuple[Fault, ...]
    digest: FileDigest
    where: Callable[[int], str]
    form: Form


def read_bills(files: Sequence[InputFile], form_of: FormOf, reading: Reading) -> list[Bill]:
    """All files of a source."""
    bills: list[Bill] = []
    seen: dict[str, str] = {}
    for file in files:
        forms: list[Form] = []

        def wanted(header: Sequence[str], file: InputFile = file, forms: list[Form] = forms) -> Sequence[str]:
            forms.append(form_for(header, file, form_of))
            return forms[0].columns

        sheet = read_sheet(file, wanted)
        as_stated(file, sheet.table.num_rows, sheet.sha256)
        once(sheet, seen)
        bills.append(read_bill(sheet, forms[0], reading))
    if not any(bill.lines.num_rows for bill in bills):
        raise no_lines([file.name for file in files])
    return bills


def read_bill(sheet: Sheet, form: Form, reading: Reading) -> Bill:
    refuse_bad_rows(sheet)
    faults = [*form.notes, *ending(sheet)]
    blocks: list[pa.Table] = []
    count = 0
    for first_row, table in sheet.parts():
        part = Part(sheet.where, table, first_row, faults)
        blocks.append(Written(part, form.translate(part), count).table(reading.currency))
        count += blocks[-1].num_rows
    lines = pa.concat_tables(blocks, promote_options="permissive") if blocks else SCHEMA.empty_table()
    digest = FileDigest(sheet.file.name, sheet.sha256, lines.num_rows, plain(total(lines["EffectiveCost"])))
    return Bill(sheet.file, lines, tuple(faults), digest, sheet.where, form)


def refuse_bad_rows(sheet: Sheet) -> None:
    """A row that could not be cut into columns: what it costs cannot be told."""
    if sheet.bad_rows:
        raise InputError(
            "corrupt-file",
            f"{sheet.bad_rows[0].message}, so its amounts cannot be told",
            where=sheet.bad_rows[0].where,
            hint="the file is cut off or damaged: fetch it again",
        )


def ending(sheet: Sheet) -> tuple[Fault, ...]:
    return () if sheet.ended else (Fault(-1, "no-last-newline", NEVER_ENDED),)


def no_lines(names: Sequence[str]) -> InputError:
    return InputError(
        "no-rows",
        f"there is no cost line in {', '.join(names[:3])}",
        where=names[0],
        hint="a header alone is no bill: fetch the file again, or remove it",
    )
