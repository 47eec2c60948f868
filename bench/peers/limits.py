"""What the device allows in the same run: a copy that moves the same number of bytes, and the multiply-add peak."""
import dataclasses

from .timing import Contender


@dataclasses.dataclass(frozen=True)
class Limit:
    """The least time of a case: the longer of moving its bytes and doing its arithmetic."""

    kind: str  # "copy" or "FMA"
    ms: float
    rate: float  # bytes or operations a second


def contenders(device, case):
    """The two limits as things to be timed beside the others. A copy of half the bytes reads and writes them all."""
    half = max(case.bytes() // 8, 1)
    source, to = device.allocate((half,)), device.allocate((half,))
    source.fill(1)
    return [Contender("copy", lambda: device.copy(to, source)), Contender("fma", device.fma)]


def limit(case, copy_ms, fma_ms, fma_operations):
    """The limit of a case from the times of both contenders."""
    peak = fma_operations / fma_ms * 1e3
    arithmetic_ms = case.work() / peak * 1e3
    if arithmetic_ms > copy_ms:
        return Limit("FMA", arithmetic_ms, peak)
    return Limit("copy", copy_ms, case.bytes() / copy_ms * 1e3)
