"""The same over the API: for those who may see all teams, and for nobody else."""

import apportion
from apportion.client.agreed import BacktestWish, PolicyWish
from apportion.render.json import portable
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import policy_text, setting_edit
from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests.web.conftest import Clients, clients_of
from tests.web.serving import serving
from tests.web.test_api_client import as_one

PATH = "/api/v1/back-test"
MONTHS = {"first": "2026-09", "last": "2026-10"}


def answered(clients: Clients, role: str, wish: dict[str, object]) -> tuple[int, dict[str, object]]:
    answer = clients(role).post(PATH, json={**MONTHS, **wish}, headers={"Sec-Fetch-Site": "same-origin"})
    return answer.status_code, answer.json()


def test_client_and_verb_say_the_same(small: Project) -> None:
    text, state = setting_edit(small, [(("pools", "gpus", "idle"), "proportional")]).text, small.books.state()
    made = portable(apportion.backtest(small, "2026-09..2026-10", Wanted({"idle": text}, ["disks=+5%"])))
    with serving(create_app(small.folder)) as address, as_one(small, address, "finance") as client:
        wish = BacktestWish(
            first="2026-09", last="2026-10", policies=[PolicyWish(name="idle", text=text)], prices=["disks=+5%"]
        )
        assert client.back_test(wish).model_dump() == made
    assert small.books.state() == state


def test_what_is_wrong_is_said(small: Project) -> None:
    clients, text = clients_of(small.folder), policy_text(small)
    same = {"name": "a", "text": text}
    wrong: tuple[tuple[dict[str, object], int, str], ...] = (
        ({}, 422, "nothing-asked"),
        ({"policies": [same, same]}, 422, "same-name"),
        ({"policies": [{"name": "a", "text": "policy: ["}]}, 422, "policy-yaml"),
        ({"policies": [same], "first": "2026-11"}, 422, "invalid-period"),
        ({"policies": [same], "first": "2026-08"}, 404, "nothing-posted"),
    )
    for wish, status, code in wrong:
        told = answered(clients, "finance", wish)
        assert (told[0], told[1]["code"]) == (status, code)
    for role in ("lead", "viewer", "nobody"):
        assert answered(clients, role, {"policies": [same]})[0] == 403
