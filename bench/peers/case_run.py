"""One case on the GPU, in a process of its own: tune, compile, check, measure."""
import gc
import json
import pathlib
import sys
import tempfile
import time

from . import compare, compiler, device as devices, limits, ours, reference, registry, timing, torch_peer
from .kernel_tuner_peer import Absent
from .limits import limit

CASE_SECONDS = 480  # all of one case
LAST_SECONDS = 40  # kept for the measurement when peers take long to prepare


class Wrong(Exception):
    """An implementation computed something else."""


def outcome(status, detail="", **more):
    return {"status": status, "detail": detail, **more}


def failure(error):
    """What the table says of an exception."""
    if isinstance(error, Wrong):
        return outcome("wrong", str(error))
    if isinstance(error, ours.NeedsCommand):
        return outcome(str(error))
    if isinstance(error, (Absent, ImportError)):
        return outcome("absent", str(error))
    words = " ".join(str(error).split())
    named = isinstance(error, (ours.ToolError, compiler.BuildError, devices.DeviceError))
    return outcome("error", (words if named else f"{type(error).__name__}: {words}")[:400])


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


class Run:
    """The state of one case while it runs; `result` is what is known so far, and written at each step."""

    def __init__(self, case, options):
        self.case, self.options, self.begin = case, options, time.monotonic()
        self.result = {"case": case.name, "label": case.label, "unit": case.unit, "work": case.work(),
                       "bytes": case.bytes(), "ours": outcome("error", "not reached"), "peers": {}, "limit": None}
        self.chosen = [name for name in case.peers if name in options.peers]
        for name in self.chosen:
            missing = registry.PEERS[name].missing()
            self.result["peers"][name] = outcome(
                "absent" if missing else "error", f"no {', '.join(missing)}" if missing else "not reached")

    def left(self):
        """Seconds that remain."""
        return CASE_SECONDS - (time.monotonic() - self.begin)

    def save(self):
        pathlib.Path(self.options.result).write_text(json.dumps(self.result, indent=1))

    def everything(self):
        """The whole case; whatever goes wrong stands in the result."""
        kernel = self.make_kernel()
        self.save()
        torch = self.load_torch()
        try:
            self.device = devices.Device(device_library(self.options), torch)
            self.allocate()
        except Exception as error:  # without the device there is nothing to measure
            self.nothing(error)
            return
        expected = self.expected(torch)
        launcher = self.check_ours(kernel, torch, expected) if kernel else None
        self.save()
        prepared = self.prepare_peers(torch, expected) if torch else {}
        del expected
        gc.collect()
        self.measure(launcher, prepared)

    def make_kernel(self):
        options = self.options
        try:
            tool = ours.find(options.warpsmith)
        except ours.ToolError:
            if not options.reuse:
                raise
            tool = None
        try:
            kept = " unless a kernel is kept" if options.reuse else ""
            say(f"tuning for {options.budget:g} s, then nvcc{kept}")
            kernel = ours.make(tool, self.case, options.work, options.arch, "auto", options.budget, options.reuse,
                               timeout=min(options.budget + ours.TUNE_GRACE, self.left() - LAST_SECONDS))
        except Exception as error:  # the peers are measured all the same
            self.result["ours"] = failure(error)
            say(f"ours: {self.result['ours']['status']}: {self.result['ours']['detail']}")
            return None
        self.result["schedule"], self.result["tuned_seconds"] = kernel.schedule, kernel.seconds
        say(f"tuned in {kernel.seconds:.1f} s: {'; '.join(kernel.schedule)}")
        return kernel

    def load_torch(self):
        """PyTorch with a GPU, else None: then only ours and the limit are measured."""
        if not registry.installed("torch"):
            return None
        try:
            import torch
        except Exception as error:  # a broken installation is an absent one
            self.no_peers(f"PyTorch does not load: {error}")
            return None
        if not torch.cuda.is_available():
            self.no_peers("PyTorch sees no GPU")
            return None
        torch_peer.settings(torch)
        return torch

    def no_peers(self, reason):
        self.result["peers"] = {name: outcome("absent", reason) for name in self.chosen}

    def nothing(self, error):
        """The device failed: for ours, if there was a kernel, and for all peers that are there."""
        failed = failure(error)
        if "schedule" in self.result:
            self.result["ours"] = failed
        for name, known in self.result["peers"].items():
            if known["status"] != "absent":
                self.result["peers"][name] = failed

    def allocate(self):
        case = self.case
        say(f"{case.memory() / 1e9:.2f} GB of arrays")
        self.arrays = {}
        for seed, array in enumerate(case.arrays, 1):
            memory = self.device.allocate(case.shape(array))
            memory.poison() if array.output else memory.fill(seed)
            self.arrays[array.name] = memory
        self.device.synchronize()
        self.values = {**case.scalars, **{a.name: self.arrays[a.name].tensor for a in case.inputs()}}

    def expected(self, torch):
        """All outputs by PyTorch, operation by operation; None without PyTorch or where it cannot."""
        if torch is None:
            return None
        try:
            outputs = self.case.compute(torch, self.values)
            torch.cuda.synchronize()
            return outputs
        except Exception as error:  # out of memory, mostly
            self.no_peers(f"no reference: {failure(error)['detail']}")
            return None

    def check_ours(self, kernel, torch, expected):
        """A launcher whose outputs were compared, with the C function at a small size and with PyTorch at the real one."""
        try:
            if self.case.command == "tune":
                self.check_small(kernel)
            launcher = ours.Launcher(kernel, self.case, self.device, self.case.sizes, self.arrays)
            launcher()
            self.device.synchronize()
            if expected is not None:
                found = {a.name: inner_tensor(a, self.arrays[a.name].tensor) for a in self.case.outputs()}
                found["result"] = launcher.result.tensor[:1].reshape(())
                self.compare(torch, found, expected)
            return launcher
        except Exception as error:  # ours is then a word in the table
            self.result["ours"] = failure(error)
            say(f"ours: {self.result['ours']['status']}: {self.result['ours']['detail']}")
            return None

    def check_small(self, kernel):
        """The kernel against the C function on the processor."""
        case, sizes = self.case, self.case.small
        inputs = reference.random_inputs(case, sizes)
        with tempfile.TemporaryDirectory() as folder:
            expected = reference.run(case, sizes, inputs, folder)
        arrays = {array.name: self.device.allocate(case.shape(array, sizes)) for array in case.arrays}
        for array in case.arrays:
            memory = arrays[array.name]
            memory.poison() if array.output else memory.upload(inputs[array.name])
        launcher = ours.Launcher(kernel, case, self.device, sizes, arrays)
        launcher()
        self.device.synchronize()
        by_name = {array.name: array for array in case.arrays}
        for name, terms in case.compared(sizes).items():
            if name == "result":
                found, wanted = launcher.result.download()[:1], expected[name]
            else:
                found = reference.inner(case, by_name[name], sizes, arrays[name].download())
                wanted = reference.inner(case, by_name[name], sizes, expected[name])
            difference = compare.mismatch(found, wanted, terms)
            if difference:
                raise Wrong(f"{name} at {sizes}: {difference}")
        for memory in arrays.values():
            memory.free()

    def compare(self, torch, found, expected):
        for name, terms in self.case.compared().items():
            difference = compare.tensors_mismatch(torch, found[name], expected[name], terms)
            if difference:
                raise Wrong(f"{name}: {difference}")

    def prepare_peers(self, torch, expected):
        """All peers that are there and computed what PyTorch did."""
        ready = {}
        for name, known in list(self.result["peers"].items()):
            if known["status"] == "absent":
                continue
            if self.left() < 2 * LAST_SECONDS:
                self.result["peers"][name] = outcome("error", "no time was left for it")
                continue
            say(f"preparing {registry.PEERS[name].title}")
            try:
                peer = registry.PEERS[name].prepare(torch, self.case, self.values, self.options)
                peer.call()
                torch.cuda.synchronize()
                self.compare(torch, peer.outputs(), expected)
                ready[name] = peer
            except Exception as error:  # the others go on
                self.result["peers"][name] = failure(error)
                say(f"{name}: {self.result['peers'][name]['status']}: {self.result['peers'][name]['detail']}")
            self.save()
        return ready

    def measure(self, launcher, prepared):
        """All that is ready, and the limits, in the same rounds."""
        contenders = limits.contenders(self.device, self.case)
        if launcher:
            contenders.append(timing.Contender("ours", launcher))
        contenders += [timing.Contender(name, p.call, p.clock, p.wait) for name, p in prepared.items()]
        say(f"measuring {', '.join(c.name for c in contenders)}")
        timing.warm_up(self.device)
        operations = self.device.fma()
        times, failures = timing.measure(self.device, contenders, self.options.rounds,
                                         deadline=time.perf_counter() + max(self.left() - 20, 10))
        self.record(times, failures, operations, prepared)

    def record(self, times, failures, operations, prepared):
        """Times and failures into the result."""
        if "copy" in times and "fma" in times:
            least = limit(self.case, times["copy"].median, times["fma"].median, operations)
            self.result["limit"] = {"kind": least.kind, "ms": least.ms, "rate": least.rate}
        for name in ["ours", *prepared]:
            detail = prepared[name].detail if name in prepared else ""
            if name in times:
                timed = times[name]
                done = outcome("ok", detail, ms=timed.median, spread=timed.spread, samples=timed.samples)
            elif name in failures:
                done = outcome("error", failures[name])
            else:
                continue
            if name == "ours":
                self.result["ours"] = done
            else:
                self.result["peers"][name] = done
        for name in ("copy", "fma"):
            if name in failures:
                say(f"limit {name}: {failures[name]}")


def inner_tensor(array, tensor):
    """The part of an output that the function writes."""
    if not array.border:
        return tensor
    return tensor[tuple(slice(array.border, -array.border) for _ in tensor.shape)]


def device_library(options):
    """The library of device.cu, made once a folder and architecture."""
    library = pathlib.Path(options.work) / f"device-{options.arch}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        compiler.build_cuda(devices.SOURCE, library, options.arch)
    return library


def main(case, options):
    """Runs the case and leaves its result in `options.result`."""
    run = Run(case, options)
    try:
        run.everything()
    except Exception as error:  # nothing that goes wrong here may stop the other cases
        if run.result["ours"]["status"] == "error":
            run.result["ours"] = failure(error)
        say(f"stopped: {error}")
    run.save()
