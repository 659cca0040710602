"""A price list as people keep it, CSV or a spreadsheet, to exact prices per hour (or per unit of what flows)."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from python_calamine import CalamineError, CalamineWorkbook

from apportion.errors import InputError
from apportion.model.meters import METERS
from apportion.sources.files.paths import InputFile
from apportion.sources.files.stream import Stream
from apportion.verbs.proposing.price_words import (
    HEADINGS,
    HOURS,
    METER_WORDS,
    currency_in,
    meter_in,
    number_in,
    size_in,
    span_in,
    words_of,
)

LARGEST = 2**22
MOST_ROWS = 10_000
SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
ANY = frozenset({"", "*", "all", "any", "-", "default"})


@dataclass(frozen=True, slots=True)
class Price:
    """Of one natural unit of a meter for an hour, or of one unit of what flows. `said` is how the list puts it."""

    meter: str
    price: Fraction
    said: str
    where: str
    model: str = ""
    partition: str = ""
    qos: str = ""


@dataclass(frozen=True, slots=True)
class PriceList:
    file: str
    currency: str  # "" where the list names none
    prices: tuple[Price, ...]


def read_prices(file: Path) -> PriceList:
    rows = cells_of(file)
    return price_list(file.name, rows)


def cells_of(file: Path) -> list[list[str]]:
    try:
        if file.stat().st_size > LARGEST:
            raise too_large(file)
        if file.suffix.lower() in SHEETS:
            return spreadsheet(file)
        text = unpacked(file).decode("utf-8-sig")
    except OSError as error:
        raise InputError("unreadable-file", f"{file} cannot be read: {error.strerror}", where=str(file)) from error
    except UnicodeDecodeError as error:
        raise InputError(
            "wrong-encoding",
            f"{file.name} is not UTF-8 text",
            where=file.name,
            hint="save it as CSV UTF-8, or as .xlsx",
        ) from error
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t", "|"), key=first.count)
    try:
        return [
            [cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        ]
    except csv.Error as error:
        raise InputError("corrupt-file", f"{file.name} cannot be read: {error}", where=file.name) from error


def unpacked(file: Path) -> bytes:
    """Its bytes, which may be packed with gzip."""
    with Stream(InputFile(file.name, file.resolve(), "csv")) as stream:
        data = bytearray()
        while part := stream.read():
            data += part
            if len(data) > LARGEST:
                raise too_large(file)
    return bytes(data)


def too_large(file: Path) -> InputError:
    return InputError("too-large", f"{file.name} is over 4 MiB, which no price list is", where=file.name)


def spreadsheet(file: Path) -> list[list[str]]:
    """Its first sheet with something in it."""
    try:
        book = CalamineWorkbook.from_path(str(file))
        sheets = [book.get_sheet_by_index(number).to_python() for number in range(len(book.sheet_names))]
    except (CalamineError, ValueError, OSError) as error:
        raise InputError("corrupt-file", f"{file.name} cannot be read: {error}", where=file.name) from error
    found = next((rows for rows in sheets if any(any(cell not in ("", None) for cell in row) for row in rows)), [])
    return [[shown(cell) for cell in row] for row in found]


def shown(cell: object) -> str:
    """A binary number at its shortest text: 2.1 is what was typed."""
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() else repr(cell)
    return "" if cell is None else str(cell).strip()


def price_list(name: str, rows: Sequence[Sequence[str]]) -> PriceList:
    numbered = [(number, row) for number, row in enumerate(rows, 1) if any(row)]
    if len(numbered) > MOST_ROWS:
        raise InputError("too-large", f"{name} has over {MOST_ROWS:,} rows, which no price list has", where=name)
    if not numbered:
        raise InputError("empty-file", f"{name} is empty", where=name, hint=example())
    (_, header), *body = numbered
    columns = Columns.of(header, [row for _, row in body], name)
    prices: list[Price] = []
    currencies: dict[str, str] = {}
    for number, row in body:
        where = f"{name}:{number}"
        for price, currency in columns.prices(row, where):
            prices.append(price)
            currencies.setdefault(currency, where)
    if not prices:
        raise InputError("no-prices", f"{name} holds no price", where=name, hint=example())
    named = {code: where for code, where in currencies.items() if code}
    if len(named) > 1:
        (one, first), (other, second), *_ = named.items()
        raise InputError(
            "mixed-currencies",
            f"{name} has prices in {one} ({first}) and in {other} ({second})",
            where=name,
            hint="a policy has one currency: convert the prices, or keep two projects",
        )
    return PriceList(name, next(iter(named), ""), tuple(prices))


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what; `price` are those that hold prices, each with its heading."""

    name: str
    roles: dict[str, int]
    price: dict[int, str]

    @classmethod
    def of(cls, header: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> "Columns":
        roles: dict[str, int] = {}
        price: dict[int, str] = {}
        for number, heading in enumerate(header):
            role = role_of(heading)
            if role == "price":
                price[number] = heading
            elif role:
                roles.setdefault(role, number)
        if not price:  # a column for each meter
            taken = set(roles.values())
            price = {n: text for n, text in enumerate(header) if n not in taken and numeric(rows, n)}
        for number, heading in enumerate(header):
            if number not in price and "model" not in roles and "gpu" in words_of(heading):
                roles["model"] = number
        if not price:
            raise InputError(
                "missing-columns",
                f"{name} has no column of prices; its columns: {', '.join(filter(None, header))[:200]}",
                where=f"{name}:1",
                hint=example(),
            )
        return cls(name, roles, price)

    def cell(self, row: Sequence[str], role: str) -> str:
        number = self.roles.get(role)
        return row[number] if number is not None and number < len(row) else ""

    def prices(self, row: Sequence[str], where: str) -> Iterator[tuple[Price, str]]:
        for number, heading in self.price.items():
            written = row[number] if number < len(row) else ""
            if not written:
                continue
            amount = number_in(written)
            if isinstance(amount, str) or amount < 0:
                why = amount if isinstance(amount, str) else f"{written!r} is negative"
                raise InputError("invalid-price", why, where=where, hint="write it as 2.10")
            yield self.price_of(row, heading, amount, where), self.currency(row, heading, written)

    def currency(self, row: Sequence[str], heading: str, written: str) -> str:
        """The nearest to the price that names one."""
        stated = self.cell(row, "currency")
        found = currency_in(written) or currency_in(stated.upper()) or currency_in(heading)
        return found or currency_in(" ".join(self.cell(row, role) for role in ("meter", "per")))

    def price_of(self, row: Sequence[str], heading: str, amount: Fraction, where: str) -> Price:
        about = [self.cell(row, "per"), self.cell(row, "meter"), heading]
        stated = self.cell(row, "meter")
        meter = meter_in(stated) or meter_in(heading) or ("" if stated else "gpu")
        if not meter:
            raise InputError(
                "unknown-meter",
                f"nobody knows what {stated[:40]!r} counts",
                where=where,
                hint=f"known: {', '.join(sorted({*METERS} & {*METER_WORDS.values()}))}",
            )
        span = next(filter(None, map(span_in, about)), "")
        size = next(filter(None, map(size_in, about)), None) or Fraction(1)
        flow = METERS[meter].flow
        hours = Fraction(1) if flow else HOURS[span or "hour"]
        unit = METERS[meter].unit if size == 1 else "unit of the list"
        per = f"{unit}" if flow else f"{unit} and {span or 'hour'}"
        kept = {
            role: "" if (cell := self.cell(row, role)).lower() in ANY else cell
            for role in ("model", "partition", "qos")
        }
        return Price(meter, amount / hours / size, f"{decimal(amount)} per {per}", where, **kept)


def role_of(heading: str) -> str:
    """By the first word that tells; what names a currency or `per hour` beside a meter is a price too."""
    words = words_of(heading)
    for role, known in HEADINGS.items():
        if any(word in known for word in words) and not (role == "per" and span_in(heading)):
            return role
    return "price" if words and currency_in(heading) else ""


def numeric(rows: Sequence[Sequence[str]], number: int) -> bool:
    cells = [row[number] for row in rows if number < len(row) and row[number]]
    return bool(cells) and all(not isinstance(number_in(cell), str) and len(words_of(cell)) < 4 for cell in cells)


def decimal(amount: Fraction) -> str:
    """Exact: `2.10` as `2.1`, a third as `1/3`."""
    text = f"{amount.numerator}/{amount.denominator}"
    for places in range(19):
        scaled = amount * 10**places
        if scaled.denominator == 1:
            digits = f"{scaled.numerator:0{places + 1}d}"
            return f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return text


def example() -> str:
    return "such as: gpu model,price per GPU hour (EUR)"
