"""What a round has to say: advice, what stands out, and messages to those who want them."""

from datetime import date

from apportion.books.rounds import AMISS, NOTHING, SKIPPED
from apportion.reports.words import counted
from apportion.verbs.advise import advise
from apportion.verbs.anomalies import anomalies_beside, running, with_words
from apportion.verbs.notify import deliver
from apportion.verbs.report import posted_periods
from apportion.verbs.syncing.under_way import Did, UnderWay
from apportion.verbs.tell import is_asked, tell


def look_around(at: UnderWay, today: date) -> None:
    at.do("advise", "", lambda: advised(at))
    at.do("anomalies", "", lambda: noticed(at, today))


def advised(at: UnderWay) -> Did:
    """Of the newest month that is posted."""
    month = max(posted_periods(at.project), default="")
    if not month:
        return Did("nothing is posted yet", outcome=SKIPPED)
    return Did(advise(at.project, month, step=at.step).title)


def noticed(at: UnderWay, today: date) -> Did:
    project = at.project
    found = with_words(
        anomalies_beside(project, running(project, today, at.step)), project.books.acknowledgements.all(), today
    )
    new = [one for one in found if not one.acknowledged]
    return Did("; ".join(one.sentence for one in new[:3]) or "nothing stands out")


def tell_people(at: UnderWay, today: date) -> None:
    at.do("news", "", lambda: told(at, today))
    at.do("notify", "", lambda: sent(at))


def told(at: UnderWay, today: date) -> Did:
    """Written for those who asked; each of them once, however often it is looked for."""
    new = tell(at.project, today)
    if not is_asked(at.project):
        return Did("nobody asked to be told", outcome=SKIPPED)
    return Did(counted(new, "message"), new) if new else Did("none", outcome=NOTHING)


def sent(at: UnderWay) -> Did:
    """What could not be sent is tried again by the next round, by `notify deliver` or by the server."""
    messages = deliver(at.project)
    good = sum(one.is_told for one in messages)
    bad = [one for one in messages if not one.is_told]
    if bad:
        first = f"{bad[0].hook}: {bad[0].answer}"
        return Did(f"{good} sent, {len(bad)} not, and tried again later; {first}", good, AMISS)
    return Did(f"{counted(good, 'message')} sent", good) if good else Did("nothing is due", outcome=NOTHING)
