"""Where a project's plans are computed: as `[engine]` of apportion.toml or `--engine` says, there or nowhere."""

from apportion.engine.backend import Backend
from apportion.engine.backends.duckdb import connect_duckdb
from apportion.verbs.project import Project
from apportion.verbs.spark import connect_spark


def backend_of(project: Project) -> Backend:
    """`threads`, `memory` and `spill` are those of this process, whichever engine runs in it."""
    engine = project.settings.engine
    threads, memory = engine.get("threads"), engine.get("memory")
    spill = str((project.folder / engine["spill"]).absolute()) if "spill" in engine else None
    if engine.get("name") == "spark":
        return connect_spark(engine.get("master", f"local[{threads or '*'}]"), memory=memory, spill=spill)
    return connect_duckdb(threads=threads, memory=memory, spill=spill)
