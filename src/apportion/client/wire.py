"""Requests that may be tried again, and answers that are errors in the server's own words."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, retry_if_result, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential

from apportion.client.shapes import Problem
from apportion.errors import ApportionError

AGAIN = (429, 502, 503)  # busy, or not there for the moment
LONGEST_WAIT_S = 30.0
Query = Mapping[str, str | int | bool | Sequence[str] | None]


class ServerError(ApportionError):
    """What the server refused, with its status; `problem` is all that it said."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code, problem.detail, hint=problem.hint)
        self.problem = problem

    @property
    def status(self) -> int:
        return self.problem.status


class wait_as_told(wait_base):  # noqa: N801  # as tenacity names them
    """As long as the server says, else longer each time."""

    def __init__(self) -> None:
        self.otherwise = wait_random_exponential(multiplier=0.2, max=8)

    def __call__(self, state: RetryCallState) -> float:
        done = state.outcome
        response = None if done is None or done.failed else done.result()
        told = response.headers.get("retry-after", "") if response is not None else ""
        return min(float(told), LONGEST_WAIT_S) if told.isdecimal() else self.otherwise(state)


class Wire:
    """`tries`: how often a request is sent that changes nothing, or that the server knows again by its key. `transport`: how, if not by network."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout_s: float = 60,
        tries: int = 5,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        base = f"{url.rstrip('/')}/api/v1"
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout_s, transport=transport)
        self._again = Retrying(
            stop=stop_after_attempt(tries),
            wait=wait_as_told(),
            retry=retry_if_result(lambda response: response.status_code in AGAIN)
            | retry_if_exception_type(httpx.TransportError),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        return self._answered("GET", path, {"params": clean(query or {})}, again=True)

    def post(self, path: str, given: Mapping[str, Any]) -> Any:
        """Sent once: whoever does not hear the answer must look whether it was done."""
        return self._answered("POST", path, {"json": dict(given)}, again=False)

    def post_keyed(self, path: str, query: Query, body: bytes, headers: Mapping[str, str]) -> Any:
        """With an Idempotency-Key among the headers."""
        given = {"params": clean(query), "content": body, "headers": dict(headers)}
        return self._answered("POST", path, given, again=True)

    def _answered(self, method: str, path: str, given: dict[str, Any], *, again: bool) -> Any:
        def send() -> httpx.Response:
            return self._http.request(method, path, **given)

        try:
            response = self._again(send) if again else send()
        except httpx.TransportError as error:
            raise ApportionError(
                "unreachable",
                f"{self._http.base_url} does not answer: {error}",
                hint="see whether `apportion serve` runs",
            ) from error
        if response.is_success:
            return response.json()
        raise refused(response)


def clean(query: Query) -> dict[str, Any]:
    """Without what is not asked for."""
    return {name: value for name, value in query.items() if value not in (None, "", (), [])}


def refused(response: httpx.Response) -> ApportionError:
    try:
        return ServerError(Problem.model_validate_json(response.content))
    except ValidationError:
        said = f"{response.request.url.path} answered {response.status_code} and no word of ours"
        return ApportionError(
            "bad-response", said, hint="see whether a proxy stands between, and whether the address is right"
        )
