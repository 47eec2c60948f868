"""warpsmith itself: tune a case, compile what it writes, and call the launcher through ctypes."""
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from . import compiler
from .cases import ROOT
from .prototype import Parameter, PrototypeError, parameters, without_comments

TUNE_GRACE = 180  # seconds beyond the budget for choosing, checking and writing


class ToolError(Exception):
    """warpsmith refused or is missing; the text is for the user."""


class NeedsCommand(ToolError):
    """The case belongs to a command that this warpsmith does not have."""


@dataclasses.dataclass
class Tool:
    """The binary and what its help says it can do."""

    path: str
    commands: set
    options: set  # of `tune`

    def version(self):
        done = subprocess.run([self.path, "--version"], stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.strip() or "unknown"


def find(path=None):
    """The binary: the one named, $WARPSMITH, target/release, or the PATH."""
    built = ROOT / "target/release/warpsmith"
    candidates = [path] if path else [os.environ.get("WARPSMITH"), str(built), shutil.which("warpsmith")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            said = help_of(candidate, [])
            return Tool(str(pathlib.Path(candidate).resolve()), commands_in(said),
                        options_in(help_of(candidate, ["tune"])))
    raise ToolError(f"no warpsmith at {path}" if path else "no warpsmith: cargo build --release, or --warpsmith PATH")


def help_of(path, arguments):
    done = subprocess.run([path, *arguments, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.stdout


def commands_in(text):
    """The names under `Commands:`."""
    after = text.split("Commands:", 1)[-1].split("Options:", 1)[0]
    return set(re.findall(r"^  ([a-z][\w-]*)(?:\s|$)", after, flags=re.MULTILINE))


def options_in(text):
    return set(re.findall(r"(?:^|\s)(--[a-z][\w-]*)", text))


def command(tool, case, out, device, budget, arch):
    """The command line that makes the kernel of a case; options that this binary does not know are left out."""
    if case.command not in tool.commands:
        raise NeedsCommand(f"needs warpsmith {case.command}")
    line = [tool.path, case.command, str(ROOT / case.source)]
    if case.command == "fuse":
        return line + ["--elements", str(case.sizes["count"]), "--device", device, "--out", str(out)]
    line += [part for name, value in case.sizes.items() for part in ("--size", f"{name}={value}")]
    line += [f"-D{name}={value}" for name, value in case.defines.items()]
    wanted = {"--arch": arch, "--device": device, "--out": str(out), "--store": str(out / "results.sqlite")}
    if device == "emulator":
        # A search by predicted times would find no more than the model's own choice.
        wanted["--strategy"] = "model"
    else:
        wanted["--budget"] = f"{budget:g}s"
    for option, value in wanted.items():
        if option in tool.options and value:
            line += [option, value]
    return line


@dataclasses.dataclass
class Kernel:
    """What was made of a case: a library with `bench_launch`, its parameters, and how it came to be."""

    library: str
    parameters: list
    workspace: list  # parameters of `bench_workspace`, None where there is no workspace
    schedule: list
    seconds: float

    def save(self, path):
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1))

    @staticmethod
    def load(path):
        held = json.loads(path.read_text())
        for key in ("parameters", "workspace"):
            held[key] = held[key] and [Parameter(**one) for one in held[key]]
        held["library"] = str(path.with_name(pathlib.Path(held["library"]).name))
        return Kernel(**held)


def tune(tool, case, folder, device, budget, arch, timeout=None):
    """Runs warpsmith; returns its folder of results and the seconds it took."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    line = command(tool, case, folder, device, budget, arch)
    begin = time.monotonic()
    limit = timeout or budget + TUNE_GRACE
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
                              timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise ToolError(f"warpsmith {case.command} took more than {limit:.0f} s") from None
    (folder / "tune.log").write_text(done.stdout)
    if done.returncode:
        said = compiler.tail(done.stdout, 6)
        raise ToolError(f"warpsmith {case.command} ended with status {done.returncode}: {said}")
    return time.monotonic() - begin


def binding(file, function, launcher, workspace):
    """A CUDA file that gives the launcher a C name that Python can find."""
    def forward(kind, name, target, declared):
        declarations = ", ".join(p.declaration() for p in declared)
        arguments = ", ".join(p.name for p in declared)
        return f'extern "C" {kind} {name}({declarations}) {{ return ({kind}){target}({arguments}); }}\n'

    text = f'#include "{file}"\n\n' + forward("int", "bench_launch", f"{function}_launch", launcher)
    if workspace:
        text += forward("size_t", "bench_workspace", f"{function}_workspace", workspace)
    return text


def build(case, folder, arch, seconds=0.0):
    """Compiles what warpsmith wrote to a library."""
    header = next(iter(sorted(folder.glob("*.h"))), None)
    source = header and header.with_suffix(".cu")
    if not header or not source.exists():
        raise ToolError(f"warpsmith wrote no header with a launcher: {', '.join(p.name for p in folder.iterdir())}")
    text = header.read_text()
    launched = re.search(r"\b(\w+)_launch\s*\(", without_comments(text))
    if not launched:
        raise ToolError(f"{header.name} declares no launcher")
    function = launched.group(1)
    launcher = parameters(text, f"{function}_launch")
    workspace = parameters(text, f"{function}_workspace") if f"{function}_workspace" in text else None
    bound = folder / "binding.cu"
    bound.write_text(binding(source.name, function, launcher, workspace))
    library = compiler.build_cuda(bound, folder / "binding.so", arch)
    report = folder / "result.json"
    schedule = json.loads(report.read_text()).get("schedule", []) if report.exists() else []
    known = {*case.sizes, *case.scalars, *(array.name for array in case.arrays), "result", "stream", "workspace"}
    all_known([*launcher, *(workspace or [])], known)
    kernel = Kernel(str(library), launcher, workspace, schedule, seconds)
    kernel.save(folder / "kernel.json")
    return kernel


def make(tool, case, work, arch, device, budget, reuse=False, timeout=None):
    """Tunes and compiles, or takes what an earlier run left in the folder when `reuse` says so."""
    folder = pathlib.Path(work) / case.name
    kept = folder / "kernel.json"
    if reuse and kept.exists():
        return Kernel.load(kept)
    if tool is None:
        raise ToolError(f"nothing to reuse in {folder}, and no warpsmith")
    seconds = tune(tool, case, folder, device, budget, arch, timeout)
    return build(case, folder, arch, seconds)


def all_known(declared, known):
    """Raises PrototypeError where a launcher has a parameter that a case gives nothing for."""
    missing = [p.name for p in declared if p.name not in known]
    if missing:
        raise PrototypeError(f"the launcher takes {', '.join(missing)}, which the case does not have")


class Launcher:
    """The launcher bound to sizes, scalars and device arrays; calling it starts one run on the default stream."""

    def __init__(self, kernel, case, device, sizes, arrays):
        library = ctypes.CDLL(kernel.library)
        self.result = device.allocate((2,))  # eight bytes: any scalar fits
        self.result.poison()
        self.workspace = None
        values = {**sizes, **case.scalars, "result": self.result.pointer, "stream": None}
        values.update({name: memory.pointer for name, memory in arrays.items()})
        if kernel.workspace is not None:
            bytes_of = library.bench_workspace
            bytes_of.restype = ctypes.c_size_t
            needed = bytes_of(*self.arguments(kernel.workspace, values))
            self.workspace = device.allocate((needed // 4 + 1,))
            values["workspace"] = self.workspace.pointer
        self.function = library.bench_launch
        self.values = self.arguments(kernel.parameters, values)
        self.device = device

    @staticmethod
    def arguments(declared, values):
        all_known(declared, values)
        return [p.ctype(values[p.name]) for p in declared]

    def __call__(self):
        code = self.function(*self.values)
        if code:
            raise ToolError(f"the launcher returned {self.device.library.device_error(code).decode()}")
