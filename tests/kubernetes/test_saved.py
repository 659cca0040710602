"""Objects that kubectl saved give what the API itself gave."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.kubernetes import SOURCE
from tests.kubernetes.objects import AT, AT_S, HOUR_S, Object, claim, devices, gpu, made, namespace, node, pod, result
from tests.kubernetes.reading import LAST_HOUR, one
from tests.kubernetes.server import serving


def world() -> list[Object]:
    job = made("batch/v1", "Job", "j", "vision")
    user = pod(
        "a", owner=job, requests={"cpu": "2"}, spec={"resourceClaims": [{"name": "g", "resourceClaimName": "one"}]}
    )
    return [
        node(),
        namespace("vision", team="v"),
        job,
        user,
        claim("one", [result("gpu-0")], [user]),
        devices("node-1", 1, gpu(0)),
    ]


def save(file: Path, objects: Iterable[Object]) -> None:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")


def read(folder: Path, window: Interval | None = None, **more: Any) -> list[Delivery]:
    found = SOURCE.read({"name": "it", "kind": "kubernetes", "cluster": "c", "path": ".", **more}, folder, window)
    return [each for each in found if isinstance(each, Delivery)]


def test_saved_and_asked_are_the_same(tmp_path: Path) -> None:
    save(tmp_path / "a.json", world()[:3])
    save(tmp_path / "b.json", world()[3:])
    (saved,) = read(tmp_path, LAST_HOUR, usage=True)
    with serving(world()) as recorded:
        asked = one(recorded, usage=True)
    assert {name: table.to_pylist() for name, table in saved.tables.items()} == {
        name: table.to_pylist() for name, table in asked.tables.items()
    }
    assert [file.rows for file in saved.files] == [3, 3]


def test_the_newest_time_in_the_objects_is_the_moment(tmp_path: Path) -> None:
    save(tmp_path / "a.json", world())
    (found,) = read(tmp_path)
    assert found.window == Interval(AT_S - 2 * HOUR_S, AT_S)
    (later,) = read(tmp_path, as_of="2026-11-03T13:00:00Z", reach_hours=3)
    assert later.window == Interval(AT_S - 2 * HOUR_S, AT_S + HOUR_S)
    assert read(tmp_path, Interval(AT_S - 9 * HOUR_S, AT_S - 8 * HOUR_S)) == []


def test_a_typed_list_and_a_single_object_are_read(tmp_path: Path) -> None:
    items = [
        {key: value for key, value in each.items() if key not in ("kind", "apiVersion")}
        for each in (pod("a"), pod("b"))
    ]
    (tmp_path / "pods.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items}), encoding="utf-8"
    )
    (tmp_path / "node.json").write_text(json.dumps(node()), encoding="utf-8")
    (found,) = read(tmp_path, capacity=True)
    assert (found.tables["workloads"].num_rows, found.tables["capacity"].num_rows) == (2, 4)


def test_the_later_file_has_the_last_word(tmp_path: Path) -> None:
    save(tmp_path / "1.json", [node(), pod("a")])
    save(tmp_path / "2.json", [pod("a", end=AT_S - 60)])
    (found,) = read(tmp_path)
    assert found.tables["workloads"]["outcome"].to_pylist() == ["completed"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"items": []}', '{"kind": "List", "items": [7]}', "\xff"])
def test_what_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as told:
        read(tmp_path)
    assert told.value.code == "corrupt-file"


def test_an_empty_list_says_nothing(tmp_path: Path) -> None:
    save(tmp_path / "a.json", [])
    with pytest.raises(InputError) as told:
        read(tmp_path)
    assert told.value.code == "no-rows"
    assert AT
