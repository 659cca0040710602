"""Trackable and generic resources, and a total over nodes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.model.gpus import Board
from apportion.sources.slurm.nodes import Node, node_of
from apportion.sources.slurm.spread import gpu_shares, spread
from apportion.sources.slurm.tres import Tres, gres_of, memory_of, tres_of

COUNTS = st.integers(0, 4096)
MODELS = st.sampled_from(["a100", "h100", "nvidia_h200", "mi300x"])


@given(COUNTS, COUNTS, st.dictionaries(MODELS, st.integers(1, 64), max_size=3), st.integers(0, 8), st.randoms())
def test_gpus_are_counted_once(cores: int, memory: int, typed: dict[str, int], untyped: int, dice: object) -> None:
    """`gres/gpu` repeats what the types say; what it has beyond them has no type."""
    total = sum(typed.values()) + untyped
    entries = [
        f"cpu={cores}",
        f"mem={memory}M",
        f"gres/gpu={total}",
        "node=1",
        "billing=7",
        *(f"gres/gpu:{name}={count}" for name, count in typed.items()),
    ]
    dice.shuffle(entries)  # type: ignore[attr-defined]  # Hypothesis gives a Random
    found = tres_of(",".join(entries))
    assert found.boards == total
    assert {name: int(count) for name, count in found.gpus if name} == typed
    assert found.cpus == cores
    assert (found.memory, found.billing) == (memory * 2**20, "7")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32768M", 2**35),
        ("62.50G", 125 * 2**29),
        ("4250G", 4250 * 2**30),
        ("1T", 2**40),
        ("512K", 2**19),
        ("0", 0),
        ("65536Mn", 2**36),
    ],
)
def test_memory(text: str, size: int) -> None:
    assert memory_of(text) == size


@pytest.mark.parametrize("text", ["cpu", "cpu=x", "cpu=-1", "mem=1X", "gres/gpu=NaN", "cpu=1e999999999"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        tres_of(text)


@pytest.mark.parametrize(
    ("text", "boards"),
    [("gpu:a100:8(S:0-1)", 8), ("gpu:4", 4), ("(null)", 0), ("", 0), ("gpu:a100:2,gpu:h100:2,craynetwork:4", 4), ("gpu:1g.5gb:7(S:0)", 1)],
)  # fmt: skip
def test_devices_of_a_node(text: str, boards: int) -> None:
    assert gres_of(text).boards == boards


@given(st.integers(0, 10**6), st.lists(st.one_of(st.none(), st.integers(0, 1000)), min_size=1, max_size=20))
def test_shares_add_up_and_stay_within_bounds(total: int, most: list[int | None]) -> None:
    shares = spread(total, most)
    assert sum(shares) == total
    assert min(shares) >= 0
    room = None if None in most else sum(bound or 0 for bound in most)
    if room is None or total <= room:
        assert all(bound is None or share <= bound for share, bound in zip(shares, most, strict=True))
    free = [share for share, bound in zip(shares, most, strict=True) if bound is None]
    assert not free or max(free) - min(free) <= 1


@given(st.lists(st.integers(1, 16), min_size=1, max_size=8))
def test_whole_nodes_get_what_they_have(boards: list[int]) -> None:
    nodes: list[Node | None] = [
        node_of(f"n{number}", "", f"gpu:a100:{count}", ("8", "1000"), ()) for number, count in enumerate(boards)
    ]
    held = Tres(gpus=(("a100", Fraction(sum(boards))),))
    assert gpu_shares(held, nodes, Board(), 1) == boards


def test_gpus_go_to_the_nodes_that_have_them() -> None:
    nodes: list[Node | None] = [
        node_of("c", "", "", ("8", "1"), ()),
        node_of("a", "", "gpu:a100:4", ("8", "1"), ()),
        node_of("h", "", "gpu:h100:4", ("8", "1"), ()),
    ]
    held = tres_of("gres/gpu=3,gres/gpu:a100=1,gres/gpu:h100=2")
    assert gpu_shares(held, nodes, Board(), 1) == [0, 1, 2]


def test_parts_of_boards() -> None:
    """Shards are as many to a board as the node says; without a node that is known, the stanza must say."""
    node = node_of("n", "", "gpu:a100:4,shard:a100:16", ("8", "1"), ())
    assert gpu_shares(tres_of("gres/shard=2"), [node], Board(), 504_000) == [252_000]
    assert gpu_shares(tres_of("gres/mps=50"), [node], Board(), 504_000) == [252_000]
    assert gpu_shares(tres_of("gres/shard=2"), [None], Board(shards=8), 504_000) == [126_000]
    with pytest.raises(InputError) as refused:
        gpu_shares(tres_of("gres/shard=2"), [None], Board(), 504_000)
    assert refused.value.code == "unknown-share"


def test_instances_of_boards() -> None:
    node = node_of("n", "", "gpu:1g.5gb:14", ("8", "1"), ())
    assert gpu_shares(tres_of("gres/gpu:1g.5gb=2,gres/gpu=2"), [node], Board(), 504_000) == [144_000]
    assert gpu_shares(tres_of("gres/gpu=2"), [node], Board(), 504_000) == [144_000], (
        "untyped, on a node of nothing else"
    )
