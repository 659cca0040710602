"""What is built: the same bytes every time, from the tree or from the sdist; all that must be in it, and nothing else."""

import hashlib
import re
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from apportion import __version__
from tests.release.dist import STEM, build, write
from tests.release.parts import PROJECT, PYPROJECT, ROOT
from tests.tidy import MACHINE_PATH, tracked_files

INFO = f"{STEM}.dist-info/"
MADE = "apportion/web/static/vega.js"  # by hatch_build.py
AROUND = {
    "METADATA",
    "WHEEL",
    "RECORD",
    "entry_points.txt",
    "licenses/LICENSE",
    "licenses/NOTICE",
    "licenses/licenses/vega.js.txt",
}
SOURCES = {
    *PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"],
    "/pyproject.toml",
    "/PKG-INFO",
    "/.gitignore",
}
VERSION = re.compile(r"^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$", re.MULTILINE)


def in_wheel(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_sdist(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        return {name: file.read() for name, file in files.items() if file}


def metadata(wheel: Path) -> Message:
    return message_from_string(in_wheel(wheel)[f"{INFO}METADATA"].decode())


def test_built_twice_it_is_the_same_to_the_byte(dist: Path, tmp_path: Path) -> None:
    for path in write(tmp_path / "again"):
        assert path.read_bytes() == (dist / path.name).read_bytes(), path.name


def test_the_digests_are_those_of_the_files(dist: Path) -> None:
    lines = (dist / "SHA256SUMS").read_text("utf-8").splitlines()
    told = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    others = [path for path in dist.iterdir() if path.name != "SHA256SUMS" and not path.name.startswith(".")]
    assert told == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in others}


def test_the_wheel_from_the_sdist_is_the_wheel_from_the_tree(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    assert in_wheel(build(tmp_path / STEM, tmp_path / "out", "wheel")) == in_wheel(wheel)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    package = {name.removeprefix("src/") for name in tracked_files(ROOT) if name.startswith("src/apportion/")}
    around = {INFO + name for name in AROUND}
    assert set(in_wheel(wheel)) == package | {MADE} | around


def test_the_sdist_holds_what_is_listed_and_nothing_else(sdist: Path) -> None:
    names = {name.removeprefix(STEM) for name in in_sdist(sdist)}
    assert {name for name in names if not any(name == top or name.startswith(f"{top}/") for top in SOURCES)} == set()
    kept = {f"/{name}" for name in tracked_files(ROOT)}
    assert names - kept == {f"/src/{MADE}", "/PKG-INFO"}


def test_no_file_names_a_place_on_a_machine(wheel: Path, sdist: Path) -> None:
    everything = {**in_wheel(wheel), **in_sdist(sdist)}
    texts = {name: body.decode() for name, body in everything.items() if not name.endswith((".png", ".gz", ".parquet"))}
    told = {name for name, text in texts.items() if str(ROOT) in text}
    assert told == set()
    stray = {
        name for name, text in texts.items() if MACHINE_PATH.search(text) and not name.endswith(("LICENSE", "vega.js"))
    }
    assert stray == set()


def test_the_metadata_says_what_an_index_asks_for(wheel: Path) -> None:
    said = metadata(wheel)
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("apportion", __version__, "Apache-2.0")
    assert said["Summary"] == PROJECT["description"]
    assert said["Description-Content-Type"] == "text/markdown"
    assert str(said.get_payload()).strip() == (ROOT / "README.md").read_text("utf-8").strip()
    assert set(said.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])
    assert set(said.get_all("License-File") or []) == {"LICENSE", "NOTICE", "licenses/vega.js.txt"}
    pythons = [line.rpartition(" ")[2] for line in said.get_all("Classifier") or [] if "Python :: 3." in line]
    accepted = SpecifierSet(said["Requires-Python"])
    assert pythons
    assert all(accepted.contains(version) for version in pythons)
    assert not accepted.contains("3.10")


def test_the_licence_is_whole_and_those_of_others_are_with_it(wheel: Path) -> None:
    files = in_wheel(wheel)
    for name in ("LICENSE", "NOTICE", "licenses/vega.js.txt"):
        assert files[f"{INFO}licenses/{name}"] == (ROOT / name).read_bytes()


def test_the_version_is_one() -> None:
    assert PROJECT["version"] == __version__


def test_each_release_has_its_section_in_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections[0] == "Unreleased"
    released = VERSION.findall(text)
    assert len(released) == len(sections) - 1, "a section of a release reads: ## 1.2.3 - 2026-11-30"
    assert released == sorted(released, key=Version, reverse=True)
    assert all(Version(version) <= Version(__version__) for version in released)


def test_what_builds_is_what_is_locked() -> None:
    assert PYPROJECT["dependency-groups"]["build"] == PYPROJECT["build-system"]["requires"]
