"""project-koku/koku: figures of its documentation about boards cut into slices."""

from tests.checked import koku
from tests.checked.conftest import Keep


def test_koku(keep: Keep) -> None:
    keep("koku", koku.outcomes())
