"""While the server runs, webhooks are told without anybody's asking. One process at a time; without webhooks nothing is looked at."""

from collections.abc import Hashable

from apportion.errors import ApportionError
from apportion.verbs.hooks import deliver
from apportion.verbs.periods import today
from apportion.verbs.tell import is_asked, tell
from apportion.web.beside import Job
from apportion.web.desk import Desk
from apportion.web.estimates import whole_estimate

EVERY_S = 30


def once(desk: Desk, seen: Hashable) -> Hashable:
    """News are looked for where the books moved, and what is due is sent."""
    if not any(hook.is_live for hook in desk.books.hooks.all()):
        return seen
    state = desk.state()
    if state != seen and is_asked(desk.project):
        try:
            running = whole_estimate(desk)
        except ApportionError:
            running = None
        tell(desk.project, today(), running)
    deliver(desk.project)
    return state


TELLING = Job("webhooks", EVERY_S, once)
