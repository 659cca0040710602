"""[web] of apportion.toml: read strictly, with the line of what is wrong."""

from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.verbs.settings import read_settings
from apportion.verbs.web_settings import LOGINS, ROLES, Web
from apportion.web.viewer import MAY, Role

WHOLE = """\
[web]
address = "https://costs.example/"
login = "oidc"
session_hours = 8
requests_per_minute = 100
body_bytes = 2048

[web.oidc]
issuer = "https://login.example/realms/one/"
client_id = "apportion"
client_secret = "env:NOT_SET_ANYWHERE"
groups_claim = "roles"
name_claim = "email"
scopes = ["openid", "roles"]
ca_file = "ca.pem"

[web.proxy]
trusted = ["10.0.0.0/8", "::1"]

[web.groups]
ml = { role = "lead", teams = ["vision", "speech"] }

[web.groups."/finance team"]
role = "finance"
"""


def web_of(tmp_path: Path, text: str) -> Web:
    file = tmp_path / "apportion.toml"
    file.write_text(text, "utf-8")
    return read_settings(file).web


def test_everything_that_can_be_set(tmp_path: Path) -> None:
    web = web_of(tmp_path, WHOLE)
    assert (web.address, web.login, web.session_hours, web.requests_per_minute, web.body_bytes) == (
        "https://costs.example",
        "oidc",
        8,
        100,
        2048,
    )
    assert web.oidc
    assert (web.oidc.issuer, web.oidc.client_id) == (
        "https://login.example/realms/one/",
        "apportion",
    )  # an issuer is compared letter by letter
    assert (web.oidc.groups_claim, web.oidc.name_claim, web.oidc.scopes) == ("roles", "email", ("openid", "roles"))
    assert [web.proxy.trusts(address) for address in ("10.1.2.3", "::ffff:10.1.2.3", "::1", "11.0.0.1", "", "x")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_without_a_section_people_come_by_links(tmp_path: Path) -> None:
    assert web_of(tmp_path, "") == Web()
    assert Web().login == "link"


@pytest.mark.parametrize(
    ("groups", "role", "teams"),
    [
        ([], "viewer", frozenset()),
        (["unknown"], "viewer", frozenset()),
        (["ml"], "lead", frozenset({"vision", "speech"})),
        (["ml", "/finance team"], "finance", frozenset({"vision", "speech"})),
    ],
)
def test_groups_add_up(tmp_path: Path, groups: list[str], role: str, teams: frozenset[str]) -> None:
    found = web_of(tmp_path, WHOLE).rights(groups)
    assert (found.role, found.teams) == (role, teams)


def test_roles_are_those_of_the_pages_and_each_may_more() -> None:
    assert tuple(Role) == ROLES
    assert all(MAY[one] < MAY[more] for one, more in zip(tuple(Role), tuple(Role)[1:], strict=False))
    assert LOGINS[0] == "link"


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ('login = "oidc"', 'login = "oid"', "invalid-setting", (3, "did you mean 'oidc'?")),
        ("session_hours = 8", "session_hours = 0", "invalid-setting", (4, "from 1 to 720")),
        ("session_hours = 8", 'session_hours = "8"', "wrong-kind", (4, "a whole number")),
        ("body_bytes", "body_byte", "unknown-key", (6, "did you mean 'body_bytes'?")),
        ("https://costs.example/", "http://costs.example", "invalid-setting", (2, "https://")),
        ("https://costs.example/", "https://costs.example/path", "invalid-setting", (2, "https://")),
        ("https://costs.example/", "https://me:word@costs.example", "invalid-setting", (2, "https://")),
        ("https://costs.example/", "costs.example", "invalid-setting", (2, "https://")),
        ("https://login.example", "http://login.example", "invalid-setting", (9, "issuer")),
        ('client_id = "apportion"\n', "", "invalid-setting", (8, "client_id")),
        ("env:NOT_SET_ANYWHERE", "swordfish", "secret-in-settings", (11, "env:NAME")),
        ('["openid", "roles"]', '["roles"]', "invalid-setting", (14, "openid")),
        ('["openid", "roles"]', "[7]", "invalid-setting", (14, "list")),
        ('["openid", "roles"]', '"openid"', "wrong-kind", (14, "a list")),
        ('"::1"', '"localhost"', "invalid-setting", (18, "no address")),
        ('role = "lead"', 'role = "leader"', "invalid-setting", (21, "did you mean 'lead'?")),
        ('teams = ["vision", "speech"]', "team = []", "unknown-key", (21, "did you mean 'teams'?")),
        ('{ role = "lead", teams = ["vision", "speech"] }', '"lead"', "wrong-kind", (21, "a table")),
        ('role = "finance"', 'rule = "finance"', "unknown-key", (24, "did you mean 'role'?")),
        ("[web.oidc]", "[web.odic]", "unknown-key", (8, "did you mean 'oidc'?")),
        ('login = "oidc"', 'login = "proxy"', "", (0, "")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, old: str, new: str, code: str, told: tuple[int, str]
) -> None:
    text, (line, said) = WHOLE.replace(old, new, 1), told
    assert text != WHOLE
    if not code:
        assert web_of(tmp_path, text).login == "proxy"
        return
    with pytest.raises(ProjectError) as refused:
        web_of(tmp_path, text)
    assert (refused.value.code, refused.value.where.rpartition(":")[2]) == (code, str(line))
    assert said in str(refused.value)
    assert "swordfish" not in str(refused.value)


@pytest.mark.parametrize("text", ['[web]\nlogin = "oidc"\n', '[web]\nlogin = "proxy"\n', "web = 7\n"])
def test_a_login_that_lacks_its_settings_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProjectError):
        web_of(tmp_path, text)
