"""Resources have a cluster and rows a set of labels: the evidence gets the columns, and the record what problems held, of which meter, and when.

Decisions follow corrections: a transfer says what it decides, and which earlier one it takes further. A delivery says whether equal rows of it were kept.
"""

from apportion.books.steps import Columns, Step

STEPS: tuple[Step, ...] = (
    Columns("transfers", "extent", "bill", "pool", "follows"),
    Columns("deliveries", "equal_rows"),
    Columns("problems", "quantity", "meter", "at"),
)
