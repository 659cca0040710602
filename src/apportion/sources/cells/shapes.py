"""Tests on the first rows of a text file whether its columns hold what they are called, before anything in them is counted.

A file whose cells are shifted, or that is read with another file's header, has the right number of columns and the wrong things in them. One bad cell is
a bad row and is listed elsewhere; a column of which most cells are something else is no such column, and the file is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from apportion.errors import InputError

FIRST_ROWS = 500
FEWEST = 2  # cells that are wrong: one alone is a bad row
SHOWN = 40  # characters of an example
OTHERWISE = "name the columns as the cells stand, or write the file again"
EMPTY = frozenset({"", "null"})

Judge = Callable[
    [Sequence[tuple[str, ...]]], Sequence[bool | None]
]  # for each row whether it is right; None where nothing can be said


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the cells of `column` are (`times`), judged with those of `others` beside them and of `optional` where the file has them, else empty."""

    column: str
    kind: str
    judge: Judge
    others: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    remedy: str = ""  # what else may be wrong than the place of the cells


@dataclass(frozen=True, slots=True)
class Misfit:
    """A column that holds something else: two examples, and how many of the cells that were looked at."""

    column: str
    kind: str
    examples: tuple[str, ...]
    wrong: int
    judged: int
    remedy: str = ""


def expect(columns: Iterable[str], kind: str, fits: Callable[[str], bool]) -> list[Expectation]:
    """The same of several columns, cell by cell."""
    return [Expectation(column, kind, lambda rows: [fits(cell) for (cell,) in rows]) for column in columns]


def refuse_misfit(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    expected: Sequence[Expectation],
    known: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuses the file `name` where a column of its first rows is none. `known` are headers that such files have, by what has them."""
    first = rows[:FIRST_ROWS]
    misfit = find_misfit(header, first, expected)
    if misfit is None:
        return
    values = " and ".join(repr(value[:SHOWN]) for value in misfit.examples)
    raise InputError(
        "shifted-columns",
        f"{misfit.column} holds {values} instead of {misfit.kind}, in {misfit.wrong} of the first {misfit.judged} rows",
        where=name,
        hint=nearest_header(header, first, expected, known or {}) or misfit.remedy or OTHERWISE,
    )


def find_misfit(
    header: Sequence[str], rows: Sequence[Sequence[str]], expected: Sequence[Expectation], fewest: int = FEWEST
) -> Misfit | None:
    """The first column, in the order of the header, of which most cells, and at least `fewest`, are something else."""
    place = {column.casefold(): number for number, column in reversed(list(enumerate(header)))}
    tested = [one for one in expected if all(column.casefold() in place for column in (one.column, *one.others))]
    for one in sorted(tested, key=lambda one: (bool(one.others), place[one.column.casefold()])):
        places = [place.get(column.casefold(), -1) for column in (one.column, *one.others, *one.optional)]
        cells = [tuple(row[number].strip() if number >= 0 else "" for number in places) for row in rows]
        cells = [row for row in cells if row[0].casefold() not in EMPTY]
        verdicts = one.judge(cells)
        wrong = [row[0] for row, fits in zip(cells, verdicts, strict=True) if fits is False]
        judged = len(cells) - sum(fits is None for fits in verdicts)
        if len(wrong) >= fewest and 2 * len(wrong) > judged:
            examples = tuple(dict.fromkeys(wrong))[:2]
            return Misfit(one.column, one.kind, examples, len(wrong), judged, one.remedy)
    return None


def nearest_header(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    expected: Sequence[Expectation],
    known: Mapping[str, Sequence[str]],
) -> str:
    """The nearest header that fits the cells, in words: a known one, else the file's own with two names in each other's place, or with a name more or
    less, as far to the right as will do.

    "" where none does. That one column alone would fit elsewhere is no sign that cells are shifted.
    """
    named = nearest_known(rows, expected, known)
    if named:
        return f"the cells fit the header of {named}: {','.join(known[named])}"
    pairs = swapped_names(header, rows, expected)
    if len(pairs) == 1:
        return "the names {} and {} have changed places".format(*pairs[0])
    for number, column in reversed(list(enumerate(header))):
        if (
            tested(header[number:-1], expected) > 1
            and find_misfit([*header[:number], "", *header[number:-1]], rows, expected) is None
        ):
            return f"from {column} on the cells stand one column too far to the right: the header lacks a name before {column}"
        if (
            tested(header[number + 1 :], expected) > 1
            and find_misfit([*header[:number], *header[number + 1 :], ""], rows, expected) is None
        ):
            return f"from {column} on the cells stand one column too far to the left: the rows have no {column}"
    return ""


def swapped_names(
    header: Sequence[str], rows: Sequence[Sequence[str]], expected: Sequence[Expectation]
) -> list[tuple[str, str]]:
    """Pairs with the name that does not fit, such that all cells would fit under the other's name."""
    misfit = find_misfit(header, rows, expected)
    if misfit is None:
        return []
    first = next(number for number, name in enumerate(header) if name.casefold() == misfit.column.casefold())
    found = []
    for number, name in enumerate(header):
        other = {first: name, number: header[first]}
        changed = [other.get(place, own) for place, own in enumerate(header)]
        if number != first and tested([name], expected) and find_misfit(changed, rows, expected) is None:
            found.append((header[first], name))
    return found


def tested(columns: Sequence[str], expected: Sequence[Expectation]) -> int:
    """How many of these columns something is expected of."""
    names = {column.casefold() for column in columns}
    return len({one.column.casefold() for one in expected} & names)


def nearest_known(
    rows: Sequence[Sequence[str]], expected: Sequence[Expectation], known: Mapping[str, Sequence[str]]
) -> str:
    """What has a header under which every column of these rows is what it is called; "" where none fits."""
    widths = {len(row) for row in rows}
    fitting = (
        title
        for title, names in known.items()
        if widths == {len(names)} and find_misfit(names, rows, expected, fewest=1) is None
    )
    return next(fitting, "")
