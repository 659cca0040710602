"""While the server runs, webhooks and channels are told without anybody's asking. One process at a time; where nobody is to be told nothing is looked at."""

from collections.abc import Hashable

from apportion.errors import ApportionError
from apportion.verbs.notify import deliver, enrol
from apportion.verbs.periods import today
from apportion.verbs.tell import is_asked, tell
from apportion.web.beside import Job
from apportion.web.desk import Desk
from apportion.web.estimates import whole_estimate

EVERY_S = 30


def once(desk: Desk, seen: Hashable) -> Hashable:
    """News are looked for where the books moved or a day has begun, and what is due is sent."""
    enrol(desk.project)
    if not desk.books.hooks.told():
        return seen
    state = desk.state(), today()
    if state != seen and is_asked(desk.project):
        try:
            running = whole_estimate(desk)
        except ApportionError:
            running = None
        tell(desk.project, today(), running)
    deliver(desk.project)
    return state


TELLING = Job("webhooks", EVERY_S, once)
