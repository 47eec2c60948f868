"""Kernel Tuner's search, as a process of its own: a configuration that faults costs this process only.

    python -m peers.kernel_tuner_search JSON

JSON holds what `kernel_tuner_peer.problem` returns and `seconds`. The last line of the output is JSON again: the best
configuration, its milliseconds, and how many of how many ran.
"""
import json
import sys


def arguments(numpy, problem):
    """Host arrays and scalars in the kernel's order, and the constant memory."""
    generator = numpy.random.default_rng(1)
    values, constant = [], {}
    for kind, value in problem["arguments"]:
        if kind == "int":
            values.append(numpy.int32(value))
        else:
            values.append(generator.uniform(-1, 1, value).astype(numpy.float32))
    for name, position in problem["constant"].items():
        constant[name] = values[position]
    return values, constant


def usable(results):
    """Those that ran: others have no time, or up to Kernel Tuner 1.3 a text in its place."""
    return [r for r in results if "__error__" not in r and isinstance(r.get("time"), (int, float))]


def main():
    import cupy
    import cupyx
    import numpy

    # Kernel Tuner up to 1.3 looks for it there; CuPy 14 moved it.
    if not hasattr(cupy, "_cupyx"):
        cupy._cupyx = cupyx
    import kernel_tuner

    problem = json.loads(sys.argv[1])
    values, constant = arguments(numpy, problem)
    results, _ = kernel_tuner.tune_kernel(
        problem["kernel"], problem["source"], tuple(problem["problem_size"]), values, problem["parameters"],
        restrictions=problem["restrictions"], block_size_names=problem["block_names"],
        grid_div_x=problem["grid_x"], grid_div_y=problem["grid_y"], cmem_args=constant or None, lang="cupy",
        strategy="genetic_algorithm",
        strategy_options={"time_limit": problem["seconds"], "max_fevals": 100000}, quiet=True,
        compiler_options=["-std=c++17"])
    ran = usable(results)
    if not ran:
        sys.exit("no configuration ran")
    best = min(ran, key=lambda r: r["time"])
    print(json.dumps({"configuration": {name: int(best[name]) for name in problem["parameters"]},
                      "ms": float(best["time"]), "ran": len(ran), "tried": len(results)}))


if __name__ == "__main__":
    main()
