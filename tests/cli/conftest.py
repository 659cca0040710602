"""The command line as people use it: arguments in, two streams and an exit code out."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apportion.cli.main import main
from tests.cli.tiny import write_tiny


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    def value(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        caught = capsys.readouterr()
        return Result(int(stop.value.code or 0), caught.out, caught.err)

    return call


@pytest.fixture(scope="session")
def posted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, ingested, planned and applied."""
    folder = write_tiny(tmp_path_factory.mktemp("tiny"))
    for verb in (["ingest"], ["plan"], ["apply"]):
        with pytest.raises(SystemExit) as stop:
            main(["--project", str(folder), *verb])
        assert not stop.value.code
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Files only."""
    return write_tiny(tmp_path / "tiny")


@pytest.fixture
def posted(posted_once: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(posted_once, tmp_path / "posted"))
