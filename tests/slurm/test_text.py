"""Records of sacct: names that hold what stands between fields, and lines that go on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.sources.slurm import sacct_text
from apportion.sources.slurm.sacct_text import Text

FIELDS = ("JobIDRaw", "State", "Submit", "Start", "End", "AllocTRES", "JobName", "Comment", "JobIDRaw")
HOSTILE = st.text(st.sampled_from(list("ab1|7.\n\x1f, =\"'`\\é")), max_size=12)
JOBS = st.lists(st.tuples(st.integers(1, 10**9), HOSTILE, HOSTILE), min_size=1, max_size=12)


def lines(jobs: list[tuple[int, str, str]], delimiter: str, fields: tuple[str, ...] = FIELDS) -> str:
    rows = [
        (job, "COMPLETED", 1_791_158_400, 1_791_158_401, 1_791_158_500, "cpu=1", name, comment, job)
        for job, name, comment in jobs
    ]
    return "\n".join([delimiter.join(fields), *(delimiter.join(map(str, row[: len(fields)])) for row in rows)])


def read(text: str, parts: int = 1, **settings: str) -> list[tuple[str, str, str, str]]:
    found = Text("sacct", **settings)  # type: ignore[arg-type]  # words of the test
    pieces = text.split("\n")
    size = max(1, len(pieces) // parts)
    whole = ["\n".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]
    rows = [row for block in found.blocks(whole) for row in block.to_pylist()]
    assert found.malformed == []
    return [(row["jobidraw"], row["start"], row["jobname"] or "", row["comment"] or "") for row in rows]


@given(JOBS, st.integers(1, 5), st.sampled_from([30, 2**24]))
def test_no_name_forges_a_record(jobs: list[tuple[int, str, str]], parts: int, size: int) -> None:
    """With a delimiter that nobody can know, drawn for each question; however the text arrives in parts."""
    delimiter = "\x1f5eedc0ffee\x1f"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sacct_text, "PART", size)
        found = read(lines(jobs, delimiter), parts, delimiter=delimiter)
    assert found == [(str(job), "1791158401", name, comment) for job, name, comment in jobs]


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a|b", ""),
        ("a", "x|y|z"),
        ("a|b", "c|d"),
        ("line\nbreak", ""),
        ("", "one\ntwo"),
        ("|", "\n"),
        ("17 is my number", "18|19"),
    ],
)
def test_plain_delimiters_are_put_together_again(name: str, comment: str) -> None:
    """`--parsable2` with the id at the end: a record is whole when it ends with it."""
    found = read(lines([(17, name, comment), (18, "next", "")], "|"))
    assert [row[:2] for row in found] == [("17", "1791158401"), ("18", "1791158401")]
    assert "|".join(found[0][2:]) == f"{name}|{comment}"


def test_without_the_id_at_the_end_a_line_that_begins_otherwise_goes_on() -> None:
    found = read(lines([(17, "a|b", 'a|b;c,"d"\nline2'), (18, "next", "")], "|", FIELDS[:-1]))
    assert "|".join(found[0][2:]) == 'a|b|a|b;c,"d"\nline2', "which of the two names it, nobody can know"
    assert found[1] == ("18", "1791158401", "next", "")


def test_a_trailing_delimiter_and_other_line_ends() -> None:
    text = "\r\n".join(f"{line}|" for line in lines([(17, "a", "b"), (18, "c", "")], "|").split("\n"))
    assert read(text) == [("17", "1791158401", "a", "b"), ("18", "1791158401", "c", "")]


def test_a_record_that_is_cut_off_is_named_by_its_line() -> None:
    found = Text("sacct.txt")
    blocks = list(found.blocks([lines([(17, "a", "")], "|") + "\n18|COMPLETED|17"]))
    assert sum(block.num_rows for block in blocks) == 1
    assert found.malformed == [(3, "the row has 3 fields instead of 9")]


@pytest.mark.parametrize("text", ["17|COMPLETED|x", "", "JobID       State\n------- -----\n17 COMPLETED", "hello"])
def test_what_names_no_fields_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        list(Text("sacct.txt").blocks([text]))
    assert refused.value.code == "no-header"
