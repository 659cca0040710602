"""Asking a server: where its API is, what is asked, what is refused, and what `check` says of it."""

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.cli.main import main
from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.live import Progress, Sign
from apportion.sources.opencost import SOURCE
from tests.opencost import answers as a
from tests.opencost.server import Fake, serving

TODAY = int(time.time()) // DAY_S * DAY_S


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving(Fake()) as found:
        yield found


def stanza(fake: Fake, **settings: Any) -> dict[str, Any]:
    return {"name": "oc", "kind": "opencost", "url": fake.url, "retries": 0, **settings}


def ask(fake: Fake, window: Interval = a.DAY, **settings: Any) -> list[Delivery]:
    found = list(SOURCE.read(stanza(fake, **settings), Path(), window))
    return [one for one in found if isinstance(one, Delivery)]


def refusal(fake: Fake, **settings: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        ask(fake, **settings)
    return caught.value


def probe(fake: Fake, **settings: Any) -> list[Sign]:
    return list(SOURCE.probe(stanza(fake, **settings), Path()))


def test_a_day_is_asked_for_whole_and_comes_as_one_delivery(fake: Fake, tmp_path: Path) -> None:
    (found,) = ask(fake)
    day = "2026-10-05T00:00:00Z,2026-10-06T00:00:00Z"
    assert [(path, params["window"]) for path, params in fake.asked] == [("/allocation", day), ("/assets", day)]
    assert found.window == a.DAY
    assert found.problems == ()
    assert {name: table.num_rows for name, table in found.tables.items()} == {
        "usage": 6, "capacity": 3, "workloads": 2, "cost_lines": 1,
    }  # fmt: skip
    pods = [a.Container("train-0"), a.Container("train-1", start=3600, end=7200)]
    (same,) = a.saved(tmp_path, a.allocations(pods, a.idle_of(a.node(), pods)), a.assets(a.node()))
    assert same.tables == found.tables, "saved or asked for, it is the same"


def test_progress_is_told_between_the_two_questions(fake: Fake) -> None:
    assert [type(one) for one in SOURCE.read(stanza(fake), Path(), a.DAY)] == [Progress, Delivery]


@pytest.mark.parametrize(
    ("prefix", "settings", "issuer"),
    [
        ("", {}, "OpenCost"),
        ("/model", {}, "Kubecost"),
        ("/model", {"flavour": "kubecost"}, "Kubecost"),
        ("", {"flavour": "kubecost"}, "Kubecost"),
        ("/model", {"below": "/model"}, "Kubecost"),
    ],
)
def test_the_api_is_found_where_it_is(prefix: str, settings: dict[str, Any], issuer: str) -> None:
    with serving(Fake(prefix)) as fake:
        own = dict(settings)
        fake.url += own.pop("below", "")
        (found,) = ask(fake, **own)
        assert [scope.issuer for scope in found.scopes] == [issuer]


def test_a_page_in_both_places_is_no_server() -> None:
    with serving(Fake("/elsewhere")) as fake:
        found = refusal(fake)
        assert found.code == "bad-response"
        assert "<!doctype html>" in found.message


def test_a_refusal_as_text_with_json_behind_it_is_told_in_its_words(fake: Fake) -> None:
    text = 'Invalid window parameter: illegal window\n{"code":400,"data":null,"message":"bad"}'
    fake.change = lambda path, _: (400, text) if path == "/allocation" else None
    assert "Invalid window parameter" in refusal(fake, flavour="opencost").message
    fake.change = lambda path, _: (200, text) if path == "/allocation" else None
    assert "Invalid window parameter" in refusal(fake, flavour="opencost").message


def test_assets_that_fail_leave_no_half_of_a_day(fake: Fake) -> None:
    fake.change = lambda path, _: (
        (500, '{"code":500,"data":null,"message":"query error"}') if path == "/assets" else None
    )
    assert "query error" in refusal(fake).message


def test_credentials(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.token = "hush-hush"
    monkeypatch.setenv("OPENCOST_TOKEN", "wrong-and-secret")
    found = refusal(fake, token="env:OPENCOST_TOKEN")
    assert found.code == "login-refused"
    assert "wrong-and-secret" not in str(found)
    monkeypatch.setenv("OPENCOST_TOKEN", "hush-hush")
    assert ask(fake, token="env:OPENCOST_TOKEN")


def test_another_window_than_was_asked_for_is_refused(fake: Fake) -> None:
    """Kubecost's days are those of its configured offset."""
    shifted = Interval(a.DAY.start_s - 5 * 3600, a.DAY.end_s - 5 * 3600)
    fake.change = lambda path, _: (200, json.dumps(a.assets(a.node(day=shifted)))) if path == "/assets" else None
    assert refusal(fake).code == "wrong-window"


def test_a_server_needs_a_url_and_a_window(fake: Fake) -> None:
    with pytest.raises(ProjectError) as caught:
        list(SOURCE.read({"name": "oc", "kind": "opencost"}, Path(), a.DAY))
    assert caught.value.code == "missing-setting"
    with pytest.raises(ProjectError) as caught:
        list(SOURCE.read(stanza(fake), Path(), None))
    assert caught.value.code == "no-period"


def test_cloud_costs_ask_for_nothing_else(fake: Fake) -> None:
    (found,) = ask(fake, report="cloudCost")
    assert [path for path, _ in fake.asked] == ["/cloudCost"]
    assert found.tables["cost_lines"]["ListCost"].to_pylist() == [3]


def test_probe_of_a_sound_server(fake: Fake) -> None:
    signs = probe(fake)
    assert [sign.status for sign in signs] == ["ok", "ok", "ok", "note"]
    assert signs[0].text.startswith("OpenCost 1.121.0 answers at 127.0.0.1:")
    assert "2 containers, 1 assets of 695.04" in signs[1].text
    assert "INGEST_POD_UID" in signs[3].fix


def test_probe_says_what_is_missing(fake: Fake) -> None:
    def spoiled(path: str, day: Interval) -> tuple[int, str] | None:
        rows: dict[str, Any] = {
            "/allocation": a.allocations([a.Container(cores=Decimal(120), day=day, more={"gpuAllocation": None})]),
            "/assets": a.assets(a.node(day=day)),
        }
        return 200, json.dumps(rows[path])

    fake.change = spoiled
    said = " ".join(sign.text for sign in probe(fake))
    assert "has no idle" in said
    assert "nobody measured their use" in said
    assert "pods add up to 2880 hours, the node has 2304" in said
    fake.change = lambda path, _: (200, '{"code":200,"data":[{}]}') if path == "/allocation" else None
    assert [sign.status for sign in probe(fake)] == ["ok", "wrong"]
    assert "no allocations for" in probe(fake)[1].text
    fake.change = lambda path, _: (200, '{"code":200,"data":{"sets":[]}}') if path == "/cloudCost" else None
    assert probe(fake, report="cloudCost")[1].status == "wrong"


def test_a_back_fill_keeps_what_it_has_and_goes_on(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = TODAY - 3 * DAY_S
    (tmp_path / "apportion.toml").write_text(
        f'[project]\nname = "x"\n[[sources]]\nname = "oc"\nkind = "opencost"\nurl = "{fake.url}"\nretries = 0\n'
        f'since = "{instant_text(first)[:10]}"\n',
        encoding="utf-8",
    )

    def ingest() -> int:
        with pytest.raises(SystemExit) as stop:
            main(["--project", str(tmp_path), "ingest"])
        return int(stop.value.code or 0)

    bad = first + 2 * DAY_S
    fake.change = lambda _, day: (500, "query error") if day.start_s == bad else None
    assert ingest() == 1
    assert "2 deliveries before it were kept" in capsys.readouterr().err
    fake.change = lambda _path, _window: None
    fake.asked.clear()
    assert ingest() == 0
    asked = sorted({params["window"][:10] for path, params in fake.asked if path == "/assets"})
    assert asked == [instant_text(first + n * DAY_S)[:10] for n in range(3)], (
        "two days are read once more for late data"
    )
    fake.asked.clear()
    assert ingest() == 0
    assert fake.asked == [], "what is there is not asked for again on the same day"


def test_check_says_what_the_server_is_and_what_it_lacks(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "apportion.toml").write_text(
        f'[project]\nname = "x"\n[[sources]]\nname = "oc"\nkind = "opencost"\nurl = "{fake.url}"\nretries = 0\n',
        encoding="utf-8",
    )
    with pytest.raises(SystemExit):
        main(["--project", str(tmp_path), "check", "-o", "json"])
    said = capsys.readouterr().out
    assert "OpenCost 1.121.0 answers at 127.0.0.1" in said
    assert "INGEST_POD_UID" in said
