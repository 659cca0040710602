"""The project: a folder with an apportion.toml, its books and its policy.

It is the folder given, else this folder or the nearest parent that has an apportion.toml, else what APPORTION_PROJECT names.
"""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from apportion.books.open import Books, open_books
from apportion.errors import ApportionError, ProjectError
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.verbs.settings import FILE, HIDDEN, Settings, Source, engine_named, nearest, read_settings

VARIABLE = "APPORTION_PROJECT"
SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Project:
    """Books and policy are opened when first asked for, so that `check` can speak about a broken one."""

    folder: Path
    settings: Settings

    @cached_property
    def books(self) -> Books:
        url, warehouse = self.places()
        if url.startswith(SQLITE):
            Path(url.removeprefix(SQLITE)).parent.mkdir(parents=True, exist_ok=True)
        return open_books(url, warehouse, create=True, key=self.names_key())

    def names_key(self) -> bytes:
        """That of the file beside apportion.toml, which `init` makes; without one, tokens are the same in all projects."""
        file = self.folder / self.settings.names_key
        try:
            return file.read_bytes().strip()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise ProjectError(
                "unreadable-project", f"{file} cannot be read: {error.strerror}", where=str(file)
            ) from error

    def places(self) -> tuple[str, str]:
        """Database and warehouse; relative paths are relative to the project."""
        url = self.settings.url or f"{SQLITE}{HIDDEN}/books.db"
        if url.startswith(SQLITE):
            url = f"{SQLITE}{(self.folder / url.removeprefix(SQLITE)).absolute()}"
        warehouse = self.settings.warehouse or f"{HIDDEN}/warehouse"
        return url, warehouse if "://" in warehouse else str((self.folder / warehouse).absolute())

    @cached_property
    def policy(self) -> Policy:
        """The policy file as it is now, which need not be the one in force for a period."""
        file = self.folder / self.settings.policy
        try:
            return load_policy(file.read_text("utf-8"), self.settings.policy)
        except FileNotFoundError as error:
            raise ProjectError(
                "no-policy-file",
                f"there is no policy file {self.settings.policy}",
                where=str(self.folder / FILE),
                hint=f"write {file}, or set `policy` under [project] to the file that you have",
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise ProjectError("no-policy-file", f"{file} cannot be read: {error}", where=str(file)) from error

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Those of apportion.toml, and the table of rates where the policy names a file."""
        stated = self.settings.sources
        try:
            policy = self.policy
        except ApportionError:
            return stated  # a policy is not needed to read a source
        fx = policy.fx
        if fx is None or not fx.is_file:
            return stated
        where = f"{policy.file}:{policy.line('fx')}"
        for source in stated:
            if source.name == fx.source and source.kind != "fx":
                raise ProjectError(
                    "double-source",
                    f"the rates of {fx.table} would be a source called {fx.source!r}, as another source is",
                    where=f"{source.where} and {where}",
                    hint="rename the source or the file",
                )
            if source.name == fx.source:
                return stated
        return (*stated, Source(fx.source, "fx", {"name": fx.source, "kind": "fx", "path": fx.table}, where))

    def on(self, engine: str | None) -> "Project":
        """The same project, its plans computed elsewhere than its settings say."""
        if engine is None:
            return self
        chosen = {**self.settings.engine, **engine_named(engine)}
        return replace(self, settings=replace(self.settings, engine=chosen))

    def source(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        names = [source.name for source in self.sources]
        raise ProjectError(
            "unknown-source",
            f"{FILE} has no source {name!r}",
            where=str(self.folder / FILE),
            hint=nearest(name, names, "sources"),
        )


def open_project(folder: str | Path | None = None) -> Project:
    """The project in a folder; without one, of this folder or the nearest above it, or the one that APPORTION_PROJECT names."""
    found = find_project(folder)
    return Project(found, read_settings(found / FILE))


def find_project(folder: str | Path | None = None) -> Path:
    if folder is not None:
        return _with_file(
            Path(folder), f"{folder} has no {FILE}", f"run `apportion init {folder}`, or name another folder"
        )
    here = Path.cwd()
    for candidate in (here, *here.parents):
        if (candidate / FILE).is_file():
            return candidate
    named = os.environ.get(VARIABLE)
    if named:
        return _with_file(
            Path(named), f"{VARIABLE} names {named}, which has no {FILE}", f"unset {VARIABLE} or correct it"
        )
    raise ProjectError(
        "no-project",
        f"there is no {FILE} in {here} or above it",
        hint="run `apportion init` to start a project here, `apportion demo` to see one, or give --project DIR",
    )


def _with_file(folder: Path, message: str, hint: str) -> Path:
    if not (folder / FILE).is_file():
        raise ProjectError("no-project", message, where=str(folder), hint=hint)
    return folder
