"""What the agent makes of NVML's answers. The library's own words and errors; only what would ask a driver is put in its place."""

from types import SimpleNamespace
from typing import Any

import pynvml  # type: ignore[import-untyped]
import pytest

from apportion.errors import ProjectError
from apportion.sources.agent import nvml
from apportion.sources.agent.looks import Board, BoardGoneError, Ended, Process, Reading
from apportion.sources.agent.node import PERIODS_S, Node, period_s

NOW_US = 1_793_491_200_000_000


def answer(value: Any) -> Any:
    """A call that gives a value, or raises it where it is one of NVML's errors."""

    def call(*_: Any) -> Any:
        if isinstance(value, int) and value < 0:
            raise pynvml.NVMLError(-value)
        return value

    return call


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A board with nothing on it, and a way to change what it says. Errors are negative numbers."""

    def say(**answers: Any) -> None:
        for name, value in answers.items():
            monkeypatch.setattr(pynvml, f"nvmlDeviceGet{name}", value if callable(value) else answer(value))

    say(
        TotalEnergyConsumption=5_000, ComputeRunningProcesses=[], GraphicsRunningProcesses=[],
        MPSComputeRunningProcesses=-pynvml.NVML_ERROR_NOT_SUPPORTED, ProcessUtilization=-pynvml.NVML_ERROR_NOT_FOUND,
        MigMode=-pynvml.NVML_ERROR_NOT_SUPPORTED, AccountingMode=0, AccountingStats=-pynvml.NVML_ERROR_NOT_FOUND,
    )  # fmt: skip
    monkeypatch.setattr("time.time_ns", lambda: NOW_US * 1000)
    return say


def board() -> nvml.NvidiaBoard:
    return nvml.NvidiaBoard(None, "GPU-a", "H200")


def running(pid: int, memory: int | None = 2**30, instance: int = 0xFFFFFFFF) -> Any:
    return SimpleNamespace(pid=pid, usedGpuMemory=memory, gpuInstanceId=instance)


def sample(pid: int, use: int, at_us: int = NOW_US - 1000) -> Any:
    return SimpleNamespace(pid=pid, timeStamp=at_us, smUtil=use)


def test_no_sample_is_nobody_busy(driver: Any) -> None:
    assert board().read() == Reading("GPU-a", "H200", 5_000, (), {})


def test_use_is_in_thousandths_and_stale_or_empty_samples_are_passed_over(driver: Any) -> None:
    asked = []

    def utilization(_: Any, since_us: int) -> list[Any]:
        asked.append(since_us)
        return [sample(12, 20), sample(11, 70), sample(0, 99), sample(13, 50, since_us)]

    driver(ProcessUtilization=utilization, ComputeRunningProcesses=[running(11), running(12, None)])
    one = board()
    assert one.read().busy == {11: 700, 12: 200}
    assert one.read().processes == (Process(11, 2**30), Process(12))
    assert asked == [0, NOW_US - 1000], "from the newest sample on"
    driver(ProcessUtilization=-pynvml.NVML_ERROR_NOT_FOUND)
    one.sampled_us = 0
    one.read()
    assert one.sampled_us == NOW_US - nvml.LATE_US, "a long rest does not thin out the next mean"
    one.sampled_us = NOW_US + 10**9
    driver(ProcessUtilization=utilization)
    one.read()
    assert asked[-1] == NOW_US - 10**6, "the clock was set back"


def test_a_process_that_computes_and_draws_holds_the_board_once(driver: Any) -> None:
    driver(ComputeRunningProcesses=[running(11, 100)], GraphicsRunningProcesses=[running(11, 300)])
    assert board().read().processes == (Process(11, 300),)


def test_instances_of_mig_are_weighed_by_their_slices(driver: Any) -> None:
    parts = {0: "part", 1: "other"}

    def part(_: Any, index: int) -> str:
        if index not in parts:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return parts[index]

    driver(
        MigMode=(1, 1), MaxMigDeviceCount=7, MigDeviceHandleByIndex=part,
        Attributes=lambda handle: SimpleNamespace(gpuInstanceSliceCount={"part": 3, "other": 4}[handle]),
        GpuInstanceId={"part": 1, "other": 2}.get, ProcessUtilization=-pynvml.NVML_ERROR_NOT_SUPPORTED,
        ComputeRunningProcesses=[running(11, 5, 1), running(12, 6, 2)],
    )  # fmt: skip
    assert board().read() == Reading("GPU-a", "H200", 5_000, (Process(11, 5, 3, 1), Process(12, 6, 4, 2)), None, None)


def test_accounting_stands_in_for_use_and_tells_of_those_that_ended(driver: Any) -> None:
    driver(
        AccountingMode=1, ProcessUtilization=-pynvml.NVML_ERROR_NOT_SUPPORTED, ComputeRunningProcesses=[running(11)],
        AccountingStats=SimpleNamespace(gpuUtilization=37, time=9192, isRunning=0),
    )  # fmt: skip
    one = board()
    assert one.read().weights == {11: 370}
    driver(ComputeRunningProcesses=[])
    assert one.read().ended == (Ended(11, 370, 9192),)
    assert one.read().ended == ()


@pytest.mark.parametrize(
    "error", [pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_UNINITIALIZED, pynvml.NVML_ERROR_UNKNOWN]
)
@pytest.mark.parametrize("call", ["TotalEnergyConsumption", "ComputeRunningProcesses", "ProcessUtilization"])
def test_a_board_that_is_gone_is_said_to_be(driver: Any, call: str, error: int) -> None:
    driver(**{call: -error})
    with pytest.raises(BoardGoneError):
        board().read()


def test_without_a_driver_or_the_package_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlInit", answer(-pynvml.NVML_ERROR_LIBRARY_NOT_FOUND))
    with pytest.raises(ProjectError, match="NVML does not answer") as error:
        nvml.boards()
    assert "nvidia-smi" in error.value.hint
    monkeypatch.setattr(nvml, "pynvml", None)
    with pytest.raises(ProjectError, match="not installed") as error:
        nvml.boards()
    assert "apportion[agent]" in error.value.hint


def test_a_node_waits_for_boards_that_went_away() -> None:
    class Flaky:
        uuid = "GPU-a"
        told = 0

        def read(self) -> Reading:
            self.told += 1
            if self.told == 2:
                raise BoardGoneError("driver unloaded")
            return Reading("GPU-a", "H200", self.told)

    flaky, finds = Flaky(), []

    def find() -> list[Board]:
        finds.append(1)
        if len(finds) == 2:
            raise ProjectError("no-nvml", "not yet")
        return [flaky]

    node = Node(find)
    energies = [[reading.energy_mj for reading in node.readings()] for _ in range(4)]
    assert energies == [[1], [], [], [3]]


def test_more_boards_are_asked_less_often() -> None:
    """7.2 ms of a core a board was measured on an H200."""
    assert [period_s(boards) for boards in (0, 1, 2, 4, 8, 16)] == [2, 2, 3, 5, 10, 20]
    for boards in range(1, 25):
        assert boards * 0.0072 / period_s(boards) < 0.01
    assert all(60 % period == 0 for period in PERIODS_S), "batches are cut at minutes"
