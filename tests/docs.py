"""`make docs`: writes the references of the command line and of the methods from their own help, and brings the outputs that pages show up to date."""

import ast
import fcntl
import inspect
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # run as a script, too

import apportion  # noqa: E402
from apportion.verbs import methods  # noqa: E402
from tests import warm  # noqa: E402
from tests.notebook import playing  # noqa: E402
from tests.snippets import FENCE, rewritten, shell, wrongs  # noqa: E402

CLI_PAGE, METHODS_PAGE = ROOT / "docs/reference/cli.md", ROOT / "docs/reference/methods.md"
LIBRARY_PAGE = ROOT / "docs/reference/library.md"
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
UNDERSTAND = [*sorted((ROOT / "docs/explanation").glob("*.md")), *sorted((ROOT / "docs/migrate").glob("*.md"))]
PAGES = [ROOT / "README.md", *TUTORIALS, *sorted((ROOT / "docs/how-to").glob("*.md")), *UNDERSTAND]
CLI_INTRO = """# The command line

Made by `make docs` from the commands' own help.

Data goes to stdout, talk and progress to stderr. `NO_COLOR` is honoured. `--project DIR` stands before the verb.
"""


METHODS_INTRO = """# Methods

Made by `make docs` from what `apportion methods METHOD` prints: formula, what a method promises, what it breaks with a problem that shows it, and an
example as `apportion split` solves it. Amounts are in minor units; what a method does not read is a remark on how the problem came about.
How a policy sets them: [the policy](policy.md).
"""


LIBRARY_INTRO = """# The library

Made by `make docs` from the functions themselves. `import apportion as ap`; each function is a verb of [the command line](cli.md).

A value reads as its sentence and its table, at a prompt and in a notebook. `to_arrow()` has all its rows with every digit, `chart` is its chart as
Vega-Lite or None. Where a month is not named, the newest that can be spoken of is meant.
What is refused is an `ApportionError` with a code, a place and a hint.
Most functions also take `step`, which is called with what is done, how far it is and of how much.
How to work with it: [from Python](../how-to/use-it-from-python.md).
"""
UNSAID = {"step", "read", "gathering", "posted"}  # for faces that show progress, or see only a part


class Verb(NamedTuple):
    name: str
    help: str


def verbs(path: tuple[str, ...] = ()) -> Iterator[Verb]:
    """Every command and sub-command with the help that a user sees."""
    text = help_of(path)
    yield Verb(" ".join(("apportion", *path)), text)
    for name in re.findall(r"^  ([a-z][a-z-]*)(?:  .*)?$", text.partition("Commands:\n")[2], re.MULTILINE):
        yield from verbs((*path, name))


def help_of(path: tuple[str, ...]) -> str:
    done = shell(" ".join(("apportion", *path, "--help")), ROOT)
    if done.returncode:
        raise SystemExit(f"apportion {' '.join(path)} --help failed:\n{done.stdout}")
    return "".join(line.rstrip() + "\n" for line in done.stdout.strip().splitlines())


def cli_page() -> str:
    return CLI_INTRO + "".join(f"\n## {verb.name}\n\n```text\n{verb.help}```\n" for verb in verbs())


def methods_page() -> str:
    return METHODS_INTRO + "".join(method_text(row["name"]) for row in methods.methods())


def method_text(name: str) -> str:
    about = methods.method(name)
    example = about.pop("Example")
    lines = [f"- **{title}**:{listed(body)}" for title, body in about.items() if body]
    return f"\n## {name}\n\n" + "\n".join(lines) + f"\n\n```text\n{example}\n```\n"


def listed(body: str) -> str:
    """On one line; where lines have lines of their own, a list: what, a problem as code, what comes of it."""
    if "\n  " not in body:
        return " " + "; ".join(body.splitlines())
    items = re.findall(r"^(\S.*)\n  (.*)\n  (.*)$", body, re.MULTILINE)
    return "".join(f"\n  - {what}\n    `{problem}`: {outcome}" for what, problem, outcome in items)


def library_page() -> str:
    known = {name: getattr(apportion, name) for name in sorted(apportion.__all__, key=str.lower)}
    parts = {name: (as_written(one) if inspect.isfunction(one) else fields_of(one)) for name, one in known.items()}
    return LIBRARY_INTRO + "".join(
        f"\n## {name}\n\n```text\n{parts[name] or name}\n```\n\n{inspect.getdoc(one)}\n" for name, one in known.items()
    )


def as_written(verb: Callable[..., object]) -> str:
    """The signature as the source has it: no address, no module."""
    made = ast.parse(textwrap.dedent(inspect.getsource(verb))).body[0]
    assert isinstance(made, ast.FunctionDef)
    given = made.args
    first = len(given.args) - len(given.defaults)
    given.defaults = [one for n, one in enumerate(given.defaults, first) if given.args[n].arg not in UNSAID]
    given.args = [one for one in given.args if one.arg not in UNSAID]
    kept = [one.arg not in UNSAID for one in given.kwonlyargs]
    given.kw_defaults = [one for one, keep in zip(given.kw_defaults, kept, strict=True) if keep]
    given.kwonlyargs = [one for one, keep in zip(given.kwonlyargs, kept, strict=True) if keep]
    returns = f" -> {ast.unparse(made.returns)}" if made.returns else ""
    text = f"{made.name}({ast.unparse(given)}){returns}"
    for public, place in apportion._PLACES.items():
        room, _, called = place.partition(":")
        if called and verb.__module__ == f"apportion.{room}":
            text = re.sub(rf"\b{called}\b", public, text)
    return text


def fields_of(kind: type) -> str:
    if not is_dataclass(kind):
        return ""
    named = (
        f"{one.name}{'' if one.default is MISSING and one.default_factory is MISSING else '=...'}"
        for one in fields(kind)
    )
    return f"{kind.__name__}({', '.join(named)})"


def headings(page: str) -> set[str]:
    without_fences = FENCE.sub("", page)
    return {found.strip("` ") for found in re.findall(r"^##+ (.+)$", without_fences, re.MULTILINE)}


def make_demo(folder: Path) -> Path:
    """The project that `make run` makes, for the pages that read it."""
    done = shell("apportion demo demo", folder)
    if done.returncode:
        raise RuntimeError(done.stdout)
    return folder / "demo"


def shared_demo() -> Path:
    """One for all who copy it: the first who asks makes it, beside the process that all of them call."""
    place = Path(warm.environment()[warm.SOCKET]).parent
    with (place / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "demo").exists():
            make_demo(Path(tempfile.mkdtemp(dir=place))).rename(place / "demo")
    return place / "demo"


def furnish(page: str, folder: Path, demo: Path | None) -> None:
    """What a page may take for granted in its folder: the examples, what is deployed, and the demo project unless it makes one."""
    for name in ("examples", "deploy"):
        shutil.copytree(ROOT / name, folder / name)
    if demo and reads_demo(page):
        shutil.copytree(demo, folder / "demo")


def wrong_on(page: Path, folder: Path) -> str:
    """What a page shows that its snippets do not print."""
    text = page.read_text(encoding="utf-8")
    furnish(text, folder, shared_demo() if reads_demo(text) else None)
    return "\n\n".join(wrongs(text, folder))


def reads_demo(page: str) -> bool:
    return "--project demo" in page and "$ apportion demo" not in page


def main(wanted: list[str]) -> None:
    """All pages, or those whose names are given, such as `read-slurm`."""
    for page, text in ((CLI_PAGE, cli_page()), (METHODS_PAGE, methods_page()), (LIBRARY_PAGE, library_page())):
        page.write_text(text, encoding="utf-8")
        print("wrote", page.relative_to(ROOT))
    if not wanted or "notebook" in wanted:
        with tempfile.TemporaryDirectory() as scratch:
            playing.write(Path(scratch))
        print("wrote", playing.NOTEBOOK.relative_to(ROOT))
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES if not wanted or path.stem in wanted}
    with tempfile.TemporaryDirectory() as scratch:
        demo = make_demo(Path(scratch)) if any(map(reads_demo, texts.values())) else None
        for path, text in texts.items():
            folder = Path(tempfile.mkdtemp(dir=scratch))
            furnish(text, folder, demo)
            new = rewritten(text, folder)
            if new != text:
                path.write_text(new, encoding="utf-8")
                print("wrote", path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
