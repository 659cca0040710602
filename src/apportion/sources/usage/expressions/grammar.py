"""Text to a tree: `gpus * nodes`, `concat(cluster, '-', id)`, `spec.resources.gpu`, `tasks[0]["node name"]`.

    expression = term (("+" | "-") term)*
    term       = factor (("*" | "/") factor)*
    factor     = "-" factor | number | 'text' | function "(" expression ("," expression)* ")" | path | "(" expression ")"
    path       = (name | `name`) ("." name | "[" number "]" | "[" 'text' "]")*

There are no powers, no comparisons and no loops; length and depth are bounded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

LONGEST, DEEPEST, LONGEST_PATH = 500, 20, 32
TOKEN = re.compile(
    r"""\s*(?:(?P<number>[0-9]{1,30}(?:\.[0-9]{1,30})?)(?![\w.])|(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`]+)`|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<sign>[-+*/(),.\[\]]))"""
)
END = "the end"


class Mistake(Exception):  # noqa: N818 - the stanza turns it into a ProjectError that has a place
    """What is wrong with an expression; `at` counts characters from 1."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


@dataclass(frozen=True, slots=True)
class Path:
    """A column, or a place inside one that holds JSON."""

    steps: tuple[str | int, ...]
    at: int = 1

    @property
    def shown(self) -> str:
        first, *others = self.steps
        return str(first) + "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in others)


@dataclass(frozen=True, slots=True)
class Literal:
    value: Fraction | str


@dataclass(frozen=True, slots=True)
class Operation:
    sign: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple["Node", ...]
    at: int = 1


Node = Path | Literal | Operation | Call


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


def parse(text: str) -> Node:
    """Raises Mistake."""
    if len(text) > LONGEST:
        raise Mistake(f"it is over {LONGEST} characters long", LONGEST)
    return Parser(list(tokens(text))).whole()


def tokens(text: str) -> Iterator[Token]:
    end = 0
    while text[end:].strip():
        found = TOKEN.match(text, end)
        if found is None or found.lastgroup is None:
            at = end + len(text[end:]) - len(text[end:].lstrip())
            raise Mistake(f"nothing begins with {text[at : at + 1]!r}", at + 1)
        kind = found.lastgroup
        yield Token("text" if kind in ("single", "double") else kind, found[kind], found.start(kind) + 1)
        end = found.end()
    yield Token("end", END, len(text) + 1)


class Parser:
    """Recursive descent, one method a rule."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.number = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.number]

    def take(self) -> Token:
        self.number += 1
        return self.tokens[self.number - 1]

    def took(self, *signs: str) -> Token | None:
        return self.take() if self.token.kind == "sign" and self.token.text in signs else None

    def need(self, sign: str) -> None:
        if not self.took(sign):
            raise self.unexpected(repr(sign))

    def unexpected(self, expected: str) -> Mistake:
        return Mistake(f"expected {expected}, found {self.token.text[:40]!r}", self.token.at)

    def whole(self) -> Node:
        found = self.expression()
        if self.token.kind != "end":
            raise self.unexpected("an operator or the end")
        return found

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Mistake(f"it is nested over {DEEPEST} deep", self.token.at)
        found = self.term()
        while sign := self.took("+", "-"):
            found = Operation(sign.text, found, self.term())
        self.depth -= 1
        return found

    def term(self) -> Node:
        found = self.factor()
        while sign := self.took("*", "/"):
            found = Operation(sign.text, found, self.factor())
        return found

    def factor(self) -> Node:
        negative = False
        while self.took("-"):
            negative = not negative
        found = self.atom()
        if negative and isinstance(found, Literal) and isinstance(found.value, Fraction):
            return Literal(-found.value)
        return Operation("-", Literal(Fraction(0)), found) if negative else found

    def atom(self) -> Node:
        if self.took("("):
            found = self.expression()
            self.need(")")
            return found
        token = self.token
        if token.kind in ("end", "sign"):
            raise self.unexpected("a column, a number, 'text' or a function")
        self.take()
        if token.kind == "number":
            return Literal(Fraction(token.text))
        if token.kind == "text":
            return Literal(token.text)
        if token.kind == "name" and self.took("("):
            return Call(token.text, self.arguments(), token.at)
        return self.path(token)

    def arguments(self) -> tuple[Node, ...]:
        if self.took(")"):
            return ()
        found = [self.expression()]
        while self.took(","):
            found.append(self.expression())
        self.need(")")
        return tuple(found)

    def path(self, first: Token) -> Path:
        steps: list[str | int] = [first.text]
        while sign := self.took(".", "["):
            steps.append(self.key() if sign.text == "." else self.index())
            if len(steps) > LONGEST_PATH:
                raise Mistake(f"the path has over {LONGEST_PATH} steps", first.at)
        return Path(tuple(steps), first.at)

    def key(self) -> str:
        if self.token.kind not in ("name", "quoted"):
            raise self.unexpected("a key after the point")
        return self.take().text

    def index(self) -> str | int:
        sign = -1 if self.took("-") else 1
        token = self.take()
        self.need("]")
        if token.kind == "text" and sign > 0:
            return token.text
        if token.kind != "number" or not token.text.isdecimal() or len(token.text) > 6:
            raise Mistake("expected a whole number or 'key' in brackets", token.at)
        return sign * int(token.text)


def paths_in(node: Node) -> Iterator[Path]:
    """Every path of a tree, from left to right."""
    if isinstance(node, Path):
        yield node
    elif isinstance(node, Operation):
        yield from paths_in(node.left)
        yield from paths_in(node.right)
    elif isinstance(node, Call):
        for argument in node.arguments:
            yield from paths_in(argument)
