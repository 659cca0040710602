"""A real Slurm with accounting on loopback, from Debian's packages: munge, MariaDB, slurmdbd, slurmctld, slurmrestd and one slurmd for each pretended node.

Everything lies in one folder and is stopped by the process ids that were started. Its GPUs are devices that do nothing; every record is Slurm's own.
"""

import os
import secrets
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests import processes
from tests.loopback import answers, free_port
from tests.processes import Process

PROGRAMS = (
    "munged",
    "mariadbd",
    "mariadb-install-db",
    "slurmdbd",
    "slurmctld",
    "slurmd",
    "sacct",
    "sacctmgr",
    "sreport",
)
HOUR_S = 3600
NODES = {  # cores, MiB, GRES
    "a100-1": (16, 64_000, "gpu:a100:4,shard:a100:16"),
    "a100-2": (16, 64_000, "gpu:a100:4,shard:a100:16"),
    "h100-1": (32, 128_000, "gpu:h100:4"),
    "cpu-1": (8, 16_000, ""),
}


def why_not() -> str:
    """Why there can be no cluster here; empty where there can."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"no Slurm: {missing[0]} is missing"
    return "" if os.geteuid() == 0 else "no Slurm: only root may start it"


def wait_for(what: str, is_so: Callable[[], bool], seconds: float = processes.PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


@dataclass
class Cluster:
    folder: Path
    name: str = "lab"
    processes: dict[str, Process[bytes]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.folder / "etc/slurm.conf"), "TZ": "UTC", "LC_ALL": "C"}

    def start(self, name: str, *words: str, **more: str) -> None:
        with (self.folder / f"log/{name}.out").open("ab") as out:
            self.processes[name] = processes.Process(
                words,
                stdin=processes.DEVNULL,
                stdout=out,
                stderr=out,
                env={**self.environment, **more},
                start_new_session=True,
            )

    def stop(self, name: str) -> None:
        process = self.processes.pop(name)
        process.terminate()
        try:
            process.wait(15)
        except processes.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def ask(self, *words: str, check: bool = True, **more: str) -> str:
        done = processes.run(
            words,
            env={**self.environment, **more},
            text=True,
            timeout=60,
            stdin=processes.DEVNULL,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def works(self, *words: str) -> bool:
        with suppress(processes.TimeoutExpired):
            return processes.run(words, env=self.environment, timeout=10).returncode == 0
        return False

    def sql(self, text: str) -> str:
        return self.ask("mariadb", "--no-defaults", f"--socket={self.folder}/run/sql.sock", "-uroot", "-N", "-e", text)

    def submit(self, *words: str) -> str:
        return self.ask("sbatch", "--parsable", "-o", "/dev/null", *words).strip().partition(";")[0]

    def wait_state(self, job: str, *states: str) -> None:
        def seen() -> bool:
            found = self.ask("sacct", "-X", "-n", "-P", "-j", job, "-o", "State", check=False).split()
            return bool(found) and found[-1] in states

        wait_for(f"job {job} to be {states}", seen)

    def up(self) -> None:
        for name in ("etc", "log", "run", "state", "spool", "dev", "sql"):
            (self.folder / name).mkdir(parents=True)
        names = ["ctld", "dbd", "sql", "rest", *NODES]
        self.ports = {name: free_port() for name in names}
        self.start_munge()
        self.start_sql()
        self.write_settings()
        self.start_database()
        self.ask("sacctmgr", "-i", "add", "cluster", self.name, check=False)
        self.start("slurmctld", "slurmctld", "-D")
        wait_for("slurmctld", lambda: "is UP" in self.ask("scontrol", "ping", check=False))
        for node in NODES:
            self.start(f"slurmd {node}", "slurmd", "-D", "-N", node)
        wait_for(
            "nodes",
            lambda: self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", check=False).split() == sorted(NODES),
        )

    def start_munge(self) -> None:
        key = self.folder / "etc/munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        run = self.folder / "run"
        self.start(
            "munged", "munged", "--foreground", "--force", f"--socket={run}/munge.sock", f"--key-file={key}", f"--pid-file={run}/munged.pid",
            f"--log-file={self.folder}/log/munged.log", f"--seed-file={run}/munged.seed", "--num-threads=4",
        )  # fmt: skip
        wait_for("munge", (run / "munge.sock").exists)

    def start_sql(self) -> None:
        data, run = self.folder / "sql", self.folder / "run"
        self.ask(
            "mariadb-install-db", "--no-defaults", "--force", "--user=root", f"--datadir={data}", "--auth-root-authentication-method=normal",
            "--skip-test-db", "--innodb-log-file-size=16M",
        )  # fmt: skip
        self.start(
            "mariadbd", "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={run}/sql.sock", f"--port={self.ports['sql']}",
            "--bind-address=127.0.0.1", f"--pid-file={run}/sql.pid", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900",
            "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=0", "--loose-innodb-snapshot-isolation=OFF",
        )  # fmt: skip
        wait_for(
            "MariaDB",
            lambda: self.works("mariadb", "--no-defaults", f"--socket={run}/sql.sock", "-uroot", "-e", "select 1"),
        )
        self.sql(
            "create database acct; create user 'slurm'@'127.0.0.1' identified by 'slurm'; grant all on acct.* to 'slurm'@'127.0.0.1'"
        )

    def start_database(self) -> None:
        self.start("slurmdbd", "slurmdbd", "-D")
        wait_for("slurmdbd", lambda: self.works("sacctmgr", "-n", "show", "cluster"))

    def write_settings(self) -> None:
        etc = self.folder / "etc"
        munge = self.folder / "run/munge.sock"
        (etc / "slurmdbd.conf").write_text(
            f"AuthType=auth/munge\nAuthInfo=socket={munge}\nAuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={etc}/jwt.key\n"
            f"DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={self.ports['dbd']}\nSlurmUser=root\nLogFile={self.folder}/log/slurmdbd.log\n"
            f"PidFile={self.folder}/run/slurmdbd.pid\nStorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\n"
            f"StoragePort={self.ports['sql']}\nStorageUser=slurm\nStoragePass=slurm\nStorageLoc=acct\nTrackWCKey=yes\n"
        )
        (etc / "slurmdbd.conf").chmod(0o600)
        (etc / "jwt.key").write_bytes(secrets.token_bytes(32))
        (etc / "jwt.key").chmod(0o600)
        (etc / "cgroup.conf").write_text(
            "ConstrainCores=no\n" + ("CgroupPlugin=disabled\n" if self.version() >= (23, 2) else "")
        )
        (etc / "gres.conf").write_text("".join(self.devices()))
        (etc / "slurm.conf").write_text(self.slurm_conf(munge) + "".join(self.node_lines()))

    def version(self) -> tuple[int, ...]:
        said = processes.run(["slurmctld", "-V"], text=True, check=True).stdout.split()[-1]
        return tuple(int(part) for part in said.split(".")[:2])

    def devices(self) -> Iterator[str]:
        for node, (_, _, gres) in NODES.items():
            if gres:
                model = gres.split(":")[1]
                for number in range(4):
                    os.mknod(self.folder / f"dev/{node}-{number}", 0o020666, os.makedev(1, 3))
                yield f"NodeName={node} Name=gpu Type={model} File={self.folder}/dev/{node}-[0-3]\n"
                if "shard" in gres:
                    yield f"NodeName={node} Name=shard Count=16 File={self.folder}/dev/{node}-[0-3]\n"

    def node_lines(self) -> Iterator[str]:
        host = socket.gethostname().partition(".")[0]
        for node, (cores, memory, gres) in NODES.items():
            own = f" Gres={gres.replace('shard:a100', 'shard')}" if gres else ""
            yield f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[node]} CPUs={cores} RealMemory={memory}{own} State=UNKNOWN\n"
        for partition, nodes in {"a100": "a100-[1-2]", "h100": "h100-1", "cpu": "cpu-1"}.items():
            default = " Default=YES" if partition == "a100" else ""
            yield f"PartitionName={partition} Nodes={nodes} State=UP MaxTime=60 DefMemPerCPU=100{default}\n"

    def slurm_conf(self, munge: Path) -> str:
        host = socket.gethostname().partition(".")[0]
        folder = self.folder
        return (
            f"ClusterName={self.name}\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={self.ports['ctld']}\nSlurmUser=root\nSlurmdUser=root\n"
            f"AuthType=auth/munge\nAuthInfo=socket={munge},cred_expire=3\nCredType=cred/munge\n"
            f"AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={folder}/etc/jwt.key\n"
            f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\nSlurmctldPidFile={folder}/run/ctld.pid\n"
            f"SlurmdPidFile={folder}/run/slurmd.%n.pid\nSlurmctldLogFile={folder}/log/slurmctld.log\nSlurmdLogFile={folder}/log/slurmd.%n.log\n"
            "SlurmdParameters=config_overrides\nReturnToService=0\nMpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
            "JobAcctGatherType=jobacct_gather/none\nSwitchType=switch/none\nSchedulerType=sched/backfill\n"
            "SchedulerParameters=bf_interval=1,sched_min_interval=100000,batch_sched_delay=0\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu,shard\nRequeueExit=77\nMinJobAge=30\nKillWait=1\n"
            f"SlurmdTimeout=60\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
            f"AccountingStoragePort={self.ports['dbd']}\nAccountingStoragePass={munge}\n"
            "AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:h100,gres/shard,license/matlab\nAccountingStorageEnforce=associations,qos\n"
            "AccountingStoreFlags=job_comment\nTrackWCKey=yes\nLicenses=matlab:10\n"
            "PriorityType=priority/multifactor\nPriorityWeightQOS=10000\nPreemptType=preempt/qos\nPreemptMode=CANCEL\n"
        )

    def start_rest(self) -> str:
        """slurmrestd on loopback; a token for it."""
        token = self.ask("scontrol", "token", "lifespan=600").strip().partition("=")[2]
        self.start(
            "slurmrestd", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "slurmrestd", "-a", "rest_auth/jwt", f"127.0.0.1:{self.ports['rest']}",
            SLURM_JWT="daemon", SLURMRESTD_SECURITY="disable_unshare_sysv,disable_unshare_files",
        )  # fmt: skip

        wait_for("slurmrestd", lambda: answers(self.ports["rest"]))
        return token

    def roll_up(self) -> None:
        """sreport knows whole hours that are over. All that happened is moved back by one, and the hours are summed anew."""
        self.stop("slurmdbd")
        tables = {
            "job": ("submit", "eligible", "start", "end"),
            "event": ("start", "end"),
            "resv": ("start", "end"),
            "suspend": ("start", "end"),
        }
        for table, columns in tables.items():
            changes = ", ".join(f"time_{name} = if(time_{name} > 0, time_{name} - {HOUR_S}, 0)" for name in columns)
            self.sql(f"update acct.{self.name}_{table}_table set {changes}")
        self.sql(f"update acct.{self.name}_last_ran_table set hourly_rollup = 0, daily_rollup = 0, monthly_rollup = 0")
        self.start_database()
        counted = f"select count(*) from acct.{self.name}_assoc_usage_hour_table"
        wait_for("the hourly sums", lambda: int(self.sql(counted)) > 0)
        time.sleep(1)

    def down(self) -> None:
        if "slurmctld" in self.processes:
            self.ask("scancel", "--user=root", check=False)
            time.sleep(1)
        for name in [name for name in self.processes if name.startswith("slurmd ")] + [
            "slurmrestd",
            "slurmctld",
            "slurmdbd",
            "mariadbd",
            "munged",
        ]:
            if name in self.processes:
                self.stop(name)
        for path in Path("/proc").glob("[0-9]*/environ"):  # steps that outlived their slurmd
            with suppress(OSError, ProcessLookupError):
                if f"SLURM_CONF={self.folder}/etc/slurm.conf".encode() in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    found = Cluster(folder)
    try:
        found.up()
        yield found
    finally:
        found.down()
        shutil.rmtree(folder, ignore_errors=True)


def sreport(found: Cluster, kind: str, tres: str, hours: tuple[int, int]) -> dict[str, int]:
    """Seconds by account."""
    bounds = [
        f"{word}={time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(second))}"
        for word, second in zip(("start", "end"), hours, strict=True)
    ]
    said = found.ask(
        "sreport", "-n", "-P", "-t", "Seconds", f"--tres={tres}", "cluster", kind, *bounds, "format=Account,Login,Used"
    )
    rows: Mapping[tuple[str, str], str] = {
        (row[0], row[1]): row[2] for line in said.splitlines() if len(row := line.split("|")) == 3
    }
    return {account: int(used) for (account, login), used in rows.items() if not login}
