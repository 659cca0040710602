"""NVIDIA boards, through NVML (`nvidia-ml-py`, the extra `agent`)."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from apportion.errors import ProjectError
from apportion.sources.agent.looks import BoardGoneError, Ended, Process, Reading

SECOND_US = 10**6
LATE_US = 250_000  # samples are taken about five times a second, and told a little later

try:
    import pynvml  # type: ignore[import-untyped]
except ImportError:  # the agent alone needs it
    pynvml = None


def boards() -> list["NvidiaBoard"]:
    """All of this node; refused in a sentence where the library, the driver or a board is missing."""
    if pynvml is None:
        raise ProjectError(
            "no-nvml",
            "the Python package nvidia-ml-py is not installed",
            where="apportion agent",
            hint="pip install 'apportion[agent]'; boards of AMD, Intel and others are not sampled yet: read their exporters through Prometheus",
        )
    try:
        pynvml.nvmlInit()
        found = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return [
            NvidiaBoard(handle, text(pynvml.nvmlDeviceGetUUID(handle)), text(pynvml.nvmlDeviceGetName(handle)))
            for handle in found
        ]
    except pynvml.NVMLError as error:
        raise ProjectError(
            "no-nvml",
            f"NVML does not answer: {error}",
            where="apportion agent",
            hint="see that `nvidia-smi` works here; in a container the driver's libraries must be mounted",
        ) from error


@dataclass(slots=True)
class NvidiaBoard:
    handle: Any
    uuid: str
    model: str
    sampled_us: int = 0  # samples of use were read up to here
    there: frozenset[int] = frozenset()  # who was on it at the last reading

    def read(self) -> Reading:
        try:
            energy = int(pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle))
            processes = tuple(self.processes())
            busy = self.busy()
        except pynvml.NVMLError as error:
            raise BoardGoneError(str(error)) from error
        weights = None if busy is not None else self.accounted(processes)
        here = frozenset(process.pid for process in processes)
        ended, self.there = tuple(self.ended(self.there - here)), here
        return Reading(self.uuid, self.model, energy, processes, busy, weights, ended)

    def processes(self) -> Iterator[Process]:
        """Compute, graphics and MPS clients, each pid once for each instance that it holds."""
        slices = self.slices()
        held: dict[tuple[int, int | None], int] = {}
        for ask in ("ComputeRunning", "GraphicsRunning", "MPSComputeRunning"):
            for one in optional(getattr(pynvml, f"nvmlDeviceGet{ask}Processes"), self.handle) or ():
                instance = one.gpuInstanceId if one.gpuInstanceId in slices else None
                key = (one.pid, instance)
                held[key] = max(held.get(key, 0), one.usedGpuMemory or 0)
        for (pid, instance), memory in sorted(held.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
            yield Process(pid, memory, slices.get(instance, 1) if instance is not None else 1, instance)

    def slices(self) -> dict[int, int]:
        """Sizes of the MIG instances by their ids; empty where MIG is off."""
        mode = optional(pynvml.nvmlDeviceGetMigMode, self.handle)
        if not mode or mode[0] != pynvml.NVML_DEVICE_MIG_ENABLE:
            return {}
        found = {}
        for index in range(optional(pynvml.nvmlDeviceGetMaxMigDeviceCount, self.handle) or 0):
            part = optional(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, self.handle, index)
            if part is not None:
                size = optional(pynvml.nvmlDeviceGetAttributes, part)
                found[int(pynvml.nvmlDeviceGetGpuInstanceId(part))] = size.gpuInstanceSliceCount if size else 1
        return found

    def busy(self) -> dict[int, int] | None:
        """Thousandths of the compute units by pid since the last call: the driver's mean over its samples. No sample is nobody busy."""
        now_us = time.time_ns() // 1000
        since_us = self.sampled_us if self.sampled_us <= now_us else now_us - SECOND_US  # the clock was set back
        try:
            samples = pynvml.nvmlDeviceGetProcessUtilization(self.handle, since_us)
        except pynvml.NVMLError as error:
            if is_one(error, "NOT_FOUND"):
                samples = ()
            elif is_one(error, "NOT_SUPPORTED", "NO_PERMISSION", "FUNCTION_NOT_FOUND"):
                return None
            else:
                raise
        fresh = [sample for sample in samples if sample.pid and sample.timeStamp > since_us]
        # A long time without a sample must not thin out the next one: the driver's mean is over all that followed.
        self.sampled_us = max([now_us - LATE_US, *(sample.timeStamp for sample in fresh)])
        return {sample.pid: 10 * sample.smUtil for sample in sorted(fresh, key=lambda sample: sample.pid)}

    def accounted(self, processes: tuple[Process, ...]) -> dict[int, int] | None:
        """Average use over each process' life, where accounting mode is on; MIG forbids it."""
        if optional(pynvml.nvmlDeviceGetAccountingMode, self.handle) != pynvml.NVML_FEATURE_ENABLED:
            return None
        found = {}
        for process in processes:
            stats = optional(pynvml.nvmlDeviceGetAccountingStats, self.handle, process.pid)
            if stats is not None:
                found[process.pid] = 10 * stats.gpuUtilization
        return found

    def ended(self, gone: frozenset[int]) -> Iterator[Ended]:
        """The driver's own account of those that left, where accounting mode is on."""
        for pid in sorted(gone):
            stats = optional(pynvml.nvmlDeviceGetAccountingStats, self.handle, pid)
            if stats is not None and not stats.isRunning:
                yield Ended(pid, 10 * stats.gpuUtilization, stats.time)


def optional(ask: Callable[..., Any], *given: Any) -> Any:
    """None where the board has no such thing; what says that the board is gone goes on."""
    try:
        return ask(*given)
    except pynvml.NVMLError as error:
        if is_one(error, "NOT_SUPPORTED", "NOT_FOUND", "NO_PERMISSION", "FUNCTION_NOT_FOUND", "INVALID_ARGUMENT"):
            return None
        raise


def is_one(error: Any, *names: str) -> bool:
    return error.value in {getattr(pynvml, f"NVML_ERROR_{name}") for name in names}


def text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
