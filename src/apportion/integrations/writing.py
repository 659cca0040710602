"""Files for another tool: those of a folder appear together."""

from collections.abc import Mapping
from pathlib import Path

from apportion.verbs.together import together


def written(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """By their names in the folder; what is there under the same name is replaced."""
    by_folder: dict[Path, dict[str, str]] = {}
    for name, text in files.items():
        by_folder.setdefault((folder / name).parent, {})[Path(name).name] = text
    for place, own in by_folder.items():
        with together(place) as made:
            for name, text in own.items():
                with made.file(name) as file:
                    file.write(text.encode())
    return tuple(str(folder / name) for name in files)
