"""Rows of evidence with pseudonyms in place of users' names: whole values of the labels that hold users, and words of any other.

Ids stay as they are, since they tie the tables together; so does a value by which a rule of some policy tells things apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.names import TOKEN
from apportion.books.words import Words
from apportion.model.rows import TEXT

LABELS = MappingProxyType({"workloads": "labels", "capacity": "labels", "reservations": "labels", "cost_lines": "Tags"})
TAG = "tag."
Keeps = Callable[[str, str, str], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be erased: the names of users in rows that lie wholly before a month, or those of one user.

    `labels` are those that hold users; `keeps(label, old, new)` says that a rule would tell the new value from the old one.
    """

    before: str
    before_s: int
    labels: frozenset[str]
    keeps: Keeps
    user: str = ""
    why: str = ""

    def holds_users(self, label: str) -> bool:
        return any(label == key or label.endswith("." + key) for key in self.labels)

    def due(self, name: str, rows: pa.Table) -> pa.ChunkedArray:
        """Which rows of a table lie before the month."""
        if name == "charges":
            return pc.less(rows["period"], self.before)
        if name == "cost_lines":  # booked where the middle of their billing period lies
            return pc.less(pc.add(rows["billing_start_s"], rows["billing_end_s"]), 2 * self.before_s)
        return pc.less_equal(rows["end_s"], self.before_s)


@dataclass(frozen=True)
class Pseudonyms(Words):
    asked: Asked

    def value(self, label: str, value: str) -> str:
        if TOKEN.fullmatch(value):
            return value
        whole = self.tokens.get(normalize("NFC", value)) if self.asked.holds_users(label) else None
        new = self.text(value) if whole is None else whole
        return value if new != value and self.asked.keeps(label, value, new) else new

    def rewritten(self, name: str, rows: pa.Table) -> tuple[pa.Table, int]:
        """The rows, and how many values in them are others now. Their order does not count."""
        due = self.asked.due(name, rows)
        if not pc.any(due, min_count=0).as_py():
            return rows, 0
        old, rest, count = rows.filter(due), rows.filter(pc.invert(due)), 0
        for column in columns_of(name):
            place = old.schema.get_field_index(column)
            new, changed = (
                self.labels(name, old[column]) if column == LABELS.get(name) else self.column(column, old[column])
            )
            old, count = old.set_column(place, old.schema.field(place), new), count + changed
        return pa.concat_tables([old, rest]), count

    def column(self, label: str, texts: pa.ChunkedArray) -> tuple[pa.ChunkedArray, int]:
        words = pc.unique(texts).drop_null()
        said = words.to_pylist()
        new = [self.tokens.get(word, word) if label == "user" else self.value(label, word) for word in said]
        place = pc.index_in(texts, value_set=words)
        changed = pa.array([a != b for a, b in zip(said, new, strict=True)], pa.bool_()).take(place)
        return pa.array(new, TEXT).take(place), pc.sum(changed).as_py() or 0

    def labels(self, name: str, maps: pa.ChunkedArray) -> tuple[pa.ChunkedArray, int]:
        found = [self.one_chunk(TAG if name == "cost_lines" else "", chunk) for chunk in maps.chunks]
        return pa.chunked_array([chunk for chunk, _ in found], maps.type), sum(count for _, count in found)

    def one_chunk(self, prefix: str, maps: pa.MapArray) -> tuple[pa.MapArray, int]:
        """Each pair of a label and its value is looked at once."""
        keys, values = maps.keys.dictionary_encode(), maps.items.dictionary_encode()
        width = len(values.dictionary) + 1  # the last stands for no value
        value_of = pc.fill_null(values.indices, width - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        pairs, place = np.unique(keys.indices.to_numpy().astype(np.int64) * width + value_of, return_inverse=True)
        labels, texts = keys.dictionary.to_pylist(), [*values.dictionary.to_pylist(), None]
        said = [(labels[pair // width], texts[pair % width]) for pair in pairs.tolist()]
        new = [None if text is None else self.value(prefix + label, text) for label, text in said]
        changed = np.array([text != other for (_, text), other in zip(said, new, strict=True)], bool)
        items = pa.array(new, TEXT).take(pa.array(place))
        return pa.MapArray.from_arrays(maps.offsets, maps.keys, items).cast(maps.type), int(changed[place].sum())

    def left(self, name: str, rows: pa.Table) -> int:
        """How many distinct values of rewritten rows still have a name in them: of ids, and of what rules go by."""
        old = rows.filter(self.asked.due(name, rows))
        plain = [field.name for field in rows.schema if field.type == TEXT]
        columns = [old[column] for column in plain]
        columns += [chunk.items for chunk in old[LABELS[name]].chunks] if name in LABELS else []
        texts = set().union(*(pc.unique(column).drop_null().to_pylist() for column in columns))
        return sum(self.text(text) != text for text in texts)


def columns_of(name: str) -> list[str]:
    """Those that are rewritten."""
    return {"charges": ["user"], "workloads": ["labels", "name"], "usage": [], "rates": []}.get(name) or (
        [LABELS[name]] if name in LABELS else []
    )


def users_in(asked: Asked, name: str, rows: pa.Table) -> set[str]:
    """The values of the labels that hold users."""
    if name not in LABELS or not rows.num_rows:
        return set()
    prefix = TAG if name == "cost_lines" else ""
    found: set[str] = set()
    for chunk in rows.filter(asked.due(name, rows))[LABELS[name]].chunks:
        keys = chunk.keys.dictionary_encode()
        wanted = [asked.holds_users(prefix + label) for label in keys.dictionary.to_pylist()]
        values = chunk.items.filter(pa.array(wanted, pa.bool_()).take(keys.indices))
        found.update(normalize("NFC", value) for value in pc.unique(values).drop_null().to_pylist())
    return {name for name in found if name and not name.startswith("_") and not TOKEN.fullmatch(name)}
