"""A round while it goes on: each step is done whatever came of the others, timed, told and recorded as it ends."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from apportion.books.rounds import AMISS, BROKEN, DONE, FAILED, FINE, SKIPPED, Round, StepDone
from apportion.errors import ApportionError, InvariantError
from apportion.verbs import logs
from apportion.verbs.project import Project
from apportion.verbs.steps import Step
from apportion.verbs.traces import span

MOST_WORDS = 300


class StopRoundError(Exception):
    """Somebody wants the program to end. What a step has finished stays, the next round does the rest."""


@dataclass(frozen=True, slots=True)
class Did:
    """What a step did, in words; `changed` is how many things are not as they were, `code` that of an error."""

    what: str
    changed: int = 0
    outcome: str = DONE
    code: str = ""


@dataclass
class UnderWay:
    """`step` is told how far it is; it raises StopRoundError where the round is to end."""

    project: Project
    round: Round
    step: Step
    is_broken: bool = False

    @property
    def status(self) -> str:
        return BROKEN if self.is_broken else FAILED if self.round.failed else FINE

    def do(self, step: str, subject: str, act: Callable[[], Did]) -> bool:
        """Whether it did not fail."""
        self.step(f"{step} {subject}".rstrip(), 0, 0)
        began = time.monotonic_ns()
        with span(step, {"apportion.subject": subject} if subject else {}) as told:
            did = self._done(step, act)
            if did.outcome == AMISS:
                told.fail(did.code)
            told.say({"apportion.outcome": did.outcome, "apportion.changed": did.changed})
            took_ms = (time.monotonic_ns() - began) // 1_000_000
            self._note(StepDone(step, subject, did.outcome, did.what, did.changed, took_ms))
        return did.outcome != AMISS

    def _done(self, step: str, act: Callable[[], Did]) -> Did:
        try:
            return act()
        except ApportionError as error:
            place = f" ({error.where})" if error.where else ""
            hint = f"; {error.hint}" if error.hint else ""
            message = one_line(error.message)
            return Did(f"{message}{place}{hint} [{error.code}]", outcome=AMISS, code=error.code)
        except InvariantError as error:
            self.is_broken = True
            return Did(
                f"{error}; nothing was written; run `apportion verify` [integrity-broken]", 0, AMISS, "integrity-broken"
            )
        except StopRoundError:
            raise
        except Exception as error:  # noqa: BLE001  # a source may be anybody's code: whatever it is, it does not stop the others
            logs.LOG.debug("%s", step, exc_info=error)
            reason = " ".join(str(error).split())[:MOST_WORDS]
            return Did(f"{type(error).__name__}: {reason} [unexpected]", outcome=AMISS, code="unexpected")

    def skip(self, step: str, subject: str, why: str) -> None:
        self._note(StepDone(step, subject, SKIPPED, why))

    def _note(self, done: StepDone) -> None:
        self.round = self.project.books.rounds.note(self.round, done)
        level = logging.ERROR if done.outcome == AMISS else logging.INFO
        logs.event(
            done.step, level, subject=done.subject, outcome=done.outcome, what=done.what, changed=done.changed,
            took_ms=done.took_ms, round=self.round.number,
        )  # fmt: skip


def one_line(message: str) -> str:
    """A row of a round's table is a line: of a message with a list below it, the parts one after the other."""
    first, *parts = map(str.strip, message.splitlines())
    return " ".join((first, "; ".join(parts))).rstrip()
