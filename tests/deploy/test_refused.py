"""Values that cannot work are refused before anything is installed, in words that say what to do."""

import re
from pathlib import Path

import pytest

from tests import snippets
from tests.deploy.chart import CHART, POLICY, ROOT, asked, helm, one, pod_of, read_all

PAGE = ROOT / "docs/how-to/run-on-kubernetes.md"

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
    "nobody to verify by": (
        "postgresql",
        ["books.postgresql.url=postgresql+psycopg://apportion@db.example/apportion?sslmode=verify-full"],
        "names no authority to verify by: add sslrootcert=/certificates/ca.crt",
    ),
    "a certificate from nowhere": ("postgresql", ["certificates.existingSecret="], "certificates.existingSecret is empty"),
    "a source that nobody is let out to": ("everything", ["networkPolicy.egress=null"], "the url http://slurmrestd.slurm:6820, and no rule"),
    "a source on another port": (
        "everything",
        ["networkPolicy.egress[0].ports[0].port=6821"],
        "lets anybody out to port 6820: add {to: [...], ports: [{port: 6820}]}",
    ),
    "a source by https where 443 is closed": (
        "everything",
        ['settings=[[sources]]\nurl = "https://api.example/v1"'],
        "lets anybody out to port 443",
    ),
    "a monitor that is not let in": ("everything", ["networkPolicy.metricsFrom=null"], "networkPolicy.metricsFrom is empty"),
    "no cluster's name": ("agent", ["agent.cluster="], "agent.cluster is empty"),
    "no spool": ("agent", ["agent.spool.hostPath="], "agent.spool needs one of two"),
    "two spools": ("agent", ["agent.spool.existingClaim=spool"], "agent.spool needs one of two"),
    "copies nowhere": ("embedded", ["backup.enabled=true"], "backup.existingClaim is empty: name the claim"),
    "a restore from nowhere": ("restore", ["backup.existingClaim="], "backup.existingClaim is empty"),
    "copies beside the books": ("copies", ["backup.existingClaim=prod-apportion"], "which the books lie on, so that both would be lost together"),
    "copies on the claim of the books": (
        "copies",
        ["books.volume.existingClaim=copies"],
        "backup.existingClaim is copies, which the books lie on",
    ),
    "no copies kept": ("copies", ["backup.keep=0"], "backup.keep: Must be greater than or equal to 1"),
    "a restore from elsewhere": ("restore", ["backup.restore=../books.tar.gz"], "backup.restore: Does not match pattern"),
    "a restore under a server": ("restore", ["server.enabled=true"], "the server and sync would make books first"),
    "a restore beside sync": ("restore", ["sync.enabled=true"], "set server.enabled=false and sync.enabled=false until it is done"),
    "a volume for one pod": ("copies", ["books.volume.accessMode=ReadWriteOncePod"], "the server keeps them from sync and backup"),
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


@pytest.mark.parametrize(
    "changes",
    [
        ["networkPolicy.egress[0].ports=null"],
        ["networkPolicy.egress[0].ports[0].port=6000", "networkPolicy.egress[0].ports[0].endPort=7000"],
        ["networkPolicy.enabled=false", "networkPolicy.egress=null", "networkPolicy.metricsFrom=null"],
    ],
    ids=["all ports", "a range", "no policy"],
)
def test_what_may_go_out_is_not_refused(changes: list[str]) -> None:
    done = helm(
        "template", "prod", str(CHART), *asked("everything"), *(word for one in changes for word in ("--set", one))
    )
    assert done.returncode == 0, done.stderr


def test_the_values_of_the_page_are_taken_and_let_everybody_through(tmp_path: Path) -> None:
    """Each source's port, a certificate to verify the database by, and who scrapes."""
    page = {one.file: one.text for one in snippets.snippets(PAGE.read_text("utf-8")) if one.file}
    for name, text in page.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = f"policy={POLICY},settings={tmp_path / 'sources.toml'}"
    done = helm("template", "costs", str(CHART), "--values", str(tmp_path / "costs.yaml"), "--set-file", files)
    assert done.returncode == 0, done.stderr
    things = tuple(read_all(done.stdout))
    rules = one(things, "NetworkPolicy", "-outside")["spec"]["egress"]
    asked_for = {int(port) for port in re.findall(r"url = \"http://[^\"]+:(\d+)", page["sources.toml"])}
    assert asked_for == {6820}
    assert asked_for <= {port["port"] for rule in rules for port in rule["ports"]}
    for kind, ending in (("Deployment", ""), ("CronJob", "-sync"), ("CronJob", "-backup"), ("Job", "")):
        spec = pod_of(one(things, kind, ending))["spec"]  # type: ignore[index]
        mounts = {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
        assert "/certificates" in mounts
    (spread,) = pod_of(one(things, "Deployment"))["spec"]["topologySpreadConstraints"]  # type: ignore[index]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
