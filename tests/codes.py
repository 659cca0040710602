"""Finds every error code in the sources by reading them, so that the docs can be held to the list."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SLUG = re.compile(r"[a-z]+([-_][a-z0-9]+)+")


@dataclass(frozen=True)
class Takers:
    """Who takes a code, and at which place among the arguments: functions and error classes by module, and methods."""

    names: dict[tuple[str, str], int] = field(default_factory=dict)
    methods: dict[str, set[int]] = field(
        default_factory=dict
    )  # classes may have methods of one name with other arguments
    other_codes: set[tuple[str, str]] = field(default_factory=set)  # a `code` that need not be given may be a program's
    own_methods: dict[tuple[str, str], int | None] = field(default_factory=dict)  # what `self.name` means in a module


def error_codes(folder: Path) -> tuple[set[str], list[str]]:
    """Every error code that is written out, and the places where one is computed, so that no page could list it.

    A function with a parameter `code` takes codes: what its callers write in that place is one.
    """
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}
    takers = Takers()
    for path, tree in trees.items():
        add_takers(takers, module_name(path, folder), tree)
    add_handed_on(takers, {module_name(path, folder): tree for path, tree in trees.items()})
    codes: set[str] = set()
    computed: list[str] = []
    for path, tree in trees.items():
        reach = Reach(takers, module_name(path, folder), tree)
        for value in (value for node in ast.walk(tree) for value in code_values(node, reach)):
            if isinstance(value, ast.Constant):
                codes |= {value.value} if value.value and isinstance(value.value, str) else set()
            elif not is_passed_on(value):
                computed.append(f"{path.relative_to(folder)}:{value.lineno}: {ast.unparse(value)}")
        codes |= set(re.findall(r"error\[([a-z_-]+)\]", ast.unparse(tree)))
    return codes, computed


def module_name(path: Path, folder: Path) -> str:
    return ".".join((folder.name, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")


def add_takers(takers: Takers, module: str, tree: ast.Module) -> None:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            place = place_of_code(node)
        elif isinstance(node, ast.ClassDef):
            place = place_in_class(node)
            add_methods(takers, module, node)
        else:
            continue
        if place is not None:
            takers.names[module, node.name] = place
            if "code: str = ''" in ast.unparse(node).split("\n    "):
                takers.other_codes.add((module, node.name))


def add_handed_on(takers: Takers, trees: dict[str, ast.Module]) -> None:
    """What a package imports from its modules can be imported from the package."""
    for module, tree in trees.items():
        for node in tree.body:
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                place = takers.names.get((str(getattr(node, "module", "")), alias.name))
                takers.names.update({} if place is None else {(module, alias.asname or alias.name): place})


def add_methods(takers: Takers, module: str, node: ast.ClassDef) -> None:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name != "__init__":
            place = takers.own_methods[module, part.name] = place_of_code(part)
            takers.methods.setdefault(part.name, set()).update(set() if place is None else {place})


def place_in_class(node: ast.ClassDef) -> int | None:
    """A field `code: str` of a row of values, or the first argument of an error that a person can act on."""
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    names = [ast.unparse(part.target) for part in fields]
    if "code" in names:
        place = names.index("code")
        return place if ast.unparse(fields[place].annotation) == "str" else None
    return 0 if is_error(node) and not own_codes(node) else None


def is_error(node: ast.ClassDef) -> bool:
    by_name = any(isinstance(base, ast.Name) and base.id.endswith("Error") for base in node.bases)
    return by_name or node.name == "ApportionError"


def own_codes(node: ast.AST) -> list[ast.expr]:
    """Of an error that knows its code by itself: what it hands to the class above."""
    if not isinstance(node, ast.ClassDef) or not is_error(node):
        return []
    starts = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    calls = [call for start in starts if place_of_code(start) is None for call in ast.walk(start)]
    return [
        call.args[0] for call in calls if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__"
    ]


def place_of_code(function: ast.FunctionDef) -> int | None:
    names = [argument.arg for argument in function.args.args if argument.arg not in {"self", "cls"}]
    return names.index("code") if "code" in names else None


class Reach:
    """What names mean in one module: its own functions and classes, and those that it imports."""

    def __init__(self, takers: Takers, module: str, tree: ast.Module) -> None:
        self.takers, self.module = takers, module
        self.names = {
            node.name: (module, node.name) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self.names |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}

    def places(self, call: ast.Call) -> set[int]:
        """Where the call gives a code, if it does."""
        if isinstance(call.func, ast.Name):
            place = self.takers.names.get(self.names.get(call.func.id, ("", "")))
        elif isinstance(call.func, ast.Attribute) and self.is_guess(call):
            return self.takers.methods.get(call.func.attr, set())
        elif isinstance(call.func, ast.Attribute):
            place = self.takers.own_methods[self.module, call.func.attr]
        else:
            place = None
        return set() if place is None else {place}

    def is_guess(self, call: ast.Call) -> bool:
        """A method known by its name alone may be another class's of the same name."""
        if isinstance(call.func, ast.Name):
            return self.names.get(call.func.id) in self.takers.other_codes
        return isinstance(call.func, ast.Attribute) and (self.module, call.func.attr) not in self.takers.own_methods


def code_values(node: ast.AST, reach: Reach) -> Iterator[ast.expr]:
    """The expressions that stand where a code is taken."""
    yield from own_codes(node)
    if isinstance(node, ast.FunctionDef):
        names = [argument.arg for argument in node.args.args]
        defaults = dict(zip(reversed(names), reversed(node.args.defaults), strict=False))
        yield from [defaults["code"]] if "code" in defaults else []
    if isinstance(node, ast.Call):
        for value in (value for place in reach.places(node) for value in given(node, place, reach)):
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def given(call: ast.Call, place: int, reach: Reach) -> list[ast.expr]:
    found = [word.value for word in call.keywords if word.arg == "code"] or call.args[place:][:1]
    if not reach.is_guess(call):
        return found
    return [value for value in found if isinstance(value, ast.Constant) and SLUG.fullmatch(str(value.value))]


def is_passed_on(value: ast.expr) -> bool:
    """A wrapper hands its own `code` through, or the code of what it caught."""
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Constant) and value.slice.value == "code"
    return (
        value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    ) == "code"
