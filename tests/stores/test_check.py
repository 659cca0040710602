"""`ingest` and `check` of a source whose bills lie in a store: reachable, how many, how new; down, it is said with the remedy."""

from pathlib import Path

import pytest

from apportion.verbs.check import check
from apportion.verbs.ingest import ingest
from apportion.verbs.project import Project, open_project
from tests.clouds import Cloud
from tests.loopback import free_port
from tests.sources import making


def project(folder: Path, cloud: Cloud, endpoint: str) -> Project:
    known = {**cloud.settings, "endpoint": endpoint, "retries": 0}
    lines = "\n".join(
        f"{key} = {str(value).lower() if isinstance(value, bool | int) else repr(value)}"
        for key, value in known.items()
    )
    (folder / "apportion.toml").write_text(
        f'[[sources]]\nname = "cloud"\nkind = "focus"\npath = "{cloud.path("check/*.csv")}"\n{lines}\n'
    )
    return open_project(folder)


def test_check_says_what_lies_there(cloud: Cloud, tmp_path: Path) -> None:
    texts = [making.bill_text({"ResourceId": f"n{number}"}).encode() for number in range(3)]
    cloud.fill({f"check/{number}.csv": text for number, text in enumerate(texts)})
    found = project(tmp_path, cloud, cloud.settings["endpoint"])
    (done,) = ingest(found)
    assert done.rows == {"cost_lines": 3}
    (again,) = ingest(found)
    assert again.changed == 0
    first, second = [finding for finding in check(found).checks if finding.what == "source cloud"]
    size = sum(map(len, texts))
    assert first.text.startswith(f"{cloud.path('')} answers: 3 objects of {size:,} bytes, the newest of 20")
    assert (first.status, second.status) == ("ok", "ok")
    assert "all in the books" in second.text


def test_check_says_that_nothing_answers(s3: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    found = project(tmp_path, s3, f"http://127.0.0.1:{free_port()}")
    (finding,) = [finding for finding in check(found).checks if finding.what == "source cloud"]
    assert finding.status == "wrong"
    assert finding.text.endswith("the store cannot be reached (source 'cloud') [unreachable]")
    assert "endpoint" in finding.fix
