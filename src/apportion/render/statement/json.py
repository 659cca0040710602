"""The canonical text, as the books keep it."""

from apportion.reports.statement.shape import Statement, to_json


def render(statement: Statement) -> bytes:
    return to_json(statement).encode()
