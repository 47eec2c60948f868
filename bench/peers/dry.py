"""Everything but times, without a GPU: does warpsmith take the case, does nvcc take the kernel, and do the C
function and the peers' computation agree?"""
import tempfile

from . import case_run, compare, compiler, ours, reference, registry


def check(case, options, tool):
    """Lines that say what was found, and whether all was well."""
    lines = [f"{case.name}: {case.label}, {case.work():.4g} operations, {case.bytes():.4g} bytes, "
             f"{case.memory() / 1e9:.2f} GB of arrays"]
    steps = [("kernel", lambda: kernel(case, options, tool)), ("computation", lambda: computation(case))]
    well = True
    for name, step in steps:
        try:
            said = step()
        except ours.NeedsCommand as error:
            said = str(error)
        except Exception as error:  # each step is a finding of its own
            said, well = f"FAILED: {error}", False
        lines.append(f"  {name}: {said}")
    for name in case.peers:
        if name in options.peers:
            missing = registry.PEERS[name].missing()
            lines.append(f"  {registry.PEERS[name].title}: " + (f"absent, no {', '.join(missing)}" if missing else "there"))
    return lines, well


def kernel(case, options, tool):
    """Tunes by the model and compiles the result where there is an nvcc."""
    folder = options.work / case.name
    if compiler.nvcc():
        case_run.device_library(options)
        made = ours.make(tool, case, options.work, options.arch, "emulator", options.budget, options.reuse)
        return f"{'; '.join(made.schedule)}; compiled in {folder}"
    seconds = ours.tune(tool, case, folder, "emulator", options.budget, options.arch)
    return f"written to {folder} in {seconds:.0f} s; no nvcc to compile it"


def computation(case):
    """The C function against the computation that the peers run, at the small size."""
    if case.command != "tune":
        return "no C function"
    try:
        import numpy
    except ImportError:
        return "not compared, there is no NumPy"
    difference = computation_difference(case, numpy)
    if difference:
        raise AssertionError(difference)
    return f"equals the C function at {case.small}"


def computation_difference(case, numpy):
    """Why the C function and the computation over NumPy's arrays differ at the small size, or None."""
    sizes = case.small
    inputs = reference.random_inputs(case, sizes)
    with tempfile.TemporaryDirectory() as folder:
        expected = reference.run(case, sizes, inputs, folder)
    values = dict(case.scalars)
    for array in case.inputs():
        values[array.name] = numpy.array(inputs[array.name], numpy.float32).reshape(case.shape(array, sizes))
    computed = case.compute(numpy, values)
    arrays = {array.name: array for array in case.arrays}
    for name, terms in case.compared(sizes).items():
        wanted = expected[name]
        if name in arrays:
            wanted = reference.inner(case, arrays[name], sizes, wanted)
        difference = compare.mismatch(numpy.asarray(computed[name]).ravel().tolist(), wanted, terms)
        if difference:
            return f"{name}: {difference}"
    return None
