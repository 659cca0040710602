"""`POST /api/v1/usage`: rows that are pushed to us."""

from dataclasses import asdict
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request
from starlette.concurrency import run_in_threadpool

from apportion.books.audit import acting
from apportion.client.record import PushAnswer
from apportion.client.rows import LAST_S, Table
from apportion.client.shapes import RowProblem
from apportion.client.texts import WITHOUT_NUL
from apportion.errors import Problem, ProjectError
from apportion.model.times import Interval
from apportion.sources.pushed import ARROW, LINES
from apportion.verbs.push import Push, push
from apportion.web.api.asked import Pushing, about
from apportion.web.viewer import Deed

router = APIRouter(tags=["push"])
MOST_READ = 128 * 2**20  # bytes, unpacked
PACKED = ("gzip", "zstd")
EXAMPLE = '{"workload":"job-1","resource":"node-1","start_s":1791000000,"end_s":1791003600,"gpu":4,"gpu_used":3.2}\n'


class Wished:
    """What the URL and the headers of a push say."""

    def __init__(
        self,
        source: Annotated[
            str, Query(description="a source of kind push", max_length=200, pattern=WITHOUT_NUL, examples=["pushed"])
        ],
        table: Annotated[Table, Query(description="what the rows are")] = "usage",
        strict: Annotated[bool, Query(description="take all rows or none")] = False,
        start_s: Annotated[
            int | None, Query(ge=0, le=LAST_S, description="begin of the window that they replace")
        ] = None,
        end_s: Annotated[int | None, Query(ge=0, le=LAST_S, description="its end")] = None,
    ) -> None:
        self.source, self.table, self.strict = source, table, strict
        if (start_s is None) != (end_s is None) or (start_s is not None and end_s is not None and end_s <= start_s):
            raise ProjectError(
                "invalid-window",
                "a window has a start_s and an end_s after it",
                hint="give both, or neither to add rows",
            )
        self.window = None if start_s is None or end_s is None else Interval(start_s, end_s)


KEY = Header(
    alias="Idempotency-Key",
    min_length=1,
    max_length=200,
    pattern=r"^[\x21-\x7e]+$",
    description="names this push: the same key and body again change nothing and are answered the same for 30 days",
    examples=["node-1-2026-10-04T07"],
)


def body_shape() -> dict[str, Any]:
    lines = {"schema": {"type": "string", "description": "one JSON object a line"}, "example": EXAMPLE}
    stream = {"schema": {"type": "string", "format": "binary"}}
    return {"required": True, "content": {LINES: lines, ARROW: stream}}


SAID = about(Deed.push, 409, 415)
SAID["openapi_extra"] |= {"requestBody": body_shape()}


@router.post("/usage", **SAID)
async def push_usage(
    request: Request, ask: Pushing, wished: Annotated[Wished, Depends()], key: Annotated[str, KEY]
) -> PushAnswer:
    """Push rows of usage, workloads, capacity or reservations, as JSON lines or as an Arrow stream, plain or packed by gzip or zstd.

    Rows that cannot be taken are listed with their line and the others are taken; with `strict` none is. Without a window rows are added.
    """
    form = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if form not in (LINES, ARROW):
        raise HTTPException(415, f"rows are pushed as {LINES} or {ARROW}")
    sent = await request.body()  # the guards keep it to what is allowed
    packing = request.headers.get("content-encoding", "").strip().lower()

    def take() -> PushAnswer:
        given = Push(wished.source, wished.table, form, unpacked(sent, packing), key, wished.strict, wished.window)
        with acting(ask.viewer.name):
            done = push(ask.project, ask.viewer.name, given)
        return PushAnswer(**{**asdict(done), "problems": [row_problem(one) for one in done.problems]})

    return await run_in_threadpool(take)


def unpacked(sent: bytes, packing: str) -> bytes:
    if packing in ("", "identity"):
        return sent
    if packing not in PACKED:
        raise HTTPException(415, f"a body is plain or packed by {' or '.join(PACKED)}")
    try:
        with pa.input_stream(pa.BufferReader(sent), compression=packing) as stream:
            found = bytes(stream.read(MOST_READ + 1))
    except (OSError, pa.ArrowException) as error:
        raise ProjectError(
            "push-unreadable", f"the body is not packed by {packing}", hint="send it as it is"
        ) from error
    if len(found) > MOST_READ:
        raise HTTPException(413, f"a push has at most {MOST_READ // 2**20} MiB when unpacked")
    return found


def row_problem(one: Problem) -> RowProblem:
    return RowProblem(where=one.where, code=one.code, message=one.message, row=one.row)
