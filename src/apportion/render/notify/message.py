"""An event in words. Its template's first line is the subject, the rest the text; the page around it is the same for all.

A project may bring templates of its own. They are somebody's text, so they run in Jinja's sandbox, and a name that does not exist is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from apportion.errors import InputError
from apportion.render.notify.samples import SAID, sample
from apportion.reports.words import counted, digits, shown

FOLDER = files("apportion.render.notify") / "template"
TEXT, PAGE = ".txt", ".html"
DIGEST, MESSAGE = "digest", "message"
NAMES = (*(f"{event}{end}" for event in SAID for end in (TEXT, PAGE)), DIGEST + TEXT, MESSAGE + PAGE)
LONGEST_SUBJECT = 150


@dataclass(frozen=True, slots=True)
class Message:
    """`link` is empty where nobody knows the address of the pages."""

    subject: str
    text: str
    html: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Templates:
    """`own` are those of the project by file name, `address` that of the pages, `books` what the project is called."""

    books: str
    address: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def message(self, said: Mapping[str, Any]) -> Message:
        event = str(said["event"])
        link = self.address + said["link"] if self.address and said.get("link") else ""
        known = {"teams": (), "changes": (), "totals": (), "head": "", **said, "link": link, "books": self.books}
        return self.page(event, self.filled(event + TEXT, known), known)

    def digest(self, some: Sequence[Message]) -> Message:
        known = {"messages": some, "link": self.address, "books": self.books}
        return self.page(DIGEST, self.filled(DIGEST + TEXT, known), known)

    def page(self, event: str, text: str, known: Mapping[str, Any]) -> Message:
        first, _, rest = text.strip().partition("\n")
        subject = " ".join(first.split())[:LONGEST_SUBJECT]
        paragraphs = [part.strip() for part in rest.strip().split("\n\n") if part.strip()]
        name = event + PAGE if event + PAGE in self.own else MESSAGE + PAGE
        html = self.filled(name, {**known, "subject": subject, "paragraphs": paragraphs})
        return Message(subject, "\n\n".join(paragraphs), html, known["link"])

    def filled(self, name: str, known: Mapping[str, Any]) -> str:
        text = self.own.get(name)
        try:
            made = compiled(shipped(name) if text is None else text, is_page=name.endswith(PAGE))
            return made.render(known)
        except TemplateError as error:
            raise wrong(name, error, known) from error
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise wrong(name, error, known) from error

    def check(self) -> None:
        """Each is filled with an example; the first that cannot be is refused."""
        made = [self.message(sample(event)) for event in SAID]
        self.digest(made)


def wrong(name: str, error: Exception, known: Mapping[str, Any]) -> InputError:
    line = getattr(error, "lineno", None)
    reason = " ".join(str(error).split()) or type(error).__name__
    return InputError(
        "template-wrong",
        f"the template cannot be filled: {reason[:300]}",
        where=f"templates/notify/{name}" + (f":{line}" if line else ""),
        hint=f"it may use {', '.join(sorted(known))}; and the filters money(CURRENCY), number",
    )


@cache
def shipped(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def environment(*, is_page: bool) -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=is_page
    )
    made.filters |= {"money": money, "number": number, "counted": counted}
    return made


@cache
def compiled(text: str, *, is_page: bool) -> Template:
    return environment(is_page=is_page).from_string(text)


def money(amount: str, currency: str) -> str:
    """`1,204.50 USD`."""
    return shown(Decimal(amount), currency)


def number(text: str) -> str:
    """`1,204.5`."""
    return digits(Decimal(text))
