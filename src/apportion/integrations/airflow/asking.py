"""How operators and the sensor work on a project: the request, where it is worked on, and what Airflow is told of the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from apportion.errors import ApportionError, InputError
from apportion.integrations.airflow.elsewhere import answer_elsewhere
from apportion.integrations.airflow.hooks import ApportionHook, Place
from apportion.integrations.airflow.intervals import interval_of
from apportion.integrations.airflow.provider import DEFAULT_CONNECTION
from apportion.integrations.airflow.work import Request, answer

if TYPE_CHECKING:
    import subprocess

try:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:  # where they lie before Airflow 3.2
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException


class Asking(BaseOperator):
    """What operators and the sensor share. An operator of Airflow's itself, since that wraps the `__init__` of its own classes alone."""

    template_fields: Sequence[str] = ("project", "period")
    ui_color = "#dcebf5"

    def __init__(
        self,
        *,
        project: str | None = None,
        period: str | None = None,
        apportion_conn_id: str = DEFAULT_CONNECTION,
        python: str | None = None,
        **kwargs: Any,
    ) -> None:
        """`project` is a folder; without it the connection says which. `python`: the interpreter of another environment that has apportion."""
        super().__init__(**kwargs)
        self.project, self.period, self.python = project, period, python
        self.apportion_conn_id = apportion_conn_id
        self._process: subprocess.Popen[str] | None = None

    def ask(self, context: Any, verb: str, options: dict[str, Any], *, needs_interval: bool = True) -> Any:
        try:
            place = Place(self.project) if self.project else ApportionHook(self.apportion_conn_id).place()
            interval = self._interval(context, needed=needs_interval and not self.period)
            request = Request(verb, place.project, interval, self.period or None, options, place.environment)
            return self._told(self._work(self.python or place.python, request))
        except ApportionError as error:
            raise AirflowFailException(str(error)) from None

    @staticmethod
    def _interval(context: Any, *, needed: bool) -> tuple[int, int] | None:
        try:
            found = interval_of(context.get("data_interval_start"), context.get("data_interval_end"))
        except InputError:
            if needed:
                raise
            return None
        return found.start_s, found.end_s

    def _work(self, python: str | None, request: Request) -> dict[str, Any]:
        if python:
            return answer_elsewhere(python, request, self.log.info, self._started)
        return answer(request, self.log.info)

    def _started(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def _told(self, found: dict[str, Any]) -> Any:
        """A failure that no retry mends ends the task at once; one that may pass is left to the task's `retries`."""
        if "error" in found:
            raise (AirflowException if found["passing"] else AirflowFailException)(found["error"])
        if "skip" in found:
            raise AirflowSkipException(found["skip"])
        return found["done"]

    def on_kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
