"""What goes over the wire: what the API promises and the client reads. Amounts are texts with every digit."""

from pydantic import BaseModel, ConfigDict

Cell = str | int | None


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(Shape):
    """RFC 9457, with the code that the command line prints; docs/reference/errors.md has a heading for each."""

    type: str = "about:blank"
    status: int
    code: str
    title: str
    detail: str
    hint: str = ""


class Section(Shape):
    """The rows of one currency; their amounts add up to `bill`."""

    currency: str
    bill: str
    rows: list[dict[str, Cell]]


class ReportAnswer(Shape):
    report: str
    title: str
    period: str
    head: str
    policy: str
    notes: list[str]
    sections: list[Section]
