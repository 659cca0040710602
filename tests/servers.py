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
    Program("prometheus", "prometheus", "Kubernetes through a real Prometheus"),
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
    Program("node", "nodejs", "Azure Blob storage"),
    Program("npm", "npm", "Azure Blob storage"),
)
ROOT = Path(__file__).resolve().parents[1]
AZURITE = ROOT / "tests/azurite"  # what npm installs, by version and hash
AZURITE_HERE = ROOT / ".servers/azurite"


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


def has_azurite() -> bool:
    """As locked now, not as it was once."""
    lock = AZURITE_HERE / "package-lock.json"
    program = AZURITE_HERE / "node_modules/.bin/azurite-blob"
    return program.exists() and lock.exists() and lock.read_bytes() == (AZURITE / lock.name).read_bytes()


def install_azurite() -> str:
    """What went wrong, or nothing. No script of a package runs."""
    AZURITE_HERE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(AZURITE / name, AZURITE_HERE / name)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        done = subprocess.run(
            command,
            cwd=AZURITE_HERE,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip().splitlines()[-1]


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
    if not has_azurite() and shutil.which("npm") and not os.environ.get("APPORTION_NO_INSTALL"):
        print("Installing Azurite into .servers/ for the tests", file=sys.stderr)
        if trouble := install_azurite():
            print("Skipping the tests of Azure Blob storage: npm failed:", trouble, file=sys.stderr)


if __name__ == "__main__":
    main()
