"""Kernel Tuner on the kernels its users have: CLTune's product as KTT ships it, and its own convolution.

Neither is part of this repository: `--kernels DIR` names a folder with `gemm.cu` and `convolution.cu`.
"""
import json
import pathlib
import re
import subprocess
import sys

from .torch_peer import Prepared

GEMM_SPACE = dict(
    MWG=[16, 32, 64, 128], NWG=[16, 32, 64, 128], KWG=[16, 32], MDIMC=[8, 16, 32], NDIMC=[8, 16, 32],
    MDIMA=[8, 16, 32], NDIMB=[8, 16, 32], KWI=[2, 8], VWM=[1, 2, 4], VWN=[1, 2, 4], STRM=[0], STRN=[0],
    SA=[0, 1], SB=[0, 1], PRECISION=[32])
GEMM_RESTRICTIONS = [
    "KWG%KWI==0", "MWG%(MDIMC*VWM)==0", "NWG%(NDIMC*VWN)==0", "MWG%(MDIMA*VWM)==0", "NWG%(NDIMB*VWN)==0",
    "KWG%((MDIMC*NDIMC)//MDIMA)==0", "KWG%((MDIMC*NDIMC)//NDIMB)==0", "MDIMC*NDIMC<=1024",
    "(SA*KWG*MWG+SB*KWG*NWG)*4<=49152"]


class Absent(Exception):
    """A part that this peer needs is not there."""


def source(kernels, name):
    if not kernels:
        raise Absent(f"--kernels DIR with {name}")
    path = pathlib.Path(kernels, name)
    if not path.exists():
        raise Absent(f"{path} does not exist")
    return path.read_text()


def without_defines(text, names):
    """The source without its own values of tunable parameters, which would win over the tuner's."""
    return re.sub(rf"^[ \t]*#[ \t]*define[ \t]+({'|'.join(names)})[ \t].*$", "", text, flags=re.MULTILINE)


def problem(case, kernels):
    """What Kernel Tuner is asked for a case, as data that a JSON text can carry."""
    if case.function == "gemm":
        n = case.sizes["n"]
        return dict(
            kernel="gemm_fast", source=source(kernels, "gemm.cu"), problem_size=[n, n],
            arguments=[["int", n]] * 3 + [["floats", n * n]] * 3, constant={}, parameters=GEMM_SPACE,
            restrictions=GEMM_RESTRICTIONS, block_names=["MDIMC", "NDIMC"], grid_x=["MWG"], grid_y=["NWG"])
    f, n = case.defines["F"], case.sizes["h"]
    space = dict(
        filter_height=[f], filter_width=[f], block_size_x=[16, 32, 48, 64, 96, 128],
        block_size_y=[1, 2, 4, 8, 16, 32], tile_size_x=list(range(1, 9)), tile_size_y=list(range(1, 9)),
        use_padding=[0, 1], read_only=[0, 1])
    text = without_defines(source(kernels, "convolution.cu"), ["filter_height", "filter_width"])
    restrictions = ["use_padding==0 or block_size_x%32!=0", "block_size_x*block_size_y<=1024"]
    # The file's older versions have no guards and its sizes are fixed: whole tiles only.
    if not re.search(r"<\s*image_(height|width)", text):
        restrictions += [f"{n}%(block_size_x*tile_size_x)==0", f"{n}%(block_size_y*tile_size_y)==0"]
    return dict(
        kernel="convolution_kernel", source=text, problem_size=[n, n],
        arguments=[["floats", n * n], ["floats", (n + f - 1) ** 2], ["floats", f * f]],
        constant={"d_filter": 2}, parameters=space, restrictions=restrictions,
        block_names=["block_size_x", "block_size_y"], grid_x=["block_size_x", "tile_size_x"],
        grid_y=["block_size_y", "tile_size_y"])


def search(asked, seconds):
    """The best configuration of a search of so many seconds."""
    line = [sys.executable, "-m", "peers.kernel_tuner_search", json.dumps({**asked, "seconds": seconds})]
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              cwd=pathlib.Path(__file__).resolve().parents[1], timeout=seconds + 120)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the search did not end within {seconds + 120:.0f} s") from None
    if done.returncode:
        raise RuntimeError("the search failed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
    return json.loads(done.stdout.strip().splitlines()[-1])


def geometry(asked, configuration):
    """Grid and block of a configuration, as Kernel Tuner derives them."""
    def blocks(size, divisors):
        tile = 1
        for name in divisors:
            tile *= configuration[name]
        return -(-size // tile)

    width, height = asked["problem_size"]
    grid = (blocks(width, asked["grid_x"]), blocks(height, asked["grid_y"]), 1)
    block = tuple(configuration[name] for name in asked["block_names"]) + (1,)
    return grid, block


def specialised(asked, configuration, grid):
    """The source with the configuration's values before it, as Kernel Tuner puts them there."""
    values = {"grid_size_x": grid[0], "grid_size_y": grid[1], "grid_size_z": 1, **configuration, "kernel_tuner": 1}
    return "".join(f"#define {name} {value}\n" for name, value in values.items()) + asked["source"]


def prepare(torch, case, values, options):
    asked = problem(case, options.kernels)
    best = search(asked, options.kernel_tuner_seconds)
    import cupy

    grid, block = geometry(asked, best["configuration"])
    module = cupy.RawModule(code=specialised(asked, best["configuration"], grid), options=("-std=c++17",),
                            name_expressions=[asked["kernel"]])
    kernel = module.get_function(asked["kernel"])
    out = torch.full(case.shape(case.outputs()[0]), float("nan"), dtype=torch.float32, device="cuda")
    name = case.outputs()[0].name
    if case.function == "gemm":
        n = cupy.int32(case.sizes["n"])
        given = (n, n, n, *(cupy.from_dlpack(t) for t in (values["A"], values["B"], out)))

        def outputs():
            # The kernel's matrices are laid out in another order: the same product of other views of them.
            return {name: same_product(values["A"], values["B"], out)}
    else:
        weights = cupy.from_dlpack(values["filter"])
        constant = cupy.ndarray(weights.shape, weights.dtype, module.get_global("d_filter"))
        constant[...] = weights
        given = tuple(cupy.from_dlpack(t) for t in (out, values["image"], values["filter"]))

        def outputs():
            return {name: out}
    detail = f"best of {best['ran']} configurations in {options.kernel_tuner_seconds:g} s: " + ", ".join(
        f"{k}={v}" for k, v in best["configuration"].items())
    return Prepared(lambda: kernel(grid, block, given), outputs, detail=detail)


def same_product(a, b, out):
    """A B where `out` is a product of A and B, either transposed or not, in either order; else `out` itself."""
    scale = 1e-3 * float((a @ b).abs().max())
    for left in (a, a.T):
        for right in (b, b.T):
            for product in (left @ right, right @ left):
                for view in (product, product.T):
                    if float((view - out).abs().max()) <= scale:
                        # what it computed in its layout, with its own rounding, as a difference from A B
                        return a @ b + (out - view)
    return out
