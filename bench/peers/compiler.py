"""nvcc and the host's C compiler: where they are, and shared libraries made with them."""
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

from .cases import ROOT


class BuildError(Exception):
    """A compiler is missing or refused a file; the text is for the user."""


def nvcc():
    """The path of nvcc: $NVCC, the PATH, $CUDA_HOME, or the Python packages of NVIDIA; None where there is none."""
    candidates = [os.environ.get("NVCC"), shutil.which("nvcc")]
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates += [str(pathlib.Path(home, "bin/nvcc")) for home in homes if home]
    folders = [pathlib.Path(sysconfig.get_paths()["purelib"]), *ROOT.glob(".venv/lib/python3*/site-packages")]
    candidates += [str(found) for folder in folders for found in folder.glob("nvidia/cu*/bin/nvcc")]
    return next((c for c in candidates if c and os.access(c, os.X_OK)), None)


def nvcc_version():
    path = nvcc()
    if not path:
        return None
    said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    release = re.search(r"release ([\d.]+)", said)
    return release.group(1) if release else "unknown"


def cuda_command(path, source, library, arch):
    """The command that makes a shared library of a CUDA file; the packages' nvcc does not know its own libraries."""
    command = [path, "-shared", "-Xcompiler", "-fPIC", f"-arch={arch}", "-O3", "-std=c++17"]
    beside = pathlib.Path(path).resolve().parents[1] / "lib"
    if beside.is_dir():
        command.append(f"-L{beside}")
    return command + ["-o", str(library), str(source)]


def build_cuda(source, library, arch, timeout=300):
    path = nvcc()
    if not path:
        raise BuildError("no nvcc: set NVCC or CUDA_HOME, or put it on the PATH")
    run(cuda_command(path, source, library, arch), timeout)
    return library


def build_c(source, library, defines, timeout=60):
    """The C file as the reference: no contraction, as the interpreter of warpsmith has none."""
    path = shutil.which(os.environ.get("CC", "cc"))
    if not path:
        raise BuildError("no C compiler: set CC, or install one")
    macros = [f"-D{name}={value}" for name, value in defines.items()]
    options = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    run([path, *options, *macros, "-o", str(library), str(source), "-lm"], timeout)
    return library


def run(command, timeout):
    """Runs a compiler; its own words are the error."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{pathlib.Path(command[0]).name} took more than {timeout} s") from None
    if done.returncode:
        raise BuildError(f"{pathlib.Path(command[0]).name}: {tail(done.stdout)}")


def tail(text, lines=4):
    """The last lines of what a tool said, on one line."""
    return " / ".join(line.strip() for line in text.strip().splitlines()[-lines:]) or "it said nothing"
