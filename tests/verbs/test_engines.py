"""Where plans are computed: what is asked for, or an error that says what is missing. Nothing falls back."""

import os
import sys
from pathlib import Path

import pytest

from apportion.engine.backends.duckdb import DuckDB
from apportion.errors import ProjectError
from apportion.verbs.engines import backend_of
from apportion.verbs.project import Project, open_project
from apportion.verbs.settings import mebibytes
from apportion.verbs.spark import connect_spark
from tests import processes

WITHOUT_PYSPARK = (
    "import sys; sys.modules['pyspark'] = None; from apportion.verbs.spark import connect_spark; connect_spark()"
)


def project(folder: Path, engine: str) -> Project:
    (folder / "apportion.toml").write_text(f"[engine]\n{engine}\n", encoding="utf-8")
    return open_project(folder)


def test_duckdb_gets_its_limits_from_the_settings(tmp_path: Path) -> None:
    backend = backend_of(project(tmp_path, 'threads = 1\nmemory = "300MB"\nspill = "spilt"'))
    assert isinstance(backend, DuckDB)
    names = ("threads", "memory_limit", "temp_directory")
    found = [backend.connection.raw_sql(f"select current_setting('{name}')").fetchone()[0] for name in names]
    assert found == [1, "286.1 MiB", str(tmp_path / "spilt")]


def test_spark_is_chosen_by_name_or_address(tmp_path: Path) -> None:
    plain = project(tmp_path, 'master = "sc://there"')
    assert plain.on(None).settings.engine == {"master": "sc://there"}
    assert plain.on("spark").settings.engine == {"name": "spark", "master": "sc://there"}
    assert plain.on("local[3]").settings.engine == {"name": "spark", "master": "local[3]"}
    assert plain.on("spark").on("duckdb").settings.engine["name"] == "duckdb"


@pytest.mark.parametrize(("size", "found"), [("1GiB", 1024), ("512 MiB", 512), ("4GB", 3814), ("1tb", 953674)])
def test_sizes_as_spark_takes_them(size: str, found: int) -> None:
    assert mebibytes(size) == found


@pytest.mark.parametrize("address", ["sc://127.0.0.1:1", "spark://127.0.0.1:1", "sc://127.0.0.1:1/;use_ssl=true"])
def test_a_server_that_is_not_there_is_named_at_once(address: str) -> None:
    with pytest.raises(ProjectError) as caught:
        connect_spark(address)
    assert caught.value.code == "spark-not-started"
    assert "nothing answers at 127.0.0.1:1" in caught.value.message
    assert "--engine duckdb" in caught.value.hint


def test_without_pyspark_the_extra_is_named() -> None:
    done = processes.run([sys.executable, "-c", WITHOUT_PYSPARK], text=True)
    assert done.returncode
    assert "error[spark-missing]" in done.stderr
    assert 'pip install "apportion[spark]"' in done.stderr


def test_without_java_the_package_is_named(tmp_path: Path) -> None:
    script = "from apportion.verbs.spark import connect_spark; connect_spark('local[1]')"
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = processes.run([sys.executable, "-c", script], env=environment, text=True)
    assert done.returncode
    assert "error[spark-not-started]: Spark does not start at local[1]" in done.stderr
    assert "Spark needs Java 17 or newer" in done.stderr
