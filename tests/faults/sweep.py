"""A story told once for each fault, with a judgement of what is left."""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from queue import SimpleQueue

from tests.faults.injection import Actors, Call, Ending, Fault
from tests.faults.story import Plot, Stage

NUMBERS = count(1)
THOROUGH = 5  # every which story is verified a second time, after it was told to its end


class Sweep:
    """Tells a story once for each fault, and judges what is left."""

    def __init__(self, plot: Plot, company: Sequence[Actors], new_stage: Callable[[str], Stage]) -> None:
        self.plot = plot
        self.new_stage = new_stage
        self.company = len(company)
        self.free: SimpleQueue[Actors] = SimpleQueue()
        for each in company:
            self.free.put(each)

    def calls(self) -> list[Call]:
        """Those of an undisturbed telling that touch the stage or its database."""
        stage = self.new_stage(self.plot.name)
        ending = self.play(stage, None)
        assert ending.code == 0
        assert len(stage.acknowledged()) == self.plot.steps
        mine = [
            call for call in ending.calls if str(stage.folder) in call.text or (stage.url and call.call == "sendto")
        ]
        shutil.rmtree(stage.folder)
        return mine

    def play(self, stage: Stage, fault: Fault | None) -> Ending:
        each = self.free.get()
        try:
            return each.play(self.plot.name, stage, fault)
        finally:
            self.free.put(each)

    def suffer(self, fault: Fault) -> tuple[Ending, list[str]]:
        stage = self.new_stage(self.plot.name)
        ending = self.play(stage, fault)
        wrong = [f"{fault}: {trouble}" for trouble in self.plot.judge(stage, thoroughly=next(NUMBERS) % THOROUGH == 0)]
        shutil.rmtree(stage.folder)
        return ending, wrong

    def suffer_all(self, faults: Sequence[Fault]) -> list[Ending]:
        with ThreadPoolExecutor(self.company) as pool:
            outcomes = list(pool.map(self.suffer, faults))
        assert [trouble for _, wrong in outcomes for trouble in wrong] == []
        return [ending for ending, _ in outcomes]


def spread(calls: Sequence[Call], most: int) -> list[Call]:
    """Evenly over the whole story, and at least one call of every kind."""
    chosen = {calls[i * len(calls) // most] for i in range(most)} if len(calls) > most else {*calls}
    return sorted({*chosen, *{call.call: call for call in reversed(calls)}.values()}, key=calls.index)


def tally(faults: Sequence[Fault], endings: Sequence[Ending]) -> str:
    kinds = ", ".join(f"{kind} {number}" for kind, number in Counter(fault.call for fault in faults).most_common())
    killed = sum(ending.killed for ending in endings)
    return f"{len(faults)} hit ({kinds}), {killed} processes killed"
