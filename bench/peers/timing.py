"""Fair times: every contender once a round, caches emptied before each run, the median over the rounds."""
import dataclasses
import statistics
import time

LONG_RUN_MS = 50  # a run that takes longer is measured in fewer rounds
FEWEST_ROUNDS = 5
HOST_RUNS = 5  # runs in a row where only the host's clock can be asked


@dataclasses.dataclass
class Contender:
    """Something that is timed. `call` starts one run. With the clock "device" its work must be on the default
    stream; with "host" it must return a thing to `wait` for."""

    name: str
    call: object
    clock: str = "device"
    wait: object = None


@dataclasses.dataclass
class Timing:
    """Milliseconds of one run."""

    samples: list

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def spread(self):
        """Half the distance of the quartiles, as a share of the median."""
        if len(self.samples) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.samples, n=4)
        return (high - low) / 2 / self.median if self.median else 0.0


def warm_up(device, seconds=0.5, clock=time.perf_counter):
    """Arithmetic until the clocks have risen."""
    end = clock() + seconds
    while clock() < end:
        for _ in range(20):
            device.fma()
        device.synchronize()


def once(device, contender, start, stop, clock=time.perf_counter):
    """Milliseconds of one run, caches emptied before it."""
    if contender.clock == "host":
        return once_by_host(device, contender, clock)
    device.flush()
    device.hold()
    device.record(start)
    contender.call()
    device.record(stop)
    return device.elapsed(start, stop)


def once_by_host(device, contender, clock):
    """For libraries with streams of their own: several runs in a row, so that starting them weighs little."""
    device.flush()
    device.synchronize()
    begin = clock()
    for _ in range(HOST_RUNS):
        last = contender.call()
    contender.wait(last)
    return (clock() - begin) * 1000 / HOST_RUNS


def rounds_for(longest_ms, rounds):
    """How many rounds: all, or so many that the longest takes as long as if it were a run of LONG_RUN_MS."""
    if longest_ms <= LONG_RUN_MS:
        return rounds
    return max(min(rounds, FEWEST_ROUNDS), int(rounds * LONG_RUN_MS / longest_ms))


def measure(device, contenders, rounds=20, deadline=None, clock=time.perf_counter):
    """Times of all contenders, interleaved: `{name: Timing}` and `{name: reason}` of those that failed on the way.

    The order is turned by one place a round, so that none always runs after the same neighbour. Past the deadline
    (seconds of `clock`) no further round begins, if there were enough.
    """
    start, stop = device.event(), device.event()
    samples, failures, alive = {c.name: [] for c in contenders}, {}, list(contenders)

    def run(contender):
        try:
            return once(device, contender, start, stop, clock)
        except Exception as error:  # whatever a library throws is that contender's result
            failures[contender.name] = f"{type(error).__name__}: {error}"
            alive.remove(contender)
            return None

    first = [run(contender) for contender in list(alive)]
    wanted = rounds_for(max((ms for ms in first if ms is not None), default=0.0), rounds)
    for number in range(wanted):
        if deadline is not None and number >= FEWEST_ROUNDS and clock() > deadline:
            break
        turn = number % max(len(alive), 1)
        for contender in alive[turn:] + alive[:turn]:
            ms = run(contender)
            if ms is not None:
                samples[contender.name].append(ms)
    return {name: Timing(times) for name, times in samples.items() if times and name not in failures}, failures
