"""The command line where some modules cannot be imported: `python without.py '[[["fastapi"], ["serve"]], ...]'` prints codes and errors as JSON.

It runs in an environment of its own, knows nothing of this folder, and forks for each call, so that the rest is imported once.
"""

import json
import os
import sys
import tempfile
from importlib.machinery import ModuleSpec

import apportion.verbs.project  # noqa: F401 - once for all
from apportion.cli.main import main


class Refusing:
    def __init__(self, names: list[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Refuses what is named and what lies in it."""
        del path, target
        if any(name == refused or name.startswith(f"{refused}.") for refused in self.names):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def called(refused: list[str], words: list[str]) -> tuple[int, str]:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(said.fileno(), 2)
            sys.meta_path.insert(0, Refusing(refused))
            try:
                main(words)
            except SystemExit as stop:
                os._exit(int(stop.code or 0))
            finally:
                os._exit(99)  # a child never goes on as its parent
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode()


if __name__ == "__main__":
    print(json.dumps([called(refused, words) for refused, words in json.loads(sys.argv[1])]))
