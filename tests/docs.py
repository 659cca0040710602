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
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # run as a script, too

import apportion  # noqa: E402
from apportion.books.tables import EVIDENCE  # noqa: E402
from apportion.books.views.evidence import (  # noqa: E402
    ABOUT,
    FOCUS,
    HOURS,
    HOURS_ABOUT,
    KEYS_OF_HOURS,
    QUANTITIES,
    UTILISATION,
    duckdb_type,
    meaning,
)
from apportion.books.views.shapes import TYPES, VERSION, VIEWS, View  # noqa: E402
from apportion.integrations.prometheus.rules import RULES  # noqa: E402
from apportion.reports.metrics.families import FAMILIES  # noqa: E402
from apportion.verbs import methods  # noqa: E402
from tests import warm  # noqa: E402
from tests.checked import page as checked  # noqa: E402
from tests.clouds import ask, s3_server  # noqa: E402
from tests.notebook import playing  # noqa: E402
from tests.snippets import FENCE, rewritten, shell, wrongs  # noqa: E402

CLI_PAGE, METHODS_PAGE = ROOT / "docs/reference/cli.md", ROOT / "docs/reference/methods.md"
LIBRARY_PAGE = ROOT / "docs/reference/library.md"
VIEWS_PAGE, METRICS_PAGE = ROOT / "docs/reference/views.md", ROOT / "docs/reference/metrics.md"
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
UNDERSTAND = [*sorted((ROOT / "docs/explanation").glob("*.md")), *sorted((ROOT / "docs/migrate").glob("*.md"))]
PAGES = [ROOT / "README.md", *TUTORIALS, *sorted((ROOT / "docs/how-to").glob("*.md")), *UNDERSTAND]
STORE = "https://minio.example:9000"  # of pages about a store of one's own
CLI_INTRO = """# The command line

Made by `make docs` from the commands' own help.

Data goes to stdout, talk and progress to stderr. `NO_COLOR` is honoured. `--project DIR` stands before the verb.
"""


METHODS_INTRO = """# Methods

Made by `make docs` from what `apportion methods METHOD` prints: formula, what a method promises, what it breaks with a problem that shows it, and an
example as `apportion split` solves it. Amounts are in minor units; what a method does not read is a remark on how the problem came about.
How a policy sets them: [the policy](policy.md).
"""

VIEWS_INTRO = f"""# The views

Made by `make docs` from what the books make: version {VERSION}. `apportion views` makes them in the database of the books, PostgreSQL or SQLite.
How tools use them: [BI tools](../how-to/use-bi-tools.md).

What a version promises: names, columns and meanings stay. A later release may add views, and columns at the end of a view; what would mean something
else gets another name. PostgreSQL has each meaning as the comment of its column.

| here | in PostgreSQL | in SQLite |
|---|---|---|
{{types}}

- Figures of a month by owner, pool, component, reason or cause are sums of `apportion_amounts`, as in every report.
  `apportion_daily` and `apportion_postings` have every digit, for what is told by day.
- Every column of kind money is exact. SQLite has no decimals: it holds every digit as text there, and its own `SUM` would make it a binary number. The
  views that are sums add up exactly in both.
- Beside each stands the same as a binary number (`amount_approx`), for charts and for tools that cannot read the exact one.
- Rows of several currencies are never to be added: group or filter by `currency`. `is_money` leaves out carbon and energy.
- Users are pseudonyms, which stay the same from month to month. `apportion_users` alone tells whose they are, and a reader sees it only if it was granted
  with `--names`. A name that was erased is in no view; copies that a tool took before are the tool's to renew.
- Filter by `period`: the ledger has an index of it.
"""

EVIDENCE_INTRO = """
## The evidence

Apache Iceberg tables in the namespace `evidence`: plain Parquet files that are never changed, one published state at a time, which `apportion_evidence` names.
In DuckDB, `apportion views --duckdb FILE` makes a view of each, `apportion_cost_lines` and so on, in which a column such as `start_s` is also there as a
timestamp in UTC (`start_at`). Who can read the warehouse can read names of users that are not erased.
"""


METRICS_INTRO = """# Metrics

Made by `make docs` from what `/metrics` and `apportion export metrics` tell. How to scrape them:
[Prometheus and Grafana](../how-to/watch-with-prometheus-and-grafana.md).

- Prometheus has no numbers but floats. Amounts are exact until they are written out, where each becomes a float once: right to the cent in charts and alerts,
  never for books. The ledger is the truth; a month that is restated is restated there, and what Prometheus saw before stays what it saw.
- `state` is `posted` for what is in the ledger, `estimated` for the running month so far. Both may be of the same month.
- Amounts are in the currency of the label `currency`. Never add two.
- Samples are of teams and pools, never of users, jobs or nodes. `team` may be `_idle`, `_unallocated` or `_residual`.
- Whoever may see some teams is told of those: the families about teams and pools, and none of those marked *all teams alone*.
- An empty label is one that Prometheus leaves out.
- Every server of a project tells all of its figures. Where several are scraped, take `max without (instance, pod, node)` before a sum.

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


def views_page() -> str:
    """What the books make of themselves for other people's tools."""
    types = "\n".join(f"| {kind} | {one} | {other} |" for kind, (one, other) in TYPES.items())
    return (
        VIEWS_INTRO.format(types=types)
        + "".join(map(view_text, VIEWS))
        + EVIDENCE_INTRO
        + "".join(map(evidence_text, EVIDENCE))
        + hours_text()
    )


def evidence_text(table: str) -> str:
    """FOCUS says what its own columns mean."""
    own = [field for field in EVIDENCE[table] if field.name not in FOCUS]
    rows = "\n".join(f"| `{field.name}` | {duckdb_type(field.type)} | {meaning(table, field.name)} |" for field in own)
    focus = [f"`{field.name}`" for field in EVIDENCE[table] if field.name in FOCUS]
    beside = (
        f"\nAnd the columns of FOCUS, numbers as DECIMAL(38, 18), under their own names: {', '.join(focus)}.\n"
        if focus
        else ""
    )
    return f"\n### {table}\n\n{ABOUT[table]}\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n{beside}"


def hours_text() -> str:
    kinds = {"day": "DATE"}
    rows = [f"| `{key}` | {kinds.get(key, 'VARCHAR')} | {meaning('charges', key)} |" for key in KEYS_OF_HOURS]
    rows += [f"| `{name}_hours` | DOUBLE | {said} |" for name, said in QUANTITIES.items()]
    rows.append(f"| `utilisation` | DOUBLE | {UTILISATION} |")
    listed = "\n".join(rows)
    return f"\n### {HOURS}\n\n{HOURS_ABOUT}\n\n| column | type | meaning |\n|---|---|---|\n{listed}\n"


def view_text(view: View) -> str:
    columns = "\n".join(f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in view.columns)
    return f"\n## {view.name}\n\n{view.about}\n\n| column | kind | meaning |\n|---|---|---|\n{columns}\n"


def metrics_page() -> str:
    families = "".join(
        f"## {one.name}\n\n{one.kind.capitalize()}{', *all teams alone*' if one.whole else ''}. {one.says}\n\n"
        + (f"Labels: {', '.join(f'`{label}`' for label in one.labels)}.\n\n" if one.labels else "")
        for one in FAMILIES
    )
    read = YAML(typ="safe")
    rules = [rule for text in RULES.values() for group in read.load(text)["groups"] for rule in group["rules"]]
    recorded = "".join(
        f"| `{rule['record']}` | `{' '.join(rule['expr'].split())}` |\n" for rule in rules if "record" in rule
    )
    alerts = "".join(
        f"| {rule['alert']} | {rule['labels']['severity']} | `{' '.join(rule['expr'].split())}` | {rule.get('for', '')} |\n"
        for rule in rules
        if "alert" in rule
    )
    return (
        f"{METRICS_INTRO}# Families\n\n{families}# Recording rules\n\n| name | is |\n|---|---|\n{recorded}\n"
        f"# Alerts\n\nBounds are ours: edit them in the file.\n\n| name | severity | fires when | for |\n|---|---|---|---|\n{alerts}"
    )


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
    with object_store(text) as store:
        return "\n\n".join(wrongs(text.replace(STORE, store), folder))


@contextmanager
def object_store(page: str) -> Iterator[str]:
    """Where a page keeps its evidence in a bucket, the address of a store on loopback that has the bucket, in place of the page's."""
    named = re.search(r'^warehouse = "s3://([^/"]+)', page, re.MULTILINE)
    if not named:
        yield STORE
        return
    with s3_server() as store:
        ask(store.url, "PUT", f"/{named[1]}")
        yield store.url
        listed = ask(store.url, "GET", f"/{named[1]}?list-type=2").decode()
        assert ".parquet" in listed, f"no evidence came into the bucket: {listed[:1000]}"


def reads_demo(page: str) -> bool:
    return "--project demo" in page and "$ apportion demo" not in page


def main(wanted: list[str]) -> None:
    """All pages, or those whose names are given, such as `read-slurm`."""
    for page, text in (
        (CLI_PAGE, cli_page()),
        (METHODS_PAGE, methods_page()),
        (LIBRARY_PAGE, library_page()),
        (VIEWS_PAGE, views_page()),
        (METRICS_PAGE, metrics_page()),
        (checked.PAGE, checked.page()),
    ):
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
            with object_store(text) as store:
                new = rewritten(text.replace(STORE, store), folder).replace(store, STORE)
            if new != text:
                path.write_text(new, encoding="utf-8")
                print("wrote", path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
