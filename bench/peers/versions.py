"""What a result depends on: the GPU, its driver, and the versions of everything that ran."""
import datetime
import importlib.metadata
import shutil
import subprocess

from . import compiler

PACKAGES = ("torch", "jax", "kernel_tuner", "cupy", "triton", "nvidia-cudnn-cu13", "nvidia-cublas")


def gpu():
    """Name, driver and compute capability ("9.0") of the first GPU; None where nvidia-smi finds none."""
    path = shutil.which("nvidia-smi")
    if not path:
        return None
    asked = [path, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60,
                              check=False)
    except subprocess.TimeoutExpired:
        return None
    return parse_gpu(done.stdout) if done.returncode == 0 else None


def parse_gpu(text):
    fields = [field.strip() for field in text.strip().splitlines()[0].split(",")] if text.strip() else []
    return dict(zip(("name", "driver", "capability"), fields)) if len(fields) == 3 else None


def package_versions():
    """Versions of the installed packages among those that matter here."""
    found = {}
    for name in PACKAGES:
        distributions = [name]
        if name == "cupy":
            distributions += [f"cupy-cuda{major}x" for major in (12, 13)]
        for distribution in distributions:
            try:
                found[name] = importlib.metadata.version(distribution)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def facts(tool, device, note=""):
    """The heading of a table."""
    versions = {"warpsmith": tool.version().removeprefix("warpsmith ") if tool else "of an earlier build"}
    versions |= {"nvcc": compiler.nvcc_version() or "none"} | package_versions()
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return {"date": date, "gpu": device["name"], "driver": device["driver"], "versions": versions, "note": note}
