"""FOCUS files to bills: cost lines with what is wrong with some of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.money import plain
from apportion.sources.cells.money import total
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, once
from apportion.sources.focus.block import SCHEMA, Block, Fault
from apportion.sources.focus.columns import Layout, layout


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source reads: its name, whether its bills are posted or only compared with, and a currency that it insists on."""

    source: str
    role: str = "bill"
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Bill:
    """One file. Its lines still lack their ids, and their billing period where that could not be read."""

    file: InputFile
    lines: pa.Table
    faults: tuple[Fault, ...]
    digest: FileDigest
    where: Callable[[int], str]
    layout: Layout


def read_bills(files: Sequence[InputFile], reading: Reading) -> list[Bill]:
    """All files of a source."""
    bills: list[Bill] = []
    seen: dict[str, str] = {}
    for file in files:
        layouts: list[Layout] = []
        sheet = read_sheet(file, partial(wanted, file, layouts))
        once(sheet, seen)
        bills.append(read_bill(sheet, layouts[0], reading))
    if not any(bill.lines.num_rows for bill in bills):
        raise InputError(
            "no-rows",
            f"there is no cost line in {', '.join(file.name for file in files[:3])}",
            where=files[0].name,
            hint="a header alone is no bill: fetch the file again, or remove it",
        )
    return bills


def wanted(file: InputFile, layouts: list[Layout], header: Sequence[str]) -> list[str]:
    layouts.append(layout(header, file))
    return list(layouts[0].columns.values())


def read_bill(sheet: Sheet, found: Layout, reading: Reading) -> Bill:
    if sheet.bad_rows:
        raise InputError(
            "corrupt-file",
            f"{sheet.bad_rows[0].message}, so its amounts cannot be told",
            where=sheet.bad_rows[0].where,
            hint="the file is cut off or damaged: fetch it again",
        )
    faults = list(file_faults(found))
    if not sheet.ended:
        faults.append(Fault(-1, "no-last-newline", "the last line has no end: the file may have been cut off"))
    parts = []
    for first_row, part in sheet.parts():
        block = Block(sheet, found, part, first_row, faults)
        parts.append(pa.table(block.columns(reading.currency), schema=SCHEMA))
    lines = pa.concat_tables(parts) if parts else SCHEMA.empty_table()
    digest = FileDigest(sheet.file.name, sheet.sha256, lines.num_rows, plain(total(lines["EffectiveCost"])))
    return Bill(sheet.file, lines, tuple(faults), digest, sheet.where, found)


def file_faults(found: Layout) -> Iterator[Fault]:
    for name, source in found.derived.items():
        if name != "ServiceProviderName":  # its older name is the same thing
            yield Fault(-1, "derived-column", f"there is no column {name}: {source} is taken for it")
    for name in found.lacking:
        yield Fault(-1, "column-not-given", f"there is no column {name}: it stays empty")
