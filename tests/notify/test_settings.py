"""Settings of channels are refused with their place, and say nothing that is secret."""

import pytest

from apportion.errors import ApportionError
from apportion.verbs.check import check
from apportion.verbs.notify import deliver, try_channels
from tests.notify.conftest import MAIL, SLACK, Made


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (('kind = "email"', 'kind = "pigeon"'), "invalid-setting", "cannot be of kind 'pigeon'"),
        (('host = "127.0.0.1"\n', ""), "invalid-setting", "needs host"),
        (("from =", "sender ="), "unknown-key", "'sender' is not a setting"),
        (('tls = "none"', 'tls = "sometimes"'), "invalid-setting", "tls cannot be"),
        (('"ops@example.com"', '"ops"'), "invalid-setting", "to has 'ops', which is no address"),
        (('"ops@example.com"', r'"a@b.c\nBcc: x@y.z"'), "invalid-setting", "which is no address"),
        (('"ops@example.com"', '"öps@example.com"'), "invalid-setting", "which is no address"),
        (("port = PORT", "port = 0"), "invalid-setting", "port must be"),
        (("port = PORT", "port = PORT\nper_hour = 0"), "invalid-setting", "per_hour must be from 1"),
        (("port = PORT", 'port = PORT\nquiet = "late"'), "invalid-setting", "quiet must be"),
        (("port = PORT", 'port = PORT\nevents = ["lunch"]'), "unknown-event", "nothing is told of 'lunch'"),
        (("port = PORT", 'port = PORT\nusername = "a"'), "invalid-setting", "go together"),
        (("port = PORT", 'port = PORT\nusername = "a"\npassword = "hunter2"'), "secret-in-settings", "must say where"),
        (
            ('host = "127.0.0.1"', 'host = "mail.example.com"\nusername = "a"\npassword = "env:A"'),
            "invalid-setting",
            "in the open",
        ),
        (("[[notify]]", '[[notify]]\nname = "x"\nkind = "slack"\nurl = "https://a.example/b"\n[[notify]]'), "secret-in-settings", "url must say"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_their_line(made: Made, change: tuple[str, str], code: str, said: str) -> None:
    with pytest.raises(ApportionError) as error:
        made(MAIL.replace(*change))
    assert error.value.code == code
    assert said in error.value.message
    assert "apportion.toml:" in error.value.where
    assert "hunter2" not in str(error.value) + error.value.hint


def test_a_team_that_nobody_knows_is_refused(made: Made) -> None:
    with pytest.raises(ApportionError, match="'visoin', which neither") as error:
        deliver(made(MAIL + 'teams = ["visoin"]\n'))
    assert error.value.hint == "did you mean 'vision'?"


def test_a_missing_secret_is_a_failure_that_says_where_it_should_be(made: Made) -> None:
    project = made(SLACK)
    assert [one.answer for one in try_channels(project)] == [
        "there is no secret at env:CHAT_URL: the environment variable is not set"
    ]
    assert [one.status for one in check(project).checks if one.what == "notify"] == ["wrong"]
