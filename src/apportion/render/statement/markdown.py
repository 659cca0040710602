"""Markdown for chats and wikis: headings, pipe tables, and the same words as on paper."""

from collections.abc import Iterator, Sequence

from apportion.render.markdown import escaped
from apportion.render.statement.layout import page_of
from apportion.render.statement.page import Page, Section, Table
from apportion.reports.statement.shape import Statement


def render(statement: Statement) -> bytes:
    page = page_of(statement)
    blocks = [*opening(page), *(block for section in page.sections for block in section_blocks(section)), closing(page)]
    return ("\n\n".join(blocks) + "\n").encode()


def opening(page: Page) -> Iterator[str]:
    yield f"# {escaped(page.title)}"
    if page.stamp:
        yield f"**{escaped(page.stamp)}**"
    yield f"**{escaped(page.headline)}: {escaped(page.figure)} {escaped(page.currency)}**"
    yield from map(escaped, page.sentences)
    yield "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in page.facts)


def section_blocks(section: Section) -> Iterator[str]:
    yield f"## {escaped(section.title)}"
    yield from map(escaped, section.sentences)
    yield from map(pipes, section.tables)


def pipes(table: Table) -> str:
    lines = [
        line([escaped(column.title) for column in table.columns]),
        line(["---" if column.width else "---:" for column in table.columns]),
        *(line(cells_of(row)) for row in table.rows),
    ]
    if table.total:
        lines.append(line([f"**{cell}**" if cell else "" for cell in cells_of(table.total)]))
    return "\n".join(lines)


def cells_of(row: Sequence[str]) -> list[str]:
    """Each on one line, so that what is indented on paper is not."""
    return [" · ".join(escaped(part.strip()) for part in cell.split("\n")) for cell in row]


def closing(page: Page) -> str:
    return "  \n".join(f"{escaped(name)}: {escaped(value)}" for name, value in page.footer if value)


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
