"""What goes wrong below the books, said so that a person can act on it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from pyarrow import ArrowException
from pyiceberg.exceptions import CommitFailedException
from sqlalchemy.exc import DBAPIError

from apportion.errors import BooksError


@contextmanager
def spoken() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        message = f"the database of the books failed: {error.orig if isinstance(error, DBAPIError) else error}"
        hint = "nothing was half written; see that it is reachable and has space, then try again"
        raise BooksError("database-failed", message, hint=hint) from error
    except (OSError, ArrowException, CommitFailedException) as error:
        message = f"the warehouse of the books failed: {error}"
        hint = "nothing was half written; see that it is reachable and has space, then try again; `verify` tells whether a file is damaged"
        raise BooksError("warehouse-failed", message, hint=hint) from error
