"""The page tells the tally, all of it and nothing else."""

from tests.checked import page, tally


def test_the_page_is_made_of_the_tally() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run `make docs`"


def test_every_suite_is_told_of_and_every_miss_has_its_reason() -> None:
    kept = tally.read()
    assert {suite.name for suite in page.SUITES} == set(kept)
    assert [one for outcomes in kept.values() for one in outcomes if one.verdict != "equal" and not one.why] == []
    assert all(0 <= one.equal <= one.compared for outcomes in kept.values() for one in outcomes)
