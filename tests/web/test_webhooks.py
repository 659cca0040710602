"""The page of webhooks: for admins alone, and a secret is shown once."""

import re
from pathlib import Path

import apportion
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of

HERE = "/admin/webhooks"


def token(text: str) -> str:
    return str(re.findall(r'name="csrf" value="([^"]+)"', text)[-1])


def test_a_hook_is_added_its_secret_shown_once_and_ended(small: Project, tmp_path: Path) -> None:
    folder = world.copied(small, tmp_path / "mine").folder
    with (folder / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write("\n[webhooks]\nallow_private = true\n")
    client = clients_of(folder)("admin")
    form = {
        "csrf": token(client.get(HERE).text),
        "what": "add",
        "url": "http://127.0.0.1:9/private-path",
        "teams": "vision",
    }
    shown = client.post(HERE, data=form)
    books = apportion.open_project(folder).books
    [hook] = books.hooks.all()
    secret = books.hooks.secret_of(hook.id)
    assert secret in shown.text
    again = client.get(HERE).text + client.get(HERE + ".json").text
    assert hook.id in again
    assert secret not in again
    assert "private-path" not in again
    assert [note.who for note in books.audit() if note.what == "webhook"] == ["root"]
    tried = client.post(HERE, data={"csrf": form["csrf"], "what": "test", "id": hook.id})
    assert "cannot be reached" in tried.text
    client.post(HERE, data={"csrf": form["csrf"], "what": "end", "id": hook.id})
    assert not books.hooks.all()[0].is_live


def test_whoever_is_no_admin_sees_and_does_nothing(clients: Clients, small: Project) -> None:
    for role in ("viewer", "lead", "finance"):
        client = clients(role)
        assert client.get(HERE).status_code == 403
        form = {"csrf": token(client.get("/").text), "what": "add", "url": "https://example.com/"}
        assert client.post(HERE, data=form).status_code == 403
    assert clients("admin").post(HERE, data={"what": "add", "url": "https://example.com/"}).status_code == 403
    assert small.books.hooks.all() == []
