"""For a vendor that must see all lines before any is handed over: it sees them block by block, and may add to them when they leave."""

from collections.abc import Sequence

import pyarrow as pa

from apportion.sources.bills.form import Form
from apportion.sources.bills.spool import Spool
from apportion.sources.bills.taken import Taken


class Watch:
    """Sees and changes nothing: a vendor's own does what it needs."""

    def see(self, taken: Taken, form: Form, lines: pa.Table) -> None:
        """The next block of a file; `taken.lines` of it were seen before."""

    def settle(self, files: Sequence[Taken], spool: Spool) -> None:
        """All was read: the last moment to refuse it, or to note something."""

    def finish(self, lines: pa.Table) -> pa.Table:
        """A block on its way out. What is changed here counts neither for ids nor for scopes."""
        return lines
