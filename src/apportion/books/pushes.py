"""What was answered to a push: who repeats one by its key gets the same answer, and whoever uses the key for something else is refused."""

import time
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, select, update

from apportion.books import record
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.errors import BooksError

KEPT_S = 30 * 86_400


class Pushes:
    """A key is claimed before anything is taken in, so that of two bodies with one key only the first counts.

    Whoever dies in between leaves a claim without an answer: the same push again takes in what is missing, which may be nothing.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def claim(self, who: str, key: str, sha256: str) -> str:
        """The answer that was given before; empty where there is none yet."""
        table, now = record.pushes, int(time.time())
        mine = select(table).where(table.c.who == who, table.c.key == key)
        known = self.known(who, key)
        if known is None:
            with spoken(), writing(self.engine) as connection:
                connection.execute(delete(table).where(table.c.at_s < now - KEPT_S))
                known = connection.execute(mine).first()  # another process may have been quicker
                if known is None:
                    row = {"who": who, "key": key, "sha256": sha256, "answer": "", "at_s": now}
                    connection.execute(insert(table).values(**row))
                    return ""
        refuse_another(known, sha256)
        return str(known.answer)

    def check(self, who: str, key: str, sha256: str) -> None:
        """A key that names another push is refused whatever the body holds; one that is new stays so."""
        known = self.known(who, key)
        if known is not None:
            refuse_another(known, sha256)

    def known(self, who: str, key: str) -> Row[Any] | None:
        table = record.pushes
        with spoken(), reading(self.engine) as connection:
            return connection.execute(select(table).where(table.c.who == who, table.c.key == key)).first()

    def answered(self, who: str, key: str, answer: str) -> None:
        table = record.pushes
        with spoken(), writing(self.engine) as connection:
            connection.execute(update(table).where(table.c.who == who, table.c.key == key).values(answer=answer))


def refuse_another(known: Row[Any], sha256: str) -> None:
    if known.sha256 != sha256:
        raise BooksError(
            "push-conflict",
            "this Idempotency-Key was used for another push",
            hint="a key names one push: repeat that one, or take a new key",
        )
