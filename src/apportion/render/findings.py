"""The table of findings that every face shows."""

from collections.abc import Sequence

from apportion.model.findings import JudgedFinding
from apportion.render.sheet import Table
from apportion.reports.findings import COLUMNS, HEADING, finding_rows


def findings_tables(judged: Sequence[JudgedFinding], heading: str = HEADING) -> tuple[Table, ...]:
    """None where there are none."""
    return (Table(COLUMNS, finding_rows(judged), heading=heading),) if judged else ()
