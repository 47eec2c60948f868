"""The cases: which C function at which size, how much work it is, and who else can do it.

Work is counted as a person would: a multiply-add is two operations, and bytes are what must cross the memory
bus at least once, arrays read plus arrays written, whatever an implementation really moves.
"""
import dataclasses
import math
import pathlib

from . import computations

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT = 4  # bytes of the only element type of these cases


@dataclasses.dataclass(frozen=True)
class Array:
    """An array parameter: its extents are expressions of the sizes. Outputs say how many terms each element sums,
    which sets the tolerance, and how wide a border the function leaves unwritten."""

    name: str
    extents: tuple
    output: bool = False
    terms: str = "1"
    border: int = 0
    # Written, but of no interest: nothing compares it.
    scratch: bool = False


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of the comparison."""

    name: str
    label: str  # the size, as the table shows it
    source: str  # C file or script, relative to the repository
    function: str
    sizes: dict
    small: dict  # sizes at which the C function itself is the reference
    arrays: tuple
    flops: str  # operations, an expression of the sizes
    floats: str  # floats that must move, an expression of the sizes
    unit: str  # "flop" or "byte": what a rate is given in
    compute: object  # the same computation over arrays of NumPy, PyTorch or JAX
    peers: tuple
    scalars: dict = dataclasses.field(default_factory=dict)
    defines: dict = dataclasses.field(default_factory=dict)
    returns: str = ""  # terms of the returned sum, empty where nothing is returned
    command: str = "tune"

    def evaluate(self, expression, sizes=None):
        """The value of an expression of sizes and defined macros."""
        names = {**(self.sizes if sizes is None else sizes), **self.defines}
        return eval(str(expression), {"__builtins__": {}}, names)

    def shape(self, array, sizes=None):
        return tuple(self.evaluate(extent, sizes) for extent in array.extents)

    def work(self):
        """Operations of one run."""
        return self.evaluate(self.flops)

    def bytes(self):
        """Bytes that one run must move."""
        return FLOAT * self.evaluate(self.floats)

    def inputs(self):
        return [a for a in self.arrays if not a.output]

    def outputs(self):
        return [a for a in self.arrays if a.output]

    def compared(self, sizes=None):
        """Name and number of summed terms of everything that two implementations must agree on."""
        terms = {a.name: self.evaluate(a.terms, sizes) for a in self.outputs() if not a.scratch}
        if self.returns:
            terms["result"] = self.evaluate(self.returns, sizes)
        return terms

    def memory(self):
        """Bytes of all arrays."""
        return FLOAT * sum(math.prod(self.shape(a)) for a in self.arrays)


def contraction(n):
    return Case(
        name=f"gemm-{n}", label=f"{n}³", source="examples/gemm.c", function="gemm",
        sizes=dict(n=n, m=n, k=n), small=dict(n=67, m=70, k=65),
        arrays=(Array("A", ("n", "k")), Array("B", ("k", "m")), Array("C", ("n", "m"), True, "k")),
        flops="2*n*m*k", floats="n*k + k*m + n*m", unit="flop", compute=computations.gemm,
        peers=("cublas", "kernel-tuner") if n in (2048, 4096) else ("cublas",))


def convolution(f, n):
    return Case(
        name=f"conv{f}-{n}", label=f"{f}×{f}, {n}²", source="bench/cases/conv.c", function="conv",
        sizes=dict(h=n, w=n), small=dict(h=61, w=70), defines=dict(F=f),
        arrays=(Array("image", ("h + F - 1", "w + F - 1")), Array("filter", ("F", "F")),
                Array("out", ("h", "w"), True, "F*F")),
        flops="2*F*F*h*w", floats="(h + F - 1)*(w + F - 1) + F*F + h*w", unit="flop",
        compute=computations.conv, peers=("cudnn", "kernel-tuner") if n == 4096 else ("cudnn",))


def stencils():
    grid = ("imax", "jmax", "kmax")
    coefficients = ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "c0", "c1", "c2", "wrk1", "bnd", "p")
    return [
        Case(
            name="five-point", label="16384²", source="bench/cases/five.c", function="five",
            sizes=dict(n=16384, m=16384), small=dict(n=61, m=70),
            arrays=(Array("u", ("n", "m")), Array("v", ("n", "m"), True, "5", border=1)),
            flops="4*(n - 2)*(m - 2)", floats="2*n*m", unit="byte", compute=computations.five,
            peers=("compile", "jax")),
        Case(
            name="heat", label="512³", source="examples/heat7.c", function="heat7",
            sizes=dict(nx=512, ny=512, nz=512), small=dict(nx=35, ny=20, nz=17), scalars=dict(c=0.1),
            arrays=(Array("t", ("nz", "ny", "nx")), Array("next", ("nz", "ny", "nx"), True, "8", border=1)),
            flops="8*(nx - 2)*(ny - 2)*(nz - 2)", floats="2*nx*ny*nz", unit="byte",
            compute=computations.heat, peers=("compile", "jax")),
        Case(
            name="himeno", label="256×256×512", source="bench/cases/himeno.c", function="himeno",
            sizes=dict(imax=256, jmax=256, kmax=512), small=dict(imax=12, jmax=13, kmax=37),
            scalars=dict(omega=0.8),
            arrays=tuple(Array(name, grid) for name in coefficients)
            + (Array("next", grid, True, "30", border=1),),
            returns="(imax - 2)*(jmax - 2)*(kmax - 2)", flops="34*(imax - 2)*(jmax - 2)*(kmax - 2)",
            floats="14*imax*jmax*kmax", unit="flop", compute=computations.himeno, peers=("compile", "jax")),
    ]


def sequences(n=16384, long=2**27):
    square = dict(n=n, m=n)
    rectangle = dict(n=61, m=70)
    peers = ("eager", "compile", "jax")
    vectors = ("u1", "v1", "u2", "v2", "y", "z")
    return [
        Case(
            name="bicgk", label=f"n = {n}", source="bench/cases/bicgk.c", function="bicgk", sizes=square,
            small=rectangle,
            arrays=(Array("A", ("n", "m")), Array("p", ("m",)), Array("r", ("n",)),
                    Array("q", ("n",), True, "m"), Array("s", ("m",), True, "n")),
            flops="4*n*m", floats="n*m + 2*n + 2*m", unit="byte", compute=computations.bicgk, peers=peers),
        Case(
            name="atax", label=f"n = {n}", source="bench/cases/atax.c", function="atax", sizes=square,
            small=rectangle,
            arrays=(Array("A", ("n", "m")), Array("x", ("m",)), Array("t", ("n",), True, scratch=True),
                    Array("y", ("m",), True, "n + m")),
            flops="4*n*m", floats="n*m + 2*m", unit="byte", compute=computations.atax, peers=peers),
        Case(
            name="gemver", label=f"n = {n}", source="bench/cases/gemver.c", function="gemver",
            sizes=dict(n=n), small=dict(n=67), scalars=dict(alpha=1.3, beta=1.2),
            arrays=(Array("A", ("n", "n")),) + tuple(Array(name, ("n",)) for name in vectors)
            + (Array("B", ("n", "n"), True, "3"), Array("x", ("n",), True, "n"),
               Array("w", ("n",), True, "2*n")),
            flops="8*n*n", floats="3*n*n + 9*n", unit="byte", compute=computations.gemver, peers=peers),
        Case(
            name="gesummv", label=f"n = {n}", source="bench/cases/gesummv.c", function="gesummv",
            sizes=square, small=rectangle, scalars=dict(alpha=1.2, beta=1.3),
            arrays=(Array("A", ("n", "m")), Array("B", ("n", "m")), Array("x", ("m",)),
                    Array("y", ("n",), True, "2*m")),
            flops="4*n*m", floats="2*n*m + m + n", unit="byte", compute=computations.gesummv, peers=peers),
        Case(
            name="axpydot", label=f"n = 2^{long.bit_length() - 1}", source="bench/cases/axpydot.c",
            function="axpydot", sizes=dict(n=long), small=dict(n=3001), scalars=dict(alpha=1.1),
            arrays=(Array("w", ("n",)), Array("v", ("n",)), Array("u", ("n",)), Array("z", ("n",), True, "2")),
            returns="n", flops="4*n", floats="4*n", unit="byte", compute=computations.axpydot, peers=peers),
    ]


def scripts(n=2**22):
    """Sequences over arrays of small matrices, an element of each array after the other."""
    def script(name, inputs, outputs, flops, peers):
        arrays = tuple(Array(a, ("count", *extents)) for a, *extents in inputs)
        arrays += tuple(Array(a, ("count", *extents), True, terms) for a, terms, *extents in outputs)
        floats = sum(math.prod(array.extents[1:]) for array in arrays)
        return Case(
            name=name, label=f"{n} elements", source=f"bench/cases/{name}.ws", function=name,
            sizes=dict(count=n), small=dict(count=33), arrays=arrays, flops=f"{flops}*count", floats=f"{floats}*count",
            unit="byte", compute=getattr(computations, name), peers=peers, command="fuse")

    every = ("eager", "compile", "jax")
    return [
        script("bigfusion", (("A", 3, 3), ("B", 3, 3), ("c", 3), ("D", 5, 5), ("E", 5, 5)),
               (("F", "27", 5, 5),), 45 + 15 + 6 + 225 + 25, every),
        script("synctest", (("A", 3, 3),), (("R", "5", 3, 3),), 36, every),
        script("stvenant", (("T", 3, 3, 3, 3), ("F", 3, 3), ("dPhi", 3), ("H", 3, 3), ("w",)),
               (("R", "27", 3, 3, 3), ("v", "3", 3)), 15 + 3 + 135 + 135, every),
        script("stvenantinner", (("R", 3, 3, 3), ("dPsi", 3), ("dPhi", 3), ("S", 3, 3), ("w",)),
               (("M", "12", 3, 3),), 45 + 15 + 6 + 3 + 9 + 9, every),
    ]


CASES = (
    [contraction(n) for n in (1024, 2048, 3000, 4096, 8192)]
    + [convolution(f, 4096) for f in (5, 11, 17)]
    + [convolution(f, 8192) for f in (3, 5, 7, 11, 15)]
    + stencils() + sequences() + scripts()
)


def select(names):
    """The cases of these names, all without any. A name may be the beginning of several, such as `gemm`."""
    if not names:
        return CASES
    chosen = []
    for name in names:
        found = [c for c in CASES if c.name == name] or [c for c in CASES if c.name.startswith(name)]
        if not found:
            raise ValueError(f"no case `{name}`; there are " + ", ".join(c.name for c in CASES))
        chosen += [c for c in found if c not in chosen]
    return chosen
