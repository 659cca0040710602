"""What a tool answers: a sentence, and what the API said, cut to what somebody can read at once."""

import json
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

LONGEST = 20_000  # characters of one text
MORE = "Ask again with a larger `limit`, or for less: `where`, `by`, a team, a pool or a month narrow the answer."


class Answer(BaseModel):
    """`answer` is what the REST API says of it, with amounts as texts that have every digit."""

    title: str = Field(description="The answer in a sentence.")
    answer: dict[str, Any]
    left_out: int = Field(0, description="How many rows are left out.")
    more: str = Field("", description="How to get them.")


class Cutter:
    """Rows are taken while there is room; what is left out is counted."""

    def __init__(self, limit: int) -> None:
        self.room = limit
        self.left_out = 0

    def cut(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.cut(one) for name, one in value.items()}
        if isinstance(value, list):
            return list(self.rows(value))
        if isinstance(value, str) and len(value) > LONGEST:
            self.left_out += 1
            return f"{value[:LONGEST]}… {len(value) - LONGEST:,} more characters"
        return value

    def rows(self, given: list[Any]) -> list[Any]:
        taken: list[Any] = []
        for one in given:
            if self.room <= 0:
                self.left_out += len(given) - len(taken)
                break
            self.room -= isinstance(one, dict)
            taken.append(self.cut(one))
        return taken


def told(title: str, answer: BaseModel | dict[str, Any], limit: int) -> CallToolResult:
    """The sentence alone, then all of it as JSON for those who read no structure."""
    cutter = Cutter(limit)
    found = cutter.cut(answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer)
    made = Answer(title=title, answer=found, left_out=cutter.left_out, more=MORE if cutter.left_out else "")
    said = made.model_dump()
    text = json.dumps(said, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=title), TextContent(text=text)], structured_content=said)
