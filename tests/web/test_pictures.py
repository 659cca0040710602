"""The pictures of README and docs are of pages that exist, and light enough to be looked at."""

import re
from urllib.parse import quote

import pytest

from apportion.policy.load import load_policy
from apportion.web.pages import ROUTES
from tests.pictures import CHANGE, IMAGES, LARGEST, PICTURES, ROOT, WIDEST, Picture
from tests.web import examples
from tests.web.conftest import Clients

SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]+\.png)\)")
OF_SMALL = {"pool=l40s": "pool=gpus"}  # what the demo has and the small organisation does not


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: one.name)
def test_its_page_is_there(one: Picture, clients: Clients) -> None:
    assert one.path in {route.path for route in ROUTES}
    query = one.query
    for theirs, ours in OF_SMALL.items():
        query = query.replace(theirs, ours)
    path = one.path.format_map({name: quote(examples.OWN[name]) for name in one.names})
    answer = clients("admin").get(f"{path}?{query}")
    assert answer.status_code == 200
    assert "cannot be computed" not in answer.text


def test_every_picture_is_made_and_shown_and_every_one_shown_is_made() -> None:
    files = {file.name for file in IMAGES.iterdir()}
    assert files == {one.file.name for one in PICTURES}
    shown = {}
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for words, place in SHOWN.findall(page.read_text("utf-8")):
            assert (page.parent / place).resolve().is_file(), f"{page.name} shows {place}, which is not there"
            assert len(words.split()) > 4, f"{page.name} does not say what {place} shows"
            shown[(page.parent / place).name] = page
    assert files == shown.keys()


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: one.name)
def test_it_is_small(one: Picture) -> None:
    data = one.file.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < LARGEST
    width, height = (int.from_bytes(data[start : start + 4], "big") for start in (16, 20))
    assert (width, height) == one.size
    assert width <= WIDEST


def test_the_demo_still_has_what_the_pictures_ask_for() -> None:
    policy = load_policy((ROOT / "src/apportion/sources/demo/policy.yaml").read_text("utf-8"))
    assert CHANGE[0] in policy.text
    for one in PICTURES:
        assert one.names.get("team", "vision") in policy.teams
        assert one.names.get("pool", "l40s") in policy.pools
