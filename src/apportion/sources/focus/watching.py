"""What is looked at over all files of a source: the same columns in all parts of a bill, splits, and whether bills are final."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from apportion.sources.bills.form import Form
from apportion.sources.bills.part import Fault
from apportion.sources.bills.spool import Spool
from apportion.sources.bills.taken import Taken
from apportion.sources.bills.watch import Watch
from apportion.sources.focus.parts import Parts
from apportion.sources.focus.splits import Splits
from apportion.sources.focus.status import Invoiced, Key, marked


class Watching(Watch):
    """`periods` is what Billing Period files say; `notes` are about files that were passed over."""

    def __init__(self, periods: Mapping[Key, str], notes: Sequence[Fault]) -> None:
        self.periods = periods
        self.notes = notes
        self.parts, self.splits, self.invoiced = Parts(), Splits(), Invoiced()
        self.told: Mapping[Key, str] = {}

    def see(self, taken: Taken, form: Form, lines: pa.Table) -> None:
        columns = frozenset(form.columns)
        self.parts.see(taken.file.name, columns, lines)
        self.splits.see(taken, lines)
        if any(name.casefold() == "invoiceid" for name in columns):
            self.invoiced.see(lines)

    def settle(self, files: Sequence[Taken], spool: Spool) -> None:
        self.splits.refuse_double(spool)
        self.splits.note_broken()
        for note in self.notes:
            files[0].note(note)
        self.told = {**self.invoiced.told(), **self.periods}

    def finish(self, lines: pa.Table) -> pa.Table:
        return marked(lines, self.told)
