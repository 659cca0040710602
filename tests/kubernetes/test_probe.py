"""What `apportion check` says of a cluster."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from apportion.sources.kubernetes import SOURCE
from apportion.sources.kubernetes.objects import KINDS
from apportion.sources.kubernetes.rbac import cluster_role
from apportion.sources.live import Sign
from tests.kubernetes.objects import node, pod
from tests.kubernetes.reading import stanza
from tests.kubernetes.server import TOKEN, Recorded, serving

ROOT = Path(__file__).resolve().parents[2]


def look(recorded: Recorded, **more: Any) -> list[Sign]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_TOKEN", TOKEN)
        return list(SOURCE.probe(stanza(recorded, **more), Path()))


def test_a_sound_cluster() -> None:
    with serving([node(), pod("a")], now_s=int(time.time())) as recorded:
        signs = look(recorded)
    assert [sign.status for sign in signs] == ["ok", "ok", "ok", "note"]
    assert "v1.34.1" in signs[0].text
    assert "system:serviceaccount:apportion:reader" in signs[1].text
    assert "kueue.x-k8s.io" in signs[-1].text


def test_what_is_missing_comes_with_the_rule_to_add() -> None:
    with serving([], now_s=int(time.time()), denied={"pods", "nodes", "rayjobs"}) as recorded:
        wrong = [sign for sign in look(recorded) if sign.fix]
    assert [sign.status for sign in wrong] == ["wrong", "note"]
    assert '{apiGroups: [""], resources: [nodes, pods], verbs: [list]}' in wrong[0].fix
    assert '{apiGroups: ["ray.io"], resources: [rayjobs], verbs: [list]}' in wrong[1].fix


def test_a_clock_that_is_off_is_told() -> None:
    with serving([], now_s=int(time.time()) - 3600) as recorded:
        assert any("behind" in sign.text and sign.status == "wrong" for sign in look(recorded))


def test_no_kueue_no_reservations() -> None:
    with serving([], now_s=int(time.time()), absent={"kueue.x-k8s.io"}) as recorded:
        assert any("Kueue is not installed" in sign.text for sign in look(recorded))


def test_a_server_that_is_not_there_is_a_sign_and_no_error() -> None:
    (sign,) = SOURCE.probe({"name": "it", "cluster": "c", "url": "http://127.0.0.1:1", "retries": 0}, Path())
    assert (sign.status, "cannot be reached" in sign.text) == ("wrong", True)


def test_saved_objects(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text('{"kind":"List","apiVersion":"v1","items":[]}', encoding="utf-8")
    (sign,) = SOURCE.probe({"name": "it", "cluster": "c", "path": "nodes.json"}, tmp_path)
    assert sign.status == "wrong"


def test_the_how_to_grants_exactly_what_is_asked() -> None:
    page = (ROOT / "docs/how-to/read-kubernetes-objects.md").read_text(encoding="utf-8")
    assert cluster_role() in page
    assert set(re.findall(r"verbs: \[([^]]*)\]", cluster_role())) == {"list"}
    assert all(kind.plural in cluster_role() for kind in KINDS)
