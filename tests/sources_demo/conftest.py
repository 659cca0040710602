from pathlib import Path

import pyarrow as pa
import pytest

from apportion.model.delivery import Delivery
from apportion.sources.demo import Demo, make_demo, read

SCALE = "0.1"


@pytest.fixture(scope="session")
def demo() -> Demo:
    return make_demo(scale=SCALE)


@pytest.fixture(scope="session")
def deliveries() -> list[Delivery]:
    return list(read({"name": "demo", "kind": "demo", "scale": SCALE}, Path(), None))


@pytest.fixture(scope="session")
def evidence(deliveries: list[Delivery]) -> dict[str, pa.Table]:
    return dict(deliveries[0].tables)
