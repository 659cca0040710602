"""Parts of a GPU as schedulers write them: exact fractions of a board, or refused."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.model.gpus import PARTS, Board, gpus_of
from apportion.model.meters import GPU
from apportion.sources.cells.amounts import amounts
from apportion.sources.cells.gpus import gpus
from tests.sources import making

BOARD = Board(replicas=4, shards=8, memory=81920)
LAYOUTS = {  # boards cut up in full, as NVIDIA's guide draws them; where memory ran out first, slices are left
    1: ["7x1g.5gb", "3x2g.10gb,1g.5gb", "4g.20gb,3g.20gb", "2g.10gb,3g.20gb,2x1g.5gb", "7g.80gb", "4x1g.6gb", "2x2g.12gb", "4g.24gb"],
    Fraction(6, 7): ["2x3g.20gb", "3x2g.10gb"],
    Fraction(4, 7): ["4x1g.10gb", "4x1g.20gb+me"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2", 2), ("0.25", Fraction(1, 4)), ("1/3", Fraction(1, 3)), (" 25 % ", Fraction(1, 4)), ("1e-1", Fraction(1, 10)),
        ("3g.20gb", Fraction(3, 7)), ("MIG 3g.40gb", Fraction(3, 7)), ("nvidia.com/mig-3g.20gb", Fraction(3, 7)), ("MIG 1g.10gb+me", Fraction(1, 7)),
        ("nvidia.com/mig-1g.10gb.me=2", Fraction(2, 7)), ("nvidia_com_mig_3g_40gb", Fraction(3, 7)), ("MIG2g", Fraction(2, 7)), ("2 x 1g.5gb", Fraction(2, 7)),
        ("MIG 1c.3g.20gb", Fraction(1, 7)), ("1g.6gb", Fraction(1, 4)), ("4g.96gb", 1), ("gpu:a100_1g.5gb:2(IDX:0-1)", Fraction(2, 7)),
        ("nvidia.com/gpu=2", 2), ("amd.com/gpu: 3", 3), ("gres/gpu=2", 2), ("gres/gpu=2,gres/gpu:a100=2", 2),
        ("gres/gpu=3,gres/gpu:a100_3g.20gb=2", 1 + Fraction(6, 7)),
        ("nvidia.com/gpu.shared=1", Fraction(1, 4)), ("nvidia.com/gpu.shared: 2", Fraction(1, 2)), ("nvidia.com/mig-3g.20gb.shared", Fraction(3, 28)),
        ("gres/shard=3", Fraction(3, 8)), ("shard:a100:3", Fraction(3, 8)), ("gres/mps=50", Fraction(1, 2)), ("gpu-fraction=0.25", Fraction(1, 4)),
        ("nvidia.com/gpu=1,nvidia.com/gpucores=30", Fraction(3, 10)), ("nvidia.com/gpu=2,nvidia.com/gpumem-percentage=50,nvidia.com/gpucores=30", 1),
        ("billing=40,cpu=8,energy=12,gres/gpu=3,gres/gpu:a100=3,license/abaqus=2,mem=64G,node=1", 3), ("cpu=8,gres/gpu:a100=1,gres/gpu:h100=2", 3),
        ("cpu=8,mem=64G,node=1", 0), ("cpu=8, gres/shard=2, fs/lustre=4K", Fraction(1, 4)),
        ("nvidia.com/gpucores=30,nvidia.com/gpumem=20480", Fraction(3, 10)),
    ],
)  # fmt: skip
def test_a_part_is_an_exact_fraction(text: str, expected: Fraction) -> None:
    assert gpus_of(text, BOARD) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1g.24gb", "unknown-share"), ("2g.48gb", "unknown-share"), ("nvidia.com/gpu.shared", "unknown-share"), ("gres/shard=1", "unknown-share"),
        ("nvidia.com/gpumem=100", "unknown-share"), ("8g.80gb", "invalid-number"), ("4c.3g.20gb", "invalid-number"), ("3g.20gb=-1", "invalid-number"),
        ("3g.20gb,3g.20gb", "invalid-number"), ("3g.20gb spare", "invalid-number"), ("x3g.20gb", "invalid-number"), ("cpu=4", "invalid-number"),
        (",", "invalid-number"), ("cpu=4,gres/craynetwork=1", "invalid-number"), ("cpu=4,cores=2", "invalid-number"),
        ("2x3g.20gb=2", "invalid-number"), ("nan", "invalid-number"), ("", "invalid-number"), ("1/0", "invalid-number"), ("gpu" * 100, "invalid-number"),
    ],
)  # fmt: skip
def test_what_says_no_size_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        gpus_of(text)
    assert refused.value.code == code


@pytest.mark.parametrize(("whole", "layout"), [(whole, layout) for whole, texts in LAYOUTS.items() for layout in texts])
def test_the_slices_of_a_board_are_at_most_the_board(whole: Fraction, layout: str) -> None:
    assert gpus_of(layout) == whole


def test_a_stated_board_settles_what_the_name_leaves_open() -> None:
    assert [gpus_of("1g.24gb", Board(slices=slices)) for slices in (7, 4, 2)] == [
        Fraction(1, 7), Fraction(1, 4), Fraction(1, 2),
    ]  # fmt: skip


@given(scheme=st.sampled_from(PARTS), parts=st.integers(1, 200), taken=st.integers(0, 200))
def test_counted_parts(scheme: str, parts: int, taken: int) -> None:
    board = Board(**{scheme: parts})
    found = gpus(pa.array([str(taken)]), GPU * board.part(scheme), board)
    assert found.values.to_pylist() == [round(Fraction(taken, parts) * GPU)]


@given(
    st.lists(st.one_of(st.integers(0, 64).map(str), st.decimals(0, 8, places=3).map(str), st.just("1/3")), min_size=1)
)
def test_numbers_are_read_as_everywhere(cells: list[str]) -> None:
    column = pa.array(cells)
    assert gpus(column, Fraction(GPU), Board()).values.equals(amounts(column, GPU).values)


@given(st.text(alphabet="0123456789gbcmigxpu/.,=:+- %sharde", max_size=30))
def test_whatever_stands_there_is_a_fraction_or_refused(text: str) -> None:
    found = gpus(pa.array([text]), Fraction(GPU), BOARD)
    assert set(found.bad.values()) <= {"invalid-number", "negative-amount", "unknown-share", "too-many-digits"}
    assert found.values.null_count == len(found.bad)


def test_a_log_may_mix_them_and_bad_ones_are_listed(tmp_path: Path) -> None:
    log = making.log_text(
        {"gpus": "nvidia.com/mig-2g.10gb"}, {"job": "18", "gpus": "0.5"}, {"job": "19", "gpus": "1g.24gb"}
    )
    found = making.read_log(tmp_path, log)
    assert found.tables["usage"]["allocated"].to_pylist() == [GPU * 2 // 7, GPU // 2]
    assert [(problem.code, problem.message) for problem in found.problems] == [
        (
            "unknown-share",
            "gpus '1g.24gb' is a part of a GPU whose size nobody said (set sharing); this amount is left out",
        )
    ]


def test_replicas_without_a_name_of_their_own(tmp_path: Path) -> None:
    making.put(tmp_path / "log.csv", making.log_text({"gpus": "1"}, {"job": "18", "gpus": "3"}))
    sharing = {"units": {"gpu": "replicas"}, "sharing": {"replicas": 4}}
    (found,) = making.read("usage", tmp_path, path="log.csv", **making.STANZA, **sharing)
    assert found.tables["usage"]["allocated"].to_pylist() == [GPU // 4, GPU * 3 // 4]
