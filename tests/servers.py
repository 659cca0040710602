"""The programs that some tests need besides Python. As root on Debian or Ubuntu the missing ones are installed; otherwise their tests skip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    command: str
    package: str
    tests: str
    folders: str = ""  # where it lies when it is not on PATH


PROGRAMS = (
    Program("initdb", "postgresql", "the books on PostgreSQL", "/usr/lib/postgresql/*/bin"),
    Program("java", "openjdk-17-jre-headless", "Spark"),
    Program("prometheus", "prometheus", "Kubernetes through a real Prometheus, rules and dashboards"),
    Program("pdftotext", "poppler-utils", "reading PDF statements back"),
    Program("strace", "strace", "kills, full disks and the order of system calls"),
    *(
        Program(file, package, "the Slurm source against a real Slurm", folder)
        for package, file, folder in (
            ("slurmctld", "slurmctld", "/usr/sbin"),
            ("slurmd", "slurmd", "/usr/sbin"),
            ("slurmdbd", "slurmdbd", "/usr/sbin"),
            ("slurmrestd", "slurmrestd", "/usr/sbin"),
            ("slurm-client", "sacct", "/usr/bin"),
            ("munge", "munged", "/usr/sbin"),
            ("mariadb-server", "mariadbd", "/usr/sbin"),
            ("slurm-wlm-basic-plugins", "auth_munge.so", "/usr/lib/*/slurm-wlm"),
            ("slurm-wlm-mysql-plugin", "accounting_storage_mysql.so", "/usr/lib/*/slurm-wlm"),
            ("slurm-wlm-jwt-plugin", "auth_jwt.so", "/usr/lib/*/slurm-wlm"),
        )
    ),
    Program("sshd", "openssh-server", "commands over ssh", "/usr/sbin"),
    Program("chromium", "chromium", "the pages in a browser"),
    Program("node", "nodejs", "Azure Blob storage, OpenID Connect, axe, Grafana's schema"),
    Program("npm", "npm", "Azure Blob storage, OpenID Connect, axe, Grafana's schema"),
)
ROOT = Path(__file__).resolve().parents[1]
NODE = {
    "azurite": "the tests of Azure Blob storage",
    "node": "the tests of logins, and axe over the pages",
    "grafana_schema": "the tests of dashboards against Grafana's schema",
}  # tests/NAME: what npm installs into .servers/NAME, by version and hash
VALIDATOR = (
    ROOT / "tests/focus_validator/requirements.lock"
)  # what its environment holds: it wants other versions than we do, and Python 3.12
VALIDATOR_HERE = ROOT / ".servers/focus-validator"
PEERS = {
    "nise": "the tests with months that nise makes",
    "litellm": "the tests with exports that LiteLLM writes",
}  # tests/checked/NAME: programs of others, each in an environment of its own
PEER_PARTS = ("--no-deps",)  # the locks name all that is needed; of LiteLLM only the writer is, and not its server
LOCK = "package-lock.json"
UV = Path(sys.executable).parent / "uv"


def is_here(program: Program) -> bool:
    if shutil.which(program.command):
        return True
    pattern = f"{program.folders}/{program.command}".lstrip("/")
    return bool(program.folders) and any(Path("/").glob(pattern))


def install(packages: list[str]) -> str:
    """What went wrong, or nothing. RUNLEVEL=1 keeps a freshly installed server from being started."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    done = None
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        try:
            done = subprocess.run(
                ["apt-get", "-q", *command],
                env=environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=600,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return "" if done is None or done.returncode == 0 else (done.stderr or done.stdout).strip().splitlines()[-1]


def has_node(name: str) -> bool:
    """As locked now, not as it was once."""
    wanted, lock = ROOT / "tests" / name / LOCK, ROOT / ".servers" / name / LOCK
    there = (lock.parent / "node_modules").exists()
    return there and lock.exists() and lock.read_bytes() == wanted.read_bytes()


def install_node(name: str) -> str:
    """What went wrong, or nothing. No script of a package runs."""
    here = ROOT / ".servers" / name
    here.mkdir(parents=True, exist_ok=True)
    for file in ("package.json", LOCK):
        shutil.copy(ROOT / "tests" / name / file, here / file)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        done = subprocess.run(
            command,
            cwd=here,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip().splitlines()[-1]


def has_validator() -> bool:
    """As locked now, not as it was once."""
    lock = VALIDATOR_HERE / VALIDATOR.name
    return lock.exists() and lock.read_bytes() == VALIDATOR.read_bytes()


def python_for_validator() -> str:
    """A Python 3.12, by whatever name it has here; empty where there is none."""
    named = (
        sys.executable,
        shutil.which("python3.12") or "",
        *map(str, Path.home().glob(".pyenv/versions/3.12*/bin/python")),
    )
    for program in filter(None, named):
        told = subprocess.run(
            [program, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if told.stdout.split() == ["3", "12"]:
            return program
    return ""


def install_validator() -> str:
    """What went wrong, or nothing. Two of its parts come as source only and are built with locked tools."""
    python = python_for_validator()
    if not python:
        return "there is none here"
    built = (word for name in ("focus-validator", "pandasql") for word in ("--no-binary", name))
    return install_locked(VALIDATOR, VALIDATOR_HERE, python, *built, "--build-constraints", str(VALIDATOR))


def install_locked(lock: Path, here: Path, python: str, *more: str) -> str:
    """An environment of what a lock names. What went wrong, or nothing."""
    pip = (
        "pip",
        "install",
        "--quiet",
        "--python",
        str(here / "bin/python"),
        "--require-hashes",
        "--only-binary",
        ":all:",
    )
    commands = (("venv", "--quiet", "--clear", "--python", python, str(here)), (*pip, *more, "-r", str(lock)))
    for command in commands:
        try:
            done = subprocess.run(
                [UV, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
    shutil.copy(lock, here / lock.name)
    return ""


def peer_lock(name: str) -> Path:
    return ROOT / "tests/checked" / name / "requirements.lock"


def peer_here(name: str) -> Path:
    return ROOT / ".servers" / name


def has_peer(name: str) -> bool:
    """As locked now, not as it was once."""
    lock = peer_here(name) / peer_lock(name).name
    return lock.exists() and lock.read_bytes() == peer_lock(name).read_bytes()


def install_peers() -> None:
    for name, tests in PEERS.items():
        if has_peer(name) or os.environ.get("APPORTION_NO_INSTALL"):
            continue
        print(f"Installing what {tests} need into .servers/{name}", file=sys.stderr)
        if trouble := install_locked(peer_lock(name), peer_here(name), sys.executable, *PEER_PARTS):
            print(f"Skipping {tests}:", trouble, file=sys.stderr)


def main() -> None:
    missing = [program for program in PROGRAMS if not is_here(program)]
    packages = [program.package for program in missing]
    can_install = os.geteuid() == 0 and shutil.which("apt-get") and not os.environ.get("APPORTION_NO_INSTALL")
    if missing and can_install:
        print("Installing", ", ".join(packages), "for the tests", file=sys.stderr)
        trouble = install(packages)
        if trouble:
            print("apt-get failed:", trouble, file=sys.stderr)
    for program in missing:
        if not is_here(program):
            remedy = f"on Debian and Ubuntu: apt-get install {program.package}"
            print(f"Skipping the tests of {program.tests}: {program.command} is missing ({remedy})", file=sys.stderr)
    for name, tests in NODE.items():
        if has_node(name) or not shutil.which("npm") or os.environ.get("APPORTION_NO_INSTALL"):
            continue
        print(f"Installing what {tests} need into .servers/{name}", file=sys.stderr)
        if trouble := install_node(name):
            print(f"Skipping {tests}: npm failed:", trouble, file=sys.stderr)
    if not has_validator() and not os.environ.get("APPORTION_NO_INSTALL"):
        print("Installing the FOCUS validator into .servers/ for the tests", file=sys.stderr)
        if trouble := install_validator():
            print("Skipping the tests with the FOCUS validator, which needs Python 3.12:", trouble, file=sys.stderr)
    install_peers()


if __name__ == "__main__":
    main()
