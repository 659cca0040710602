"""What each workload's use is worth in a pool that is shared by several measures: the money of each measure, by the workload's part of it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from apportion.engine.curve import COUNTED, USED
from apportion.engine.held import WASTED
from apportion.engine.parts import Portion
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.rates import Key
from apportion.engine.valued import Valued, joined
from apportion.engine.wide import zeros
from apportion.engine.work import Share, open_share, work_of
from apportion.model.owner import Owner

MONEY = (USED, WASTED)


@dataclass(frozen=True, slots=True)
class Measure:
    """A portion, and its usage as a pool of its own."""

    portion: Portion
    share: Share


def open_measures(name: str, result: PoolResult, plan: Plan) -> list[Measure]:
    own = [replace(result, market=portion.market, priced=portion.priced) for portion in result.portions]
    return [
        Measure(portion, open_share(name, each, portion.market, plan, portion.setting))
        for portion, each in zip(result.portions, own, strict=True)
    ]


def by_measure(measures: Sequence[Measure], key: Key, owners: Sequence[Owner], work: Valued | None) -> Valued:
    """`work` says how much each held and used in all; without it the first measure does."""
    parts = [money_of(measure, key, owners) for measure in measures]
    if work is None:
        first, *others = parts
        return joined([first, *(Valued(each.keys, only(each, MONEY)) for each in others)])
    counts = {kind: sums for kind, sums in work.sums.items() if kind not in MONEY}
    return joined([Valued(work.keys, counts), *(Valued(each.keys, only(each, MONEY)) for each in parts)])


def only(work: Valued, kinds: Sequence[tuple[str, int]]) -> dict[tuple[str, int], np.ndarray]:
    return {kind: sums for kind, sums in work.sums.items() if kind in kinds}


def money_of(measure: Measure, key: Key, owners: Sequence[Owner]) -> Valued:
    """Values of one measure, scaled so that those of an owner and day come to what it was charged through it."""
    work = work_of(measure.share, key, owners)
    due: dict[int, int] = defaultdict(int)
    place, bearers = {owner: n for n, owner in enumerate(owners)}, measure.share.setting.bearers
    for (column, day, load), grains in measure.portion.priced.usage.items():
        if column[:2] == key:
            weight = measure.share.result.weights.get(load, 1)
            due[day * len(owners) + place[bearers[load[0]].owner]] += grains * weight
    postings, inverse = np.unique(work.keys["posting"], return_inverse=True)
    whole, paid = zeros(len(postings)), zeros(len(postings))
    np.add.at(whole, inverse, work.of(USED))
    paid[:] = [due[posting] for posting in postings.tolist()]
    whole[(whole == 0).astype(bool)] = 1
    scaled = {kind: sums * paid[inverse] // whole[inverse] for kind, sums in only(work, MONEY).items()}
    return Valued(work.keys, {COUNTED: work.of(COUNTED)} | scaled)
