"""The real command, asked over stdio by the SDK's own client."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp_types import CallToolResult, Tool

from mcp import Client, StdioServerParameters
from tests import processes

APPORTION = str(Path(sys.executable).with_name("apportion"))
Call = tuple[str, dict[str, Any]]


class Told(NamedTuple):
    instructions: str
    tools: Sequence[Tool]
    answers: Sequence[CallToolResult]


def ask(arguments: Sequence[str], calls: Sequence[Call], env: Mapping[str, str] | None = None) -> Told:
    """All calls in one process, one after the other."""
    server = StdioServerParameters(command=APPORTION, args=list(arguments), env=dict(env or {}))

    async def asked() -> Told:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in calls]
            return Told(client.instructions or "", tools, answers)

    return anyio.run(asked)


def text_of(answer: CallToolResult) -> str:
    """All that the other side hears."""
    return answer.model_dump_json()


def lines_of(arguments: Sequence[str], messages: Sequence[Mapping[str, Any]], last: int) -> list[str]:
    """What comes out of stdout, raw, until the answer to the message with that id."""
    with processes.Process(
        [APPORTION, *arguments], stdin=processes.PIPE, stdout=processes.PIPE, text=True, env=dict(os.environ)
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(json.dumps(one) + "\n" for one in messages))
        server.stdin.flush()
        found: list[str] = []
        for line in server.stdout:
            found.append(line)
            if json.loads(line).get("id") == last:
                break
        server.stdin.close()
        return [*found, *server.stdout]
