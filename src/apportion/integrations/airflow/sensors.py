"""A sensor that waits until the data is whole."""

from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue

from apportion.integrations.airflow.asking import Asking


class DataCompleteSensor(Asking, BaseSensorOperator):
    """Waits until the sources have delivered every day that ends in the run's data interval, or every day of the months of `period`.

    `sources`: only these; without it all whose rows count. It looks into the books and asks nobody else: something else must ingest.
    """

    template_fields: Sequence[str] = (*Asking.template_fields, "sources")

    def __init__(self, *, sources: Sequence[str] = (), mode: str = "reschedule", **kwargs: Any) -> None:
        super().__init__(mode=mode, **kwargs)
        self.sources = sources

    def poke(self, context: Any) -> Any:
        found = self.ask(context, "complete", {"sources": list(self.sources)})
        for day, names in found["missing"].items():
            self.log.info("%s is not whole: %s", day, ", ".join(names))
        return PokeReturnValue(is_done=found["complete"] == found["days"], xcom_value=found)
