"""A block of rows by AWS's names. Amounts are exact or the file is refused.

AWS counts in binary and writes numbers out as the shortest text that reads back as the same number, in CSV as in Parquet. Such a text may
have more than 18 places (`0.00010404000000000001`); a quantity is rounded there, half to even, as its binary twin is.
"""

from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.money import PLACES
from apportion.model.rows import MONEY
from apportion.sources.aws.header import Header
from apportion.sources.bills.part import Fault, Part
from apportion.sources.cells.text import is_text

LONG = r"^[+-]?[0-9]*\.[0-9]{19,}$|^[+-]?[0-9]*\.?[0-9]+[eE]-[0-9]{1,3}$"
BINARY_DIGITS = 17  # no binary number needs more to be told from its neighbours
STEP = Decimal(1).scaleb(-PLACES)
ZERO = pa.scalar(Decimal(0), MONEY)


@dataclass(frozen=True, slots=True)
class Block:
    part: Part
    header: Header
    told: set[str] = field(default_factory=set)  # what was said of the file already, by this block or those before

    @property
    def count(self) -> int:
        return self.part.count

    def has(self, *names: str) -> bool:
        return self.header.has(*names)

    def cells(self, name: str) -> pa.Array:
        return self.part.cells(self.header.columns.get(name, ""))

    def text(self, *names: str) -> pa.Array:
        """The first of several columns that says something."""
        found = [self.part.text(self.header.columns[name]) for name in names if self.has(name)]
        return pc.coalesce(*found) if found else pa.nulls(self.count, pa.string())

    def amount(self, name: str, among: pa.Array | None = None) -> pa.Array:
        """Of the rows that matter only: what the others say in that column is not read."""
        cells = self.cells(name)
        if pa.types.is_null(cells.type):
            return pa.nulls(self.count, MONEY)
        if among is not None:
            cells = pc.if_else(among, plainly(cells), None)
        return self.part.exact(cells, self.header.columns.get(name, name))

    def quantity(self, name: str) -> pa.Array:
        """As it stands, but for places that a binary number does not mean: one that cannot be read is left out later, and noted."""
        return shortened(self.cells(name))

    def few(self) -> "tuple[Block, pa.Array]":
        """A row of each kind, of rows that say the same but for times and numbers; and the kind of each row."""
        header = self.header.words
        words = self.part.table.select(dict.fromkeys(header.read))
        found = kinds(words.columns, self.count)
        part = replace(self.part, table=words.take(found.first))
        return Block(part, header, self.told), pa.array(found.of.astype(np.int32))

    def tell(self, code: str, message: str) -> None:
        """Of the file as a whole: once."""
        if message not in self.told:
            self.told.add(message)
            self.part.faults.append(Fault(-1, code, message))


def of_all(cells: pa.Array, kind: pa.Array) -> pa.DictionaryArray:
    """What was made of one row of each kind, for every row."""
    if pa.types.is_dictionary(cells.type):
        return pa.DictionaryArray.from_arrays(cells.indices.take(kind), cells.dictionary)
    return pa.DictionaryArray.from_arrays(kind, cells)


def plainly(cells: pa.Array) -> pa.Array:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def shortened(cells: pa.Array) -> pa.Array:
    """Texts of binary numbers at 18 places. Whatever else they are is left for others to refuse."""
    if not is_text(cells):
        return cells
    whole = plainly(cells)
    long = pc.fill_null(pc.match_substring_regex(whole, LONG), fill_value=False)
    if not pc.any(long, min_count=0).as_py():
        return cells
    encoded = whole.filter(long).dictionary_encode()
    values = pa.array([at_places(word) for word in encoded.dictionary.to_pylist()], whole.type).take(encoded.indices)
    return pc.replace_with_mask(whole, long, values)


def at_places(word: str) -> str:
    number = Decimal(word)
    if len(number.as_tuple().digits) > BINARY_DIGITS:
        return word
    with localcontext() as context:
        context.prec = 400
        return f"{number.quantize(STEP, ROUND_HALF_EVEN):f}"
