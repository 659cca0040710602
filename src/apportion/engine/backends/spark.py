"""Spark, in this process or on a cluster: the same expressions over a session that somebody else has started.

Arithmetic follows ANSI SQL, so that what leaves 64 bits or 38 digits fails instead of wrapping.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import ibis.expr.datatypes as dt
import pyarrow as pa
from ibis.backends.pyspark import Backend as IbisSpark
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.formats.pyarrow import PyArrowData
from pyspark.errors import AnalysisException

from apportion.engine.backend import ENDS, SIGNS, Engine
from apportion.errors import InputError

SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}
OFTEN = "50ms"
WIDE = dt.Decimal(38, 0)
GLOB = re.compile(r"([\\*?{}\[\]])")  # a path is taken for a pattern
NAMES = count(1)  # views of one session share their names


class Compiler(PySparkCompiler):  # type: ignore[misc]  # Ibis ships no types
    """Ibis's own, with Spark's words for those of `engine.backend`."""

    def visit_ScalarUDF(self, op: Any, **numbers: Any) -> Any:  # noqa: N802  # Ibis's name
        match op.__func_name__:
            case "divide":
                return self.f.anon.div(*numbers.values())
            case "exact" | "summand":
                return self.cast(*numbers.values(), WIDE)
        return super().visit_ScalarUDF(op, **numbers)


class Connection(IbisSpark):  # type: ignore[misc]  # Ibis ships no types
    """Ibis's own, but results come as Arrow: through pandas, whole numbers beside a null would become floats."""

    compiler = Compiler()
    stages: "Stages"

    def to_pyarrow(
        self, expr: Any, /, *, params: Mapping[Any, Any] | None = None, limit: int | str | None = None, **_: Any
    ) -> Any:
        self._run_pre_execute_hooks(expr)
        table = expr.as_table()
        self.stages.begin()
        found = self._session.sql(self.compile(table, params=params, limit=limit)).toArrow()
        return expr.__pyarrow_result__(PyArrowData.convert_table(found, table.schema()))


class Stages:
    """Counts what Spark completed for one connection, by the group of its jobs."""

    def __init__(self, session: Any) -> None:
        self.context, self.group = session.sparkContext, f"apportion {next(NAMES)}"

    def begin(self) -> None:
        self.context.setJobGroup(self.group, self.group)

    def completed(self) -> int:
        tracker = self.context.statusTracker()
        jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.group))
        found = (tracker.getStageInfo(stage) for stage in {stage for job in jobs if job for stage in job.stageIds})
        return sum(1 for stage in found if stage and stage.numTasks == stage.numCompletedTasks)


class RemoteStages(Stages):
    """The same over Spark Connect, where the server tells how far each operation is."""

    def __init__(self, session: Any) -> None:
        self.done: dict[str, int] = {}
        session.conf.set("spark.connect.progress.reportInterval", OFTEN)  # what ends sooner is not told of
        session.registerProgressHandler(self.told)

    def begin(self) -> None: ...

    def told(self, stages: Any, operation_id: str | None, **_: Any) -> None:
        self.done[operation_id or ""] = sum(1 for stage in stages or () if stage.num_tasks == stage.num_completed_tasks)

    def completed(self) -> int:
        return sum(self.done.values())


@dataclass(slots=True)
class Spark:
    """A session and the names of the views that a plan lends it."""

    session: Any
    connection: Connection
    views: dict[str, Any] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        return Engine("spark", str(self.session.version), self.connection.stages.completed())

    def lend(self, table: pa.Table, *, often: bool = False) -> Any:  # noqa: ARG002 - it is all the same to Spark
        return self.name(self.session.createDataFrame(table))

    def keep(self, rows: Any) -> Any:
        return self.name(self.session.sql(self.connection.compile(rows)).persist())

    def read(self, files: list[str]) -> Any:
        try:
            places = ["file://" + GLOB.sub(r"\\\1", file) for file in files]
            return self.name(self.session.read.option("mergeSchema", "true").parquet(*places))
        except AnalysisException as error:
            raise InputError(
                "evidence-out-of-reach",
                f"Spark cannot read the evidence: {str(error).splitlines()[0]}",
                where=files[0],
                hint="let Spark's machines see the warehouse under the same path, or keep it in an object store",
            ) from error

    def name(self, frame: Any) -> Any:
        name = f"apportion_{next(NAMES)}"
        frame.createOrReplaceTempView(name)
        self.views[name] = frame
        return self.connection.table(name)

    def forget(self) -> None:
        while self.views:
            name, frame = self.views.popitem()
            frame.unpersist()
            self.session.catalog.dropTempView(name)


def over_spark(session: Any, *, remote: bool = False) -> Spark:
    """A backend over a session that is ours alone: its settings are set."""
    connection = Connection()
    connection.do_connect(session, **SETTINGS)
    connection.stages = RemoteStages(session) if remote else Stages(session)
    session.createDataFrame(SIGNS).createOrReplaceTempView(ENDS)
    return Spark(session, connection)
