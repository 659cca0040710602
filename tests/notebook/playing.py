"""The notebook of the tutorial: run on a kernel of its own, compared with the outputs that it shows, and brought up to date by `make docs`."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/tutorials/notebook.ipynb"
HASH = re.compile(r"\b[0-9a-f]{64}\b")  # a ledger's head differs from run to run
SHOWN = ("text/plain", "text/html")  # what readers see on the site; a chart is part of the page


def kept() -> Any:
    """As it is stored."""
    return nbformat.v4.reads(NOTEBOOK.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]  # it has no types


def played(folder: Path) -> Any:
    """The notebook as it comes out now, in a folder where nothing is yet."""
    found = kept()
    kernel = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python", "language": "python"}  # fmt: skip
    place = folder / ".kernels/kernels/python3"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    here = {
        "JUPYTER_PATH": str(folder / ".kernels"),
        "JUPYTER_RUNTIME_DIR": str(folder / ".runtime"),
        "IPYTHONDIR": str(folder / ".ipython"),
    }
    before = {name: os.environ.get(name) for name in here}
    os.environ.update(here)
    try:
        NotebookClient(
            found, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    return tidied(found)


def tidied(notebook: Any) -> Any:
    """Without what differs from run to run."""
    for n, cell in enumerate(notebook.cells):
        cell.id = f"cell-{n:02d}"
        if cell.cell_type == "code":
            cell.metadata, cell.execution_count = {}, None
            cell.outputs = [output_of(one) for one in cell.outputs]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def output_of(given: Any) -> Any:
    if given.output_type == "stream":
        given.text = HASH.sub("…", given.text)
        return given
    given.metadata = {}
    given.execution_count = None
    given.data = {kind: HASH.sub("…", text) for kind, text in given.data.items() if kind in SHOWN}
    return given


def texts(notebook: Any) -> list[str]:
    """What each cell shows, in words: the drawing of a chart is not compared dot by dot."""
    return ["\n".join(map(text_of, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


def text_of(output: Any) -> str:
    return str(output.text if output.output_type == "stream" else output.data.get("text/plain", ""))


def code() -> str:
    """All of it as one program."""
    return "\n\n".join(cell.source for cell in kept().cells if cell.cell_type == "code")


def write(folder: Path) -> None:
    text = nbformat.v4.writes(played(folder))  # type: ignore[no-untyped-call]  # it has no types
    NOTEBOOK.write_text(f"{text}\n", encoding="utf-8")
