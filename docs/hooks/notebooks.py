"""A notebook is a page of the site, with its outputs as they were saved, and a download."""

import json
from pathlib import PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig, **_: object) -> Files:
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = PurePosixPath(notebook.src_uri)
        page = File.generated(
            config,
            str(path.with_suffix(".md")),
            content=as_page(json.loads(notebook.content_string), path.name),
            inclusion=InclusionLevel.INCLUDED,
        )
        page.dest_uri = f"{PurePosixPath(notebook.dest_uri).with_suffix('')}/index.html"
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Other pages link to the notebook, which a forge shows; here its page is meant."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        name = PurePosixPath(notebook.src_uri)
        if page.file.src_uri != str(name.with_suffix(".md")):
            markdown = markdown.replace(f"{name.name})", f"{name.stem}.md)")
    return markdown


def as_page(notebook: dict[str, Any], name: str) -> str:
    """Its cells in their order; the first has the title, and under it stands where the file is."""
    first, *others = [part for cell in notebook["cells"] for part in parts(cell)] or [f"# {name}"]
    return "\n\n".join([first, f"[Take the notebook along]({name})", *others]) + "\n"


def parts(cell: dict[str, Any]) -> list[str]:
    source = text(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    if cell["cell_type"] != "code" or not source.strip():
        return []
    return [f"```python\n{source}\n```", *(shown for output in cell["outputs"] if (shown := result(output)))]


def result(output: dict[str, Any]) -> str:
    """The best that a page can show of what a cell printed: a picture, a table, or text."""
    rich = output.get("data", {})
    if "image/png" in rich:
        return f"![What the cell drew](data:image/png;base64,{text(rich['image/png']).strip()})"
    if "text/html" in rich:
        return f"<div>\n{text(rich['text/html']).strip()}\n</div>"
    printed = text(output.get("text", rich.get("text/plain", output.get("traceback", "")))).rstrip()
    return f"```text\n{printed}\n```" if printed else ""


def text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
