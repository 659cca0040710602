"""All files of a release, in dist/: wheel, sdist, the list of parts (CycloneDX), the licences of others, and the digests of all of them.

`make dist` calls it. The same commit and locks give the same bytes: times are that of the last commit.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import processes
from tests.release.licences import bundled, licence_of, objection
from tests.release.parts import CORE, PROJECT, ROOT, installed, parts
from tests.release.sbom import sbom

UV = str(Path(sys.executable).parent / "uv")
STEM = f"{PROJECT['name']}-{PROJECT['version']}"
EPOCH = "SOURCE_DATE_EPOCH"
SOME_DAY_S = 1_577_836_800  # of a source that is no checkout: 2020-01-01


def made_s() -> int:
    """When the last commit was made, or what the environment says."""
    if EPOCH in os.environ:
        return int(os.environ[EPOCH])
    command = ["git", "log", "-1", "--format=%ct"]
    done = processes.run(command, cwd=ROOT, text=True)
    return int(done.stdout) if done.returncode == 0 else SOME_DAY_S


def build(source: Path, folder: Path, kind: str) -> Path:
    """`kind` is wheel or sdist. Nothing is fetched: what builds is in the lock."""
    command = [
        UV,
        "build",
        "--quiet",
        "--offline",
        "--no-build-isolation",
        f"--{kind}",
        "--out-dir",
        str(folder),
        str(source),
    ]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix, EPOCH: str(made_s())}
    done = processes.run(command, env=environment, cwd="/", text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def third_parties() -> str:
    """Whose work is used under which licence: what is installed beside Apportion, and what is inside its wheel."""
    lines = [f"Parts of {STEM} that others wrote", "", "Installed beside it:", ""]
    for part in parts():
        expression = licence_of(installed()[part.name])
        refused = objection(part.name, expression)
        if refused:
            raise RuntimeError(refused)
        extras = [extra for extra in part.brought_by if extra != CORE]
        where = "" if CORE in part.brought_by else f" (extra {', '.join(extras)})"
        lines.append(f"  {part.name} {part.version}: {expression}{where}")
    lines += ["", "Inside the wheel, in apportion/web/static/vega.js (texts in licenses/vega.js.txt):", ""]
    return "\n".join([*lines, *(f"  {name}: {licence}" for name, licence in sorted(bundled().items())), ""])


def write(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{PROJECT['name']}-*"):
        old.unlink()
    made = [build(ROOT, folder, "sdist"), build(ROOT, folder, "wheel")]
    texts = {
        f"{STEM}.cdx.json": json.dumps(sbom(made_s()), indent=1) + "\n",
        f"{STEM}-third-parties.txt": third_parties(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
        made.append(folder / name)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(made)]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")
    yield from (*made, folder / "SHA256SUMS")


if __name__ == "__main__":
    for path in write(ROOT / "dist"):
        print(path.relative_to(ROOT), path.stat().st_size)
