"""The C function itself, compiled for the processor: what a kernel must compute, at sizes that take no time."""
import ctypes
import math
import pathlib
import random
import re

from . import compiler
from .cases import ROOT
from .prototype import parameters, without_comments


def random_inputs(case, sizes, seed=1):
    """`{name: [floats]}` of all inputs, uniform in [-1, 1], as floats of 32 bits hold them."""
    generator = random.Random(seed)

    def values(array):
        count = math.prod(case.shape(array, sizes))
        return list((ctypes.c_float * count)(*(generator.uniform(-1, 1) for _ in range(count))))

    return {array.name: values(array) for array in case.inputs()}


def run(case, sizes, inputs, folder):
    """`{name: [floats]}` of all outputs, and `result` where the function returns a value."""
    source = ROOT / case.source
    library = ctypes.CDLL(str(compiler.build_c(source, pathlib.Path(folder) / f"{case.name}.so", case.defines)))
    text = source.read_text()
    function = getattr(library, case.function)
    returns = re.search(rf"\b(\w+)\s+{case.function}\s*\(", without_comments(text)).group(1)
    function.restype = ctypes.c_float if returns == "float" else None
    buffers = {}
    for array in case.arrays:
        count = math.prod(case.shape(array, sizes))
        values = inputs.get(array.name) or [0.0] * count
        buffers[array.name] = (ctypes.c_float * count)(*values)
    values = {**sizes, **case.scalars, **buffers}
    arguments = []
    for declared in parameters(text, case.function):
        value = values[declared.name]
        arguments.append(value if declared.pointer else declared.ctype(value))
    returned = function(*arguments)
    outputs = {array.name: list(buffers[array.name]) for array in case.outputs() if not array.scratch}
    if case.returns:
        outputs["result"] = [returned]
    return outputs


def inner(case, array, sizes, values):
    """The elements of an output that the function writes: all but its border."""
    if not array.border:
        return values
    shape = case.shape(array, sizes)
    kept = []
    for flat, value in enumerate(values):
        inside = True
        for extent in reversed(shape):
            flat, position = divmod(flat, extent)
            inside &= array.border <= position < extent - array.border
        if inside:
            kept.append(value)
    return kept
