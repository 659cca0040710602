"""One server for all: each world, and each way of writing its labels, is a cluster of its own in it."""

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.prometheus.exposition import series, write_text
from tests.prometheus.server import backfill, cannot_start, served
from tests.prometheus.world import World, make_world

SEEDS = (20261115, int(os.environ.get("APPORTION_SEED", "0")) or random.SystemRandom().randrange(2**32))
STYLES = ("exported", "old")


@pytest.fixture(scope="session", params=SEEDS, ids=lambda seed: f"seed-{seed}")
def world(request: pytest.FixtureRequest) -> World:
    return make_world(request.param)


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if reason := cannot_start():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("prometheus")
    for seed in SEEDS:
        add(folder, make_world(seed))
    for style in STYLES:
        add(folder, replace(make_world(SEEDS[0]), cluster=style), style)
    with served(folder / "data") as address:
        yield address


def add(folder: Path, made: World, style: str = "plain") -> None:
    text = folder / "world.om"
    with text.open("w", encoding="utf-8") as out:
        write_text(out, series(made, style))
        out.write("# EOF\n")
    backfill(text, folder / "data")
