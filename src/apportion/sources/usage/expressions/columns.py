"""The columns that a stanza speaks of, made of those that a file has: one that has the very name is taken as it is, else the text is an expression."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.sources.cells.text import is_text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns
from apportion.sources.files.stream import too_large
from apportion.sources.usage.expressions.evaluate import check, evaluate
from apportion.sources.usage.expressions.grammar import Mistake, Node, Path, parse, paths_in
from apportion.sources.usage.expressions.paths import Steps, dig, elements
from apportion.sources.usage.expressions.values import Clock, Scene, as_cells

PLAIN = re.compile(r"[\w .:#%-]*\w")  # what looks like the name of a column, not like an expression
ITEM = "\0item"  # the column of an array's items
LARGEST_TEXT = 2**31 - 1  # what an Arrow array of text can hold


@dataclass(frozen=True, slots=True)
class Wish:
    """What one setting of the stanza asks for."""

    setting: str
    text: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where each path of the expressions lies: a column of the file, and the steps inside it."""

    own: tuple[str, ...]  # columns that are taken as they are
    trees: Mapping[str, Node]
    of: Mapping[Steps, tuple[str, Steps]]
    array: tuple[str, Steps] | None = None  # whose items are the rows
    rest: tuple[str, ...] = ()  # columns that nothing reads, where they are labels

    @property
    def columns(self) -> list[str]:
        """What must be read of the file."""
        some = [*self.own, *(column for column, _ in self.of.values() if column != ITEM)]
        return list(dict.fromkeys([*some, *([self.array[0]] if self.array else [])]))


@dataclass(frozen=True, slots=True)
class Made:
    """`table` has a column for each wish. `failed` are the rows for which one has no value, with the reason. `parents`: the row of each item."""

    table: pa.Table
    failed: Mapping[str, Mapping[int, str]]
    parents: np.ndarray | None = None
    childless: list[int] = field(default_factory=list)


def find_places(wishes: Sequence[Wish], explode: str, header: Sequence[str], file: InputFile, where: str) -> Places:
    """Refuses a column that is not there and an expression that is none."""
    known = set(header)
    own: list[str] = []
    trees: dict[str, Node] = {}
    of: dict[Steps, tuple[str, Steps]] = {}
    array, prefix = None, Path(())
    if explode:
        prefix = whole_path(Wish("explode", explode), known, where)
        array = column_of(prefix, known)
        if array is None:
            raise missing_columns([explode], header, file)
    for wish in wishes:
        if wish.text in known and (wish.text,) != prefix.steps:
            own.append(wish.text)
            continue
        tree = Path((wish.text,)) if wish.text in known else tree_of(wish, where, file, header)
        for path in paths_in(tree):
            inside = bool(prefix.steps) and path.steps[: len(prefix.steps)] == prefix.steps
            place = (ITEM, path.steps[len(prefix.steps) :]) if inside else column_of(path, known)
            if place is None:
                raise missing_columns([wish.text if PLAIN.fullmatch(wish.text) else path.shown], header, file)
            of[path.steps] = place
        trees[wish.text] = tree
    return Places(tuple(dict.fromkeys(own)), trees, of, array)


def whole_path(wish: Wish, known: set[str], where: str) -> Path:
    if wish.text in known:
        return Path((wish.text,))
    try:
        found = parse(wish.text)
    except Mistake as mistake:
        raise refused(wish, mistake, where) from mistake
    if not isinstance(found, Path):
        raise refused(wish, Mistake("expected the path of an array", 1), where)
    return found


def tree_of(wish: Wish, where: str, file: InputFile, header: Sequence[str]) -> Node:
    try:
        tree = parse(wish.text)
        check(tree)
    except Mistake as mistake:
        if PLAIN.fullmatch(wish.text):
            raise missing_columns([wish.text], header, file) from mistake
        raise refused(wish, mistake, where) from mistake
    return tree


def refused(wish: Wish, mistake: Mistake, where: str) -> ProjectError:
    shown = wish.text if len(wish.text) <= 60 else wish.text[:57] + "..."
    return ProjectError(
        "invalid-expression",
        f"{wish.setting} {shown!r} is no column and no expression: {mistake.message} at character {mistake.at}",
        where=where,
        hint="columns and paths such as a.b[0], numbers, 'text', + - * / and functions; `a name` in backquotes is a column",
    )


def column_of(path: Path, known: set[str]) -> tuple[str, Steps] | None:
    """The longest beginning of a path that is a column: `a.b.c` may be the column `a.b` and its key `c`."""
    for count in range(len(path.steps), 0, -1):
        if not all(isinstance(step, str) for step in path.steps[:count]):
            continue
        name = ".".join(str(step) for step in path.steps[:count])
        if name in known:
            return name, path.steps[count:]
    return None


def make(part: pa.Table, places: Places, clock: Callable[[pa.Table], Clock], file: InputFile) -> Made:
    """A block of a file in the stanza's columns; `clock` may read some of them."""
    if not places.trees and places.array is None:
        return Made(part, {})
    parents, items = None, None
    childless: list[int] = []
    if places.array is not None:
        column, steps = places.array
        parents, items, childless = elements(part[column].combine_chunks(), steps)
    values, bad = leaves(part, places, parents, items, file)
    rows = part.num_rows if parents is None else len(parents)
    columns = {name: values[name, ()] for name in places.own}
    failed: dict[str, Mapping[int, str]] = {}
    scene_columns = {steps: values[place] for steps, place in places.of.items()}
    for text, tree in places.trees.items():
        own_bad = {row: why for path in paths_in(tree) for row, why in bad.get(places.of[path.steps][0], {}).items()}
        scene = Scene(scene_columns, rows, clock(pa.table(columns)), own_bad)
        columns[text] = as_cells(evaluate(tree, scene))
        if scene.failed:
            failed[text] = scene.failed
    return Made(pa.table(columns), failed, parents, childless)


Leaves = dict[tuple[str, Steps], pa.Array]


def leaves(
    part: pa.Table, places: Places, parents: np.ndarray | None, items: pa.Array | None, file: InputFile
) -> tuple[Leaves, dict[str, dict[int, str]]]:
    """The cells at every place, each column decoded once; and, by column, the rows that hold no JSON."""
    wanted: dict[str, set[Steps]] = defaultdict(set)
    for column, steps in (*((name, ()) for name in places.own), *places.of.values()):
        wanted[column].add(steps)
    found: Leaves = {}
    bad: dict[str, dict[int, str]] = {}
    for column, some in wanted.items():
        cells = items if column == ITEM and items is not None else part[column].combine_chunks()
        deep = sorted(steps for steps in some if steps)
        made, wrong = dig(cells, deep) if deep else ([], {})
        whole = [((), cells)] if () in some else []
        for steps, array in (*whole, *zip(deep, made, strict=True)):
            found[column, steps] = array if parents is None or column == ITEM else repeated(array, parents, file)
        shown = "the item" if column == ITEM else column
        bad[column] = {row: f"{shown} {why}" for row, why in wrong.items()}
        if parents is not None and column != ITEM:
            rows = np.flatnonzero(np.isin(parents, list(wrong))).tolist() if wrong else []
            bad[column] = dict.fromkeys(rows, f"{shown} holds no JSON")
    return found, bad


def repeated(cells: pa.Array, parents: np.ndarray, file: InputFile) -> pa.Array:
    """A row's cell for each of its items; refused where that would fill the memory."""
    taken = pa.array(parents)
    if is_text(cells):
        plain = pc.cast(cells, pa.string()) if pa.types.is_dictionary(cells.type) else cells
        size = pc.sum(pc.cast(pc.binary_length(plain), pa.int64()).take(taken)).as_py() or 0
        if size > LARGEST_TEXT:
            raise too_large(file, f"a column repeated for every item has {size:,} bytes")
        return plain.take(taken)
    return cells.take(taken)
