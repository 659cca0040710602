"""Operators: one for each verb of the month. Each returns a small value as XCom, and may be tried again."""

from collections.abc import Sequence
from typing import Any

from apportion.integrations.airflow.asking import Asking
from apportion.integrations.airflow.assets import closed_months, ledger
from apportion.integrations.airflow.provider import DEFAULT_CONNECTION


class ApportionIngestOperator(Asking):
    """Reads sources: what is due of them, or the months of `period` again. The books know what they have, so the run's interval is not looked at."""

    template_fields: Sequence[str] = (*Asking.template_fields, "sources")

    def __init__(self, *, sources: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sources = sources

    def execute(self, context: Any) -> Any:
        return self.ask(context, "ingest", {"sources": list(self.sources)}, needs_interval=False)


class ApportionPlanOperator(Asking):
    """Plans the months that the run's data interval touches and that have a bill, or those of `period`."""

    def execute(self, context: Any) -> Any:
        return self.ask(context, "plan", {})


class ApportionApplyOperator(Asking):
    """Posts what was planned last. The event of its asset comes with every success, also of a second try: its `extra` says whether anything was posted.

    `accept` are codes of findings that somebody lets stand wherever they would stop a posting, `why` the reason.
    """

    template_fields: Sequence[str] = (*Asking.template_fields, "accept", "why")

    def __init__(
        self,
        *,
        accept: Sequence[str] = (),
        why: str = "",
        apportion_conn_id: str = DEFAULT_CONNECTION,
        outlets: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.asset = ledger(apportion_conn_id)
        super().__init__(apportion_conn_id=apportion_conn_id, outlets=[*(outlets or ()), self.asset], **kwargs)
        self.accept, self.why = accept, why

    def execute(self, context: Any) -> Any:
        done = self.ask(context, "apply", {"accept": list(self.accept), "why": self.why})
        context["outlet_events"][self.asset].extra = done
        return done


class ApportionCloseOperator(Asking):
    """Closes the months that end in the run's data interval, or those of `period`. `override` is a reason to close although some check says no."""

    template_fields: Sequence[str] = (*Asking.template_fields, "override")

    def __init__(
        self,
        *,
        override: str = "",
        apportion_conn_id: str = DEFAULT_CONNECTION,
        outlets: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.asset = closed_months(apportion_conn_id)
        super().__init__(apportion_conn_id=apportion_conn_id, outlets=[*(outlets or ()), self.asset], **kwargs)
        self.override = override

    def execute(self, context: Any) -> Any:
        done = self.ask(context, "close", {"override": self.override})
        context["outlet_events"][self.asset].extra = done
        return done


class ApportionStatementOperator(Asking):
    """Writes the statements of the months that end in the run's data interval, or of `period`, into `to`/MONTH.

    `of` is one owner; `owner` is what Airflow calls the person behind a task.
    """

    template_fields: Sequence[str] = (*Asking.template_fields, "to", "of")

    def __init__(self, *, to: str, of: str = "", level: str = "team", form: str = "html", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.to, self.of, self.level, self.form = to, of, level, form

    def execute(self, context: Any) -> Any:
        options = {"to": self.to, "owner": self.of, "level": self.level, "form": self.form}
        return self.ask(context, "statement", options)
