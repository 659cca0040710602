"""Files for another tool: those of a folder appear together."""

from collections.abc import Mapping
from pathlib import Path

from apportion.verbs.together import Together, together


def written(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """By their names in the folder; what is there under the same name is replaced."""
    for place in dict.fromkeys((folder / name).parent for name in files):
        own = {Path(name).name: text for name, text in files.items() if (folder / name).parent == place}
        with together(place) as made:
            for name, text in own.items():
                put(made, name, text)
    return tuple(str(folder / name) for name in files)


def put(made: Together, name: str, text: str) -> None:
    with made.file(name) as file:
        file.write(text.encode())
