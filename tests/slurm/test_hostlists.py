"""Lists of nodes: as Slurm's own command expands them, and as any program would that is asked to."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.sources.slurm.hostlists import MOST, nodes_of

RECORDED = Path(__file__).parents[2] / ".." / "shared" / "data" / "slurm" / "hostlists" / "hostlists.tsv"
LATER = {  # what 22.05 calls invalid and 26.05 expands
    "n[1-3]-ib": "n1-ib,n2-ib,n3-ib",
    "p[1-2,4]q": "p1q,p2q,p4q",
    "x[0-1]c[0-1]s[0-1]b0n0": ",".join(f"x{x}c{c}s{s}b0n0" for x in (0, 1) for c in (0, 1) for s in (0, 1)),
}


def test_lists_that_scontrol_expanded() -> None:
    if not RECORDED.exists():
        pytest.skip("no ../shared/data/slurm beside this checkout")
    checked = 0
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        text, expanded = line.split("\t")[:2]
        if text == "None assigned":
            assert nodes_of(text) == ()
        elif "Invalid" in expanded and text not in LATER:
            with pytest.raises(InputError) as refused:
                nodes_of(text)
            assert refused.value.code == "invalid-nodes"
        else:
            assert ",".join(nodes_of(text)) == LATER.get(text, expanded)
        checked += 1
    assert checked == 18


WORDS = st.text("abcdefghijklmnop-", min_size=1, max_size=6).filter(lambda word: not word.startswith("-"))


@st.composite
def ranges(draw: st.DrawFn) -> tuple[str, list[str]]:
    """One bracket and the numbers in it."""
    texts, numbers = [], []
    for _ in range(draw(st.integers(1, 3))):
        width, first = draw(st.integers(1, 5)), draw(st.integers(0, 900))
        count = draw(st.integers(1, 12))
        low = str(first).rjust(width, "0")
        texts.append(low if count == 1 else f"{low}-{str(first + count - 1).rjust(len(low), '0')}")
        numbers += [str(number).rjust(len(low), "0") for number in range(first, first + count)]
    return f"[{','.join(texts)}]", numbers


@given(
    st.lists(
        st.tuples(WORDS, st.lists(st.tuples(ranges(), st.one_of(st.just(""), WORDS)), max_size=2)),
        min_size=1,
        max_size=4,
    )
)
def test_any_list_is_what_its_parts_say(hosts: list[tuple[str, list[tuple[tuple[str, list[str]], str]]]]) -> None:
    texts, names = [], []
    for prefix, dimensions in hosts:
        own, text = [prefix], prefix
        for (bracket, numbers), suffix in dimensions:
            own = [before + number + suffix for before in own for number in numbers]
            text += bracket + suffix
        texts.append(text)
        names += own
    assert nodes_of(",".join(texts)) == tuple(names)


@pytest.mark.parametrize(
    "text",
    [
        "n[1-",
        "n1]",
        "n[3-1]",
        "n[]",
        "n[a-b]",
        ",n1",
        "n1,,n2",
        "n[1-2][",
        "a b",
        "n[1-999999999]",
        "n[0-999][0-999][0-9]",
    ],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        nodes_of(text)
    assert refused.value.code == "invalid-nodes"


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    try:
        names = nodes_of(text)
    except InputError:
        return
    assert len(names) <= MOST
