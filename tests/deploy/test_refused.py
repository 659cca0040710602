"""Values that cannot work are refused before anything is installed, in words that say what to do."""

import pytest

from tests.deploy.chart import CHART, asked, helm

REFUSED = {
    "a key that does not exist": ("embedded", ["server.replica=2"], "server: Additional property replica is not allowed"),
    "a wrong kind": ("embedded", ["server.replicas=two"], "server.replicas: Invalid type. Expected: integer"),
    "root": ("embedded", ["user=0"], "user: Must be greater than or equal to 1"),
    "an address without TLS": ("postgresql", ["web.address=http://costs.example"], "web.address: Does not match pattern"),
    "two servers on SQLite": ("embedded", ["server.replicas=2"], "SQLite serves one: set books.postgresql.url"),
    "two servers on one node's volume": ("postgresql", ["books.warehouse.url="], "set books.warehouse.url, or books.volume.accessMode=ReadWriteMany"),
    "two servers for one person": ("postgresql", ["web.login=link"], "web.login=link is for one person"),
    "no secret for PostgreSQL": ("postgresql", ["books.postgresql.existingSecret="], "name the Secret that has the password"),
    "a password in the URL": (
        "postgresql",
        ["books.postgresql.url=postgresql+psycopg://apportion:hunter2@db.example/apportion"],
        "books.postgresql.url has a password in it",
    ),
    "no address": ("postgresql", ["web.address="], "web.address is empty: with web.login=proxy"),
    "an address for one person": ("embedded", ["web.address=https://costs.example"], "set web.login to oidc or proxy"),
    "an ingress for one person": ("embedded", ["ingress.enabled=true"], "web.login=link has none"),
    "no provider": ("postgresql", ["web.login=oidc"], "web.login=oidc needs web.oidc.issuer and web.oidc.clientId"),
    "nobody to believe": ("postgresql", ["web.proxy.trusted=null"], "needs web.proxy.trusted"),
    "nobody let in": ("postgresql", ["networkPolicy.from=null"], "nobody could open the pages"),
    "no token for Prometheus": ("everything", ["serviceMonitor.existingSecret="], "name the Secret with the token"),
    "no cluster's name": ("agent", ["agent.cluster="], "agent.cluster is empty"),
    "no spool": ("agent", ["agent.spool.hostPath="], "agent.spool needs one of two"),
    "two spools": ("agent", ["agent.spool.existingClaim=spool"], "agent.spool needs one of two"),
    "a section of the chart's": ("embedded", ["settings=[books]\nurl = 1"], "settings has [books], which the chart writes"),
    "a table of the chart's": ("embedded", ["settings=[retention]\n [web.groups]"], "settings has [web], which the chart writes"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "changes", "words"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_in_words(values: str, changes: list[str], words: str) -> None:
    done = helm(
        "template", "prod", str(CHART), *asked(values), *(word for change in changes for word in ("--set", change))
    )
    assert done.returncode != 0
    assert words in done.stderr


def test_no_policy_is_refused() -> None:
    done = helm("template", "prod", str(CHART))
    assert "policy is empty: give your policy.yaml with --set-file policy=policy.yaml" in done.stderr


def test_a_colon_elsewhere_in_the_url_is_no_password() -> None:
    url = "books.postgresql.url=postgresql+psycopg://apportion@db.example:5432/apportion?options=-csearch_path:a@b"
    done = helm("template", "prod", str(CHART), *asked("postgresql"), "--set", url)
    assert done.returncode == 0, done.stderr
