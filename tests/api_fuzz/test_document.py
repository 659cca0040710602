"""The API against its own document: what the document allows is taken, what it forbids is refused, and never is anything our fault.

As an admin, who may do everything, and as a viewer, who may do little and see one team: whatever they are told, it is nothing of another.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, checks
from schemathesis.core.result import Ok

from apportion.sources.pushed import ARROW, LINES
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from tests.web import world
from tests.web.conftest import PEOPLE
from tests.web.pushing import STANZA

EXAMPLES = 300 if os.environ.get("APPORTION_LONG") else 3  # of each kind, for each operation
SLOW = {
    "back_test",
    "review",
    "save_review_draft",
    "save_what_if",
    "what_if",
    "report_fairness",
    "report_nodes",
    "report_reconcile",
    "explanation",
    "capacity",
    "pool_capacity",
}  # a month is computed for each
FREE = {
    "me",
    "health",
    "policy",
    "revoke_token",
    "end_webhook",
    "anomaly",
    "saved_what_if",
    "forget_what_if",
}  # without parameters, or with a name that may be anything
OUTSIDE = {"try_webhook", "add_webhook"}  # they would send something
CHECKED = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance", "response_schema_conformance",
    "unsupported_method", "missing_required_header", "allow_header_conformance", "positive_data_acceptance", "negative_data_rejection",
)  # fmt: skip
# What the document allows is answered, is about what is there (404), or conflicts with it (409). Beyond that a request in order is refused
# for what no schema can say, in these words alone:
BEYOND = {
    "invalid-cursor": "a cursor is taken from an answer",
    "invalid-day": "there is no 31 June",
}
POLICY = {"policy-": "what a policy may say is more than a form"}
BACK_TEST = {
    **POLICY, "nothing-asked": "a policy or a price", "invalid-new-price": "one for each pool", "same-name": "one for each policy",
    "invalid-period": "the last month is not before the first",
}  # fmt: skip
BEYOND_OF = {
    "report": {"invalid-filter": "rows of one report are not those of another"},
    "make_token": {
        "token-too-wide": "no role may do every deed",
        "token-teams": "some roles see all teams, others need theirs",
    },
    "push_usage": {
        "invalid-window": "a window has both ends, or none",
        "push-": "bytes are no stream, and a strict push takes all rows or none",
    },
    "set_budget": {"invalid-amount": "the currency says how fine an amount is"},
    "reserve": {"unknown-pool": "a pool is the policy's"},
    "lend": {"unknown-pool": "a pool is the policy's"},
    "give_credit": {"invalid-amount": "the currency says how fine an amount is"},
    "propose": POLICY, "propose_owner_rule": POLICY,
    "back_test": BACK_TEST,
    "save_what_if": {**BACK_TEST, "whatif-name": "each has a name of its own"},
    "what_if": {**POLICY, "nothing-asked": "a policy or a price", "invalid-new-price": "one for each pool"},
}  # fmt: skip
OURS = {"Host": "127.0.0.1", "Sec-Fetch-Site": "same-origin"}  # as a page of ours would send it


@schemathesis.serializer(LINES, ARROW)
def as_it_is(context: Any, value: Any) -> bytes:
    """Bodies of a push are texts or bytes already."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("fuzz") / "project"
    world.make(folder).books.close()
    with (folder / "apportion.toml").open("a") as file:
        file.write(STANZA)
    return create_app(folder)


class Trying:
    """One role, and what it was answered."""

    def __init__(self, app: FastAPI, role: str) -> None:
        self.key = app.state.desk.books.doors.open_session(PEOPLE[role], 36_000)
        self.secret = () if PEOPLE[role].teams is None else world.SECRET
        self.seen: Counter[int] = Counter()
        checks.load_all_checks()
        self.checks: list[Any] = [check for check in checks.CHECKS.get_all() if check.__name__ in CHECKED]
        assert len(self.checks) == len(CHECKED)

    def operation(self, operation: Any, mode: GenerationMode, examples: int) -> None:
        calm = settings(
            max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        )  # fmt: skip
        name = operation.definition.raw["operationId"]
        beyond = (*BEYOND, *BEYOND_OF.get(name, ()))

        @calm
        @given(operation.as_strategy(generation_mode=mode))
        def holds(case: Case[Any]) -> None:
            answer = case.call(headers=OURS, cookies={COOKIE: self.key})
            self.seen[answer.status_code] += 1
            case.validate_response(answer, checks=self.checks)
            if mode is GenerationMode.POSITIVE and answer.status_code == 422:
                assert answer.json()["code"].startswith(beyond), answer.text
            sent = str(case.query or "") + str(case.path_parameters or "") + str(case.body)
            assert not [word for word in self.secret if word in answer.text and word not in sent]

        try:
            holds()
        except Unsatisfiable:  # nothing of it can be wrong
            assert (mode, name in FREE) == (GenerationMode.NEGATIVE, True)


@pytest.mark.parametrize("role", ["admin", "viewer"])
def test_every_answer_is_one_that_the_document_has(
    app: FastAPI, role: str, record_property: Callable[[str, object], None]
) -> None:
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=OURS)
    schema.config.generation.with_security_parameters = (
        False  # a drawn token would be refused before anything is looked at
    )
    taken = ["2xx", "404", "409", "422", *([] if PEOPLE[role].teams is None else ["403"])]
    schema.config.checks.positive_data_acceptance.expected_statuses = taken
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) == sum(len(methods) for methods in app.openapi()["paths"].values())
    trying = Trying(app, role)
    for operation in operations:
        name = operation.definition.raw["operationId"]
        for mode in GenerationMode if name not in OUTSIDE else ():
            trying.operation(operation, mode, 2 if name in SLOW else EXAMPLES)
    counts = ", ".join(f"{count} of {status}" for status, count in sorted(trying.seen.items()))
    record_property(f"as {role}", f"{len(operations)} operations, {trying.seen.total()} answers: {counts}")
    assert app.state.desk.books.verify() == []
