#!/usr/bin/env python3
"""Tests of `bench/run` that need no GPU: `python3 bench/test_bench.py`.

NumPy, nvcc and a warpsmith (`$WARPSMITH` or target/release) are used where they are; the rest needs Python and a C compiler.
"""
import argparse
import contextlib
import dataclasses
import gzip
import importlib.machinery
import io
import json
import math
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from peers import (case_run, cases, compare, compiler, dry, kernel_tuner_peer, kernel_tuner_search,  # noqa: E402
                   limits, main, ours, prototype, reference, registry, table, timing, torch_peer, versions)

try:
    import numpy
except ImportError:
    numpy = None

BY_NAME = {case.name: case for case in cases.CASES}
TUNED = [case for case in cases.CASES if case.command == "tune"]
PEERS = pathlib.Path(__file__).resolve().parent / "peers"


class Spaces(unittest.TestCase):
    """`bench/search/spaces` has no suffix, so it is loaded by its path."""

    @classmethod
    def setUpClass(cls):
        path = cases.ROOT / "bench/search/spaces"
        loader = importlib.machinery.SourceFileLoader("search_spaces", str(path))
        cls.spaces = types.ModuleType("search_spaces")
        loader.exec_module(cls.spaces)

    def test_blocks_that_do_not_fit_have_no_time(self):
        device = self.spaces.DEVICES["large"]
        self.assertEqual(self.spaces.occupancy(device, 256, 32, 0), 1.0)
        self.assertEqual(self.spaces.occupancy(device, 256, 128, 0), 0.25)
        self.assertEqual(self.spaces.occupancy(device, 2048, 16, 0), 0)
        self.assertEqual(self.spaces.occupancy(device, 256, 32, 60_000), 0)
        parameters, valid = self.spaces.product_space()
        first = {key: values[0] for key, values in parameters.items()}
        self.assertEqual(self.spaces.product(device, "p", first), self.spaces.product(device, "p", first))
        self.assertTrue(valid({**first, "MDIMC": 8, "NDIMC": 8}))
        self.assertFalse(valid({**first, "MDIMC": 32}))

    def test_a_part_holds_what_has_its_value_and_nothing_else(self):
        rows = {f"{x},{y}": {"x": x, "y": y, "time": float(1 + x + y), "times": [1.0]} for x in range(1000) for y in range(3)}
        record = {"tune_params_keys": ["x", "y"], "tune_params": {"x": list(range(1000)), "y": [0, 1, 2]}, "cache": rows}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            folder = pathlib.Path(folder)
            with gzip.open(folder / "small.json.gz", "wt") as file:
                json.dump(record, file)
            self.spaces.parts([folder / "small.json.gz"], folder / "out")
            names = {path.name.split(".json")[0] for path in (folder / "out").iterdir()}
            self.assertIn("small-y=1", names)
            self.assertIn("small-y!=1", names)
            self.assertIn("small-x-low", names)
            with gzip.open(folder / "out/small-y!=1.json.gz", "rt") as file:
                part = json.load(file)
        self.assertEqual(part["tune_params"]["y"], [0, 2])
        self.assertEqual({row["y"] for row in part["cache"].values()}, {0, 2})
        self.assertEqual(len(part["cache"]), 2000)


class Cases(unittest.TestCase):
    def test_names_are_unique_and_sources_are_there(self):
        self.assertEqual(len(BY_NAME), len(cases.CASES))
        for case in cases.CASES:
            self.assertTrue((cases.ROOT / case.source).exists(), case.source)
            for name in case.peers:
                self.assertIn(name, registry.PEERS)

    def test_every_parameter_of_the_function_is_a_size_a_scalar_or_an_array(self):
        for case in TUNED:
            declared = prototype.parameters((cases.ROOT / case.source).read_text(), case.function)
            arrays = [a.name for a in case.arrays]
            self.assertEqual([p.name for p in declared if p.pointer], arrays, case.name)
            self.assertEqual({p.name for p in declared if not p.pointer}, {*case.sizes, *case.scalars}, case.name)
            written = [p.name for p in declared if p.pointer and "const" not in p.type]
            self.assertEqual(written, [a.name for a in case.outputs()], case.name)
            self.assertEqual(set(case.sizes), set(case.small))

    def test_work_is_counted_as_the_literature_does(self):
        self.assertEqual(BY_NAME["gemm-1024"].work(), 2 * 1024**3)
        self.assertEqual(BY_NAME["gemm-3000"].bytes(), 3 * 3000**2 * 4)
        self.assertEqual(BY_NAME["conv11-4096"].work(), 2 * 121 * 4096**2)
        self.assertEqual(BY_NAME["conv5-8192"].bytes(), 4 * (8196**2 + 25 + 8192**2))
        self.assertEqual(BY_NAME["himeno"].work(), 34 * 254 * 254 * 510)
        self.assertEqual(BY_NAME["himeno"].bytes(), 14 * 256 * 256 * 512 * 4)
        self.assertEqual(BY_NAME["heat"].bytes(), 2 * 512**3 * 4)
        self.assertEqual(BY_NAME["axpydot"].bytes(), 4 * 2**27 * 4)

    def test_bytes_of_an_element_of_the_scripts(self):
        bytes_of = {name: BY_NAME[name].bytes() / BY_NAME[name].sizes["count"]
                    for name in ("bigfusion", "synctest", "stvenant", "stvenantinner")}
        self.assertEqual(bytes_of, {"bigfusion": 384, "synctest": 72, "stvenant": 532, "stvenantinner": 208})

    def test_what_must_move_is_never_more_than_twice_the_arrays(self):
        for case in cases.CASES:
            self.assertLessEqual(case.bytes(), 2 * case.memory(), case.name)

    def test_names_select_one_or_all_that_begin_so(self):
        self.assertEqual([c.name for c in cases.select(["gemm-1024"])], ["gemm-1024"])
        self.assertEqual(len(cases.select(["conv"])), 8)
        self.assertEqual(cases.select([]), cases.CASES)
        with self.assertRaisesRegex(ValueError, "no case `nothing`"):
            cases.select(["nothing"])


class CFunctions(unittest.TestCase):
    def test_a_sum_of_products_by_hand(self):
        case, sizes = BY_NAME["gesummv"], dict(n=3, m=4)
        inputs = reference.random_inputs(case, sizes)
        with tempfile.TemporaryDirectory() as folder:
            found = reference.run(case, sizes, inputs, folder)["y"]
        rows = [1.2 * sum(inputs["A"][4 * i + j] * inputs["x"][j] for j in range(4))
                + 1.3 * sum(inputs["B"][4 * i + j] * inputs["x"][j] for j in range(4)) for i in range(3)]
        self.assertIsNone(compare.mismatch(found, rows, 8))
        self.assertIsNotNone(compare.mismatch(found, [r + 0.01 for r in rows], 8))

    def test_the_border_is_left_out(self):
        array = cases.Array("v", ("n", "m"), True, border=1)
        self.assertEqual(reference.inner(BY_NAME["five-point"], array, dict(n=3, m=4), list(range(12))), [5, 6])

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_the_peers_compute_what_the_functions_do(self):
        for case in TUNED:
            with self.subTest(case.name):
                self.assertIsNone(dry.computation_difference(case, numpy))

    @unittest.skipUnless(numpy and registry.installed("jax"), "needs JAX")
    def test_jax_traces_every_computation(self):
        import jax
        for case in cases.CASES:
            shapes = {a.name: jax.ShapeDtypeStruct(case.shape(a, case.small), "float32") for a in case.inputs()}
            made = jax.eval_shape(lambda given, case=case: case.compute(jax.numpy, {**case.scalars, **given}), shapes)
            for output in case.outputs():
                if not output.scratch:
                    wanted = tuple(e - 2 * output.border for e in case.shape(output, case.small))
                    self.assertEqual(made[output.name].shape, wanted, f"{case.name} {output.name}")

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_a_peer_that_computes_something_else_is_noticed(self):
        broken = dataclasses.replace(BY_NAME["atax"], compute=lambda xp, v: {"y": v["A"].T @ (v["A"] @ v["x"]) + 0.5})
        self.assertIn("y: element 0", dry.computation_difference(broken, numpy))

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_scripts_by_matrices_of_one_element(self):
        generator = numpy.random.default_rng(3)
        for name, expected in SCRIPTS.items():
            case = BY_NAME[name]
            values = {a.name: generator.uniform(-1, 1, case.shape(a, dict(n=2))) for a in case.inputs()}
            found = case.compute(numpy, values)
            for output in case.outputs():
                self.assertEqual(found[output.name].shape, case.shape(output, dict(n=2)))
            wanted = expected(numpy, {key: value[1] for key, value in values.items()})
            for key, value in wanted.items():
                numpy.testing.assert_allclose(found[key][1], value, rtol=1e-12, err_msg=name)


# What the scripts mean for one element, in the words of linear algebra.
SCRIPTS = {
    "bigfusion": lambda np, v: {"F": np.linalg.norm(v["A"] @ v["B"] @ v["c"]) * (v["D"] @ v["E"])},
    "synctest": lambda np, v: {"R": 5 * v["A"]},
    "stvenant": lambda np, v: {
        "v": v["w"] * (v["H"] @ v["dPhi"]),
        "R": np.einsum("ijlm,m,kl->ijk", v["T"], v["w"] * (v["H"] @ v["dPhi"]), v["F"])},
    "stvenantinner": lambda np, v: {
        "M": abs((v["S"] @ v["dPhi"]) @ v["dPsi"]) * v["w"] * np.eye(3)
        + v["w"] * np.einsum("ijk,k->ij", v["R"], v["dPsi"])},
}


class KernelTuner(unittest.TestCase):
    def test_configurations_that_did_not_run_are_left_out(self):
        ran = {"x": 1, "time": 0.5}
        failed = [{"x": 2, "__error__": "CompilationFailedConfig"}, {"x": 3, "time": "RuntimeFailedConfig"}]
        self.assertEqual(kernel_tuner_search.usable([*failed, ran]), [ran])


class Comparison(unittest.TestCase):
    def test_rounding_is_allowed_and_no_more(self):
        allowed = compare.tolerance(100.0, 10000)
        self.assertAlmostEqual(allowed, 4 * 2**-23 * 100 * 100.0)
        self.assertIsNone(compare.mismatch([100.0, 1.0 + 0.9 * allowed], [100.0, 1.0], 10000))
        self.assertIn("element 1", compare.mismatch([100.0, 1.0 + 1.1 * allowed], [100.0, 1.0], 10000))

    def test_a_double_must_be_more_exact(self):
        self.assertIsNone(compare.mismatch([1.0 + 1e-7], [1.0], 1))
        self.assertIsNotNone(compare.mismatch([1.0 + 1e-7], [1.0], 1, "float64"))

    def test_not_a_number_equals_itself_only(self):
        nan = math.nan
        self.assertIsNone(compare.mismatch([nan, 1.0], [nan, 1.0], 1))
        self.assertIn("element 0 is nan", compare.mismatch([nan, 1.0], [0.5, 1.0], 1))
        self.assertIn("expected nan", compare.mismatch([0.5], [nan], 1))

    def test_infinities_have_a_sign(self):
        self.assertIsNone(compare.mismatch([math.inf], [math.inf], 1))
        self.assertIsNotNone(compare.mismatch([-math.inf], [math.inf], 1))
        self.assertIsNotNone(compare.mismatch([math.inf], [1e30], 1))

    def test_as_many_elements(self):
        self.assertEqual(compare.mismatch([1.0], [1.0, 2.0], 1), "1 elements, expected 2")

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_tensors_likewise(self):
        torch = numpy_as_torch()
        one = torch.tensor(numpy.array([1.0, math.nan, math.inf], numpy.float32))
        with numpy.errstate(invalid="ignore"):
            self.assertIsNone(compare.tensors_mismatch(torch, one.copy(), one, 1))
        for index, value in ((0, 1.1), (0, math.nan), (1, 1.0), (2, -math.inf)):
            other = one.copy()
            other[index] = value
            with numpy.errstate(invalid="ignore"):
                self.assertIn(f"element {index}", compare.tensors_mismatch(torch, other, one, 1))
        self.assertEqual(compare.tensors_mismatch(torch, one[:2], one, 1), "shape (2,), expected (3,)")


HEADER = """// scale_launch(nothing) stands in a comment.
size_t scale_workspace(int n, float a);
//   x  device array, read: float [n]
cudaError_t scale_launch(int n, float a, const float *x,
                         float *y, float *result, void *workspace, cudaStream_t stream);
"""
HELP = """Usage: warpsmith <COMMAND>

Commands:
  check   Runs CUDA kernels
          in the emulator
  tune    Turns C into CUDA
  help    Print this message

Options:
  -h, --help  Print help
"""


class Ours(unittest.TestCase):
    def test_parameters_of_a_header(self):
        found = prototype.parameters(HEADER, "scale_launch")
        self.assertEqual([p.name for p in found], ["n", "a", "x", "y", "result", "workspace", "stream"])
        self.assertEqual([p.pointer for p in found], [False, False] + [True] * 5)
        with self.assertRaisesRegex(prototype.PrototypeError, "no function `other`"):
            prototype.parameters(HEADER, "other")

    def test_an_unknown_type_is_named(self):
        with self.assertRaisesRegex(prototype.PrototypeError, "`x` has the type `quad`"):
            _ = prototype.Parameter("quad", "x").ctype

    def test_arrays_in_brackets_are_pointers(self):
        text = "void f(int n, const float A[n][2 * (n + 1)], float /* no, g */ b[n])"
        self.assertEqual([p.declaration() for p in prototype.parameters(text, "f")],
                         ["int n", "const float *A", "float *b"])

    def test_the_launcher_gets_a_name_of_c(self):
        text = ours.binding("scale.cu", "scale", prototype.parameters(HEADER, "scale_launch"),
                            prototype.parameters(HEADER, "scale_workspace"))
        self.assertEqual(text, """#include "scale.cu"

extern "C" int bench_launch(int n, float a, const float *x, float *y, float *result, void *workspace, cudaStream_t stream) \
{ return (int)scale_launch(n, a, x, y, result, workspace, stream); }
extern "C" size_t bench_workspace(int n, float a) { return (size_t)scale_workspace(n, a); }
""")

    def test_help_says_what_there_is(self):
        self.assertEqual(ours.commands_in(HELP), {"check", "tune", "help"})
        self.assertEqual(ours.options_in("  --size <N>\n -h, --help\n  takes --budget-like words"),
                         {"--size", "--help", "--budget-like"})

    def test_unknown_options_are_left_out(self):
        case = BY_NAME["conv11-4096"]
        old = ours.Tool("warpsmith", {"tune"}, {"--size", "--out", "--device"})
        line = ours.command(old, case, pathlib.Path("o"), "auto", 30, "sm_90")
        self.assertEqual(line[3:], ["--size", "h=4096", "--size", "w=4096", "-DF=11", "--device", "auto", "--out", "o"])
        new = ours.Tool("warpsmith", {"tune"}, {"--size", "--out", "--device", "--budget", "--arch", "--strategy"})
        line = " ".join(ours.command(new, case, pathlib.Path("o"), "auto", 30, "sm_90"))
        self.assertIn("--arch sm_90 --device auto --out o --budget 30s", line)
        self.assertNotIn("--strategy", line)
        self.assertIn("--budget 2.5s", " ".join(ours.command(new, case, pathlib.Path("o"), "auto", 2.5, "sm_90")))
        self.assertIn("--budget 30s", " ".join(ours.command(new, case, pathlib.Path("o"), "auto", 30.0, "sm_90")))
        dry_line = " ".join(ours.command(new, case, pathlib.Path("o"), "emulator", 30, "sm_90"))
        self.assertIn("--device emulator --out o --strategy model", dry_line)
        self.assertNotIn("--budget", dry_line)

    def test_a_missing_command_is_no_error(self):
        tool = ours.Tool("warpsmith", {"tune"}, set())
        with self.assertRaisesRegex(ours.NeedsCommand, "needs warpsmith fuse"):
            ours.command(tool, BY_NAME["bigfusion"], pathlib.Path("o"), "auto", 30, "sm_90")
        self.assertEqual(case_run.failure(ours.NeedsCommand("needs warpsmith fuse"))["status"], "needs warpsmith fuse")

    def test_what_the_tool_says_is_the_error(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "warpsmith")
            script.write_text("#!/bin/sh\necho 'error[W1]: no'\nexit 1\n")
            script.chmod(0o755)
            tool = ours.Tool(str(script), {"tune"}, set())
            with self.assertRaisesRegex(ours.ToolError, r"ended with status 1: error\[W1\]: no"):
                ours.tune(tool, BY_NAME["heat"], pathlib.Path(folder, "o"), "emulator", 1, "sm_90")

    def test_a_folder_is_no_binary(self):
        with self.assertRaisesRegex(ours.ToolError, "no warpsmith at /"):
            ours.find("/")


class FakeDevice:
    """Remembers what was asked of it; each run takes as many milliseconds as its contender's name is long."""

    def __init__(self):
        self.log, self.flushed, self.current = [], False, None

    def event(self):
        return []

    def flush(self):
        self.flushed = True

    def hold(self):
        pass

    def synchronize(self):
        pass

    def record(self, event):
        pass

    def elapsed(self, start, stop):
        return float(len(self.current))

    def contender(self, name, fails_at=None):
        def call():
            assert self.flushed, "caches were not emptied"
            self.flushed, self.current = False, name
            self.log.append(name)
            if fails_at is not None and self.log.count(name) > fails_at:
                raise RuntimeError("gone")
        return timing.Contender(name, call)


class Timing(unittest.TestCase):
    def test_rounds_are_interleaved_and_turned(self):
        device = FakeDevice()
        times, failures = timing.measure(device, [device.contender(n) for n in ("a", "bb", "ccc")], rounds=4)
        self.assertEqual(device.log, "a bb ccc a bb ccc bb ccc a ccc a bb a bb ccc".split())
        self.assertEqual({n: t.samples for n, t in times.items()}, {"a": [1.0] * 4, "bb": [2.0] * 4, "ccc": [3.0] * 4})
        self.assertEqual(failures, {})

    def test_one_that_fails_does_not_stop_the_others(self):
        device = FakeDevice()
        times, failures = timing.measure(device, [device.contender("a"), device.contender("bb", fails_at=2)], rounds=6)
        self.assertEqual(list(times), ["a"])
        self.assertEqual(len(times["a"].samples), 6)
        self.assertEqual(failures, {"bb": "RuntimeError: gone"})

    def test_long_runs_get_fewer_rounds(self):
        self.assertEqual(timing.rounds_for(49, 20), 20)
        self.assertEqual(timing.rounds_for(100, 20), 10)
        self.assertEqual(timing.rounds_for(10000, 20), 5)
        self.assertEqual(timing.rounds_for(10000, 3), 3)

    def test_a_deadline_leaves_enough_rounds(self):
        device = FakeDevice()
        times, _ = timing.measure(device, [device.contender("a")], rounds=20, deadline=-1.0)
        self.assertEqual(len(times["a"].samples), timing.FEWEST_ROUNDS)

    def test_the_median_and_its_spread(self):
        self.assertEqual(timing.Timing([5.0, 1.0, 2.0]).median, 2.0)
        self.assertEqual(timing.Timing([2.0]).spread, 0.0)
        self.assertAlmostEqual(timing.Timing([1.0, 2.0, 3.0]).spread, 0.5)

    def test_the_host_clock_is_divided_by_the_runs(self):
        ticks = iter([10.0, 10.5])
        waited = []
        contender = timing.Contender("jax", lambda: "last", "host", waited.append)
        self.assertEqual(timing.once(FakeDevice(), contender, None, None, lambda: next(ticks)), 500 / timing.HOST_RUNS)
        self.assertEqual(waited, ["last"])


class Limits(unittest.TestCase):
    def test_arithmetic_or_memory_whichever_takes_longer(self):
        case = BY_NAME["gemm-1024"]
        arithmetic = limits.limit(case, copy_ms=0.01, fma_ms=1.0, fma_operations=60e9)
        self.assertEqual((arithmetic.kind, arithmetic.rate), ("FMA", 60e12))
        self.assertAlmostEqual(arithmetic.ms, 2 * 1024**3 / 60e9)
        memory = limits.limit(case, copy_ms=1.0, fma_ms=1.0, fma_operations=60e9)
        self.assertEqual((memory.kind, memory.ms), ("copy", 1.0))
        self.assertAlmostEqual(memory.rate, case.bytes() * 1e3)


def sample_result(**changes):
    result = {"case": "gemm-1024", "label": "1024³", "unit": "flop", "work": 2 * 1024**3, "bytes": 12 << 20,
              "ours": {"status": "ok", "detail": "", "ms": 0.06, "spread": 0.001},
              "peers": {"cublas": {"status": "ok", "detail": "", "ms": 0.066, "spread": 0.001}},
              "limit": {"kind": "FMA", "ms": 0.033, "rate": 65e12}}
    return {**result, **changes}


class Table(unittest.TestCase):
    def test_a_row(self):
        self.assertEqual(table.rows(sample_result()), [
            "| gemm-1024 | 1024³ | 0.06 ms, 35.8 TFLOP/s | cuBLAS: 0.066 ms, 32.5 TFLOP/s | 1.100 | "
            "FMA, 0.033 ms, 65.0 TFLOP/s | 55.0 % |  |"])

    def test_a_wrong_result_is_never_a_time(self):
        wrong = {"status": "wrong", "detail": "C: element 0 is 1 | 2,\nexpected 3", "ms": 0.01}
        row = table.rows(sample_result(ours=wrong))[0]
        self.assertNotIn("0.01 ms", row)
        self.assertIn("| wrong | cuBLAS: 0.066 ms, 32.5 TFLOP/s | – |", row)
        self.assertIn("ours: C: element 0 is 1 \\| 2, expected 3 |", row)

    def test_an_absent_peer_is_a_row(self):
        row = table.rows(sample_result(peers={"jax": {"status": "absent", "detail": "no jax"}}))[0]
        self.assertIn("| jax.jit: absent | – |", row)
        self.assertTrue(row.endswith("| 55.0 % | jax.jit: no jax |"), row)

    def test_ours_alone_has_a_row(self):
        self.assertIn("| – | – | FMA", table.rows(sample_result(peers={}))[0])

    def test_bytes_are_gigabytes_a_second(self):
        row = table.rows(sample_result(unit="byte", bytes=2_000_000_000))[0]
        self.assertIn("0.06 ms, 33,333 GB/s", row)

    def test_noise_is_said(self):
        noisy = {"status": "ok", "detail": "", "ms": 0.06, "spread": 0.051}
        self.assertIn("quartiles ± 5 %", table.rows(sample_result(ours=noisy))[0])

    def test_tables_are_appended(self):
        facts = {"date": "2026-01-01", "gpu": "G", "driver": "1.2", "versions": {"torch": "2"}, "note": ""}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "new", "RESULTS.md")
            table.Results(path, facts).add(sample_result())
            table.Results(path, {**facts, "date": "2026-01-02"}).add(sample_result())
            lines = path.read_text().splitlines()
        self.assertEqual(lines.count("# Results of `bench/run`"), 1)
        self.assertEqual([line for line in lines if line.startswith("## ")], ["## 2026-01-01, G", "## 2026-01-02, G"])
        width = {line.count("|") for line in lines if line.startswith("|")}
        self.assertEqual(width, {len(table.COLUMNS) + 1})


class KernelTuner(unittest.TestCase):
    SOURCE = "#define filter_width 17\n  # define filter_height 17\n#define border filter_width\n__global__ void f() {}\n"

    def test_the_tuner_sets_the_filter(self):
        self.assertEqual(kernel_tuner_peer.without_defines(self.SOURCE, ["filter_height", "filter_width"]),
                         "\n\n#define border filter_width\n__global__ void f() {}\n")

    def test_a_configuration_as_grid_block_and_source(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "convolution.cu").write_text(self.SOURCE)
            asked = kernel_tuner_peer.problem(BY_NAME["conv5-4096"], folder)
        best = dict(filter_height=5, filter_width=5, block_size_x=48, block_size_y=4, tile_size_x=3, tile_size_y=2,
                    use_padding=0, read_only=1)
        self.assertEqual(kernel_tuner_peer.geometry(asked, best), ((29, 512, 1), (48, 4, 1)))
        text = kernel_tuner_peer.specialised(asked, best, (29, 512, 1))
        self.assertIn("#define grid_size_x 29\n", text)
        self.assertIn("#define filter_width 5\n", text)
        self.assertNotIn("17", text)
        self.assertEqual(json.loads(json.dumps(asked)), asked)

    def test_without_its_kernels_it_is_absent(self):
        with self.assertRaises(kernel_tuner_peer.Absent) as caught:
            kernel_tuner_peer.problem(BY_NAME["gemm-2048"], None)
        self.assertEqual(case_run.failure(caught.exception),
                         {"status": "absent", "detail": "--kernels DIR with gemm.cu"})


def prepare(work, name, body):
    """The files that an earlier run would have left in the folder: the device's library and the case's kernel."""
    compiler.build_c(PEERS / "device_on_host.c", work / "device-sm_90.so", {})
    place = work / name
    place.mkdir()
    (place / "kernel.c").write_text(body)
    compiler.build_c(place / "kernel.c", place / "binding.so", {})
    declared = prototype.parameters(body, "bench_launch")
    ours.Kernel(str(place / "binding.so"), declared, None, ["bind i"], 0.0).save(place / "kernel.json")


class Command(unittest.TestCase):
    def test_wrong_options_are_refused(self):
        for line in (["--only", "nothing"], ["--peers", "nobody"], ["--rounds", "0"], ["--reuse"]):
            with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()):
                main.options_of(line)
            self.assertEqual(caught.exception.code, 2)

    def test_what_cannot_begin_says_why(self):
        for line, reason in ((["--dry-run", "--warpsmith", "/none"], "no warpsmith at /none"), ([], "finds no GPU")):
            with mock.patch.object(versions, "gpu", lambda: None), contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main.main(line), 2)
            self.assertIn(reason, said.getvalue())

    def test_the_list_has_all_cases(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(main.main(["--list"]), 0)
        self.assertEqual(len(out.getvalue().splitlines()), len(cases.CASES))

    def test_a_case_that_takes_too_long_is_ended(self):
        self.assertEqual(main.run_child(["sleep", "30"], 0.2), "took more than 0.2 s and was ended")
        self.assertEqual(main.run_child(["sh", "-c", "exit 3"], 10), "the process ended with status 3")
        self.assertEqual(main.run_child(["sh", "-c", "kill -SEGV $$"], 10), "the process was ended by SIGSEGV")
        self.assertIsNone(main.run_child(["true"], 10))

    def test_a_process_that_died_is_the_reason_of_what_it_left_out(self):
        case = BY_NAME["gemm-2048"]
        result = main.result_of(case, pathlib.Path("/nonexistent"), "the process was ended by SIGSEGV")
        self.assertEqual(result["ours"], {"status": "error", "detail": "the process was ended by SIGSEGV"})
        self.assertEqual(len(table.rows(result)), 2)

    def test_the_command_from_its_options_to_its_file(self):
        """With a process for the case, as on a GPU; the kernel refuses, so that nothing large is computed."""
        with tempfile.TemporaryDirectory() as folder:
            work, out = pathlib.Path(folder), pathlib.Path(folder, "RESULTS.md")
            prepare(work, "gemm-1024", "int bench_launch(int n, int m, int k, void *stream) { return 2; }")
            gpu = {"name": "Some GPU", "driver": "1.2", "capability": "9.0"}
            with mock.patch.object(versions, "gpu", lambda: gpu), mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""), \
                    contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
                status = main.main(["--only", "gemm-1024", "--peers", "cublas", "--work", folder, "--reuse", "--rounds", "2",
                                    "--warpsmith", "/none", "--out", str(out), "--json", folder + "/all.json"])
            self.assertEqual(status, 1)
            text = out.read_text()
            self.assertIn("Some GPU\n\nDriver 1.2; warpsmith of an earlier build", text)
            self.assertRegex(text, r"\| gemm-1024 \| 1024³ \| error \| cuBLAS: absent \| – \| \w+, [\d.]+ ms, .*"
                                   r"ours: the launcher returned out of memory")
            self.assertIn(said.getvalue().strip(), text)
            self.assertEqual(json.loads((work / "all.json").read_text())["case"], "gemm-1024")

    def test_the_gpu_of_nvidia_smi(self):
        self.assertEqual(versions.parse_gpu("NVIDIA H200, 580.159.04, 9.0\nNVIDIA H200, 580.159.04, 9.0\n"),
                         {"name": "NVIDIA H200", "driver": "580.159.04", "capability": "9.0"})
        self.assertIsNone(versions.parse_gpu("\n"))

    def test_cuda_is_compiled_for_the_device(self):
        line = compiler.cuda_command("/opt/cuda/bin/nvcc", "a.cu", "a.so", "sm_90")
        self.assertEqual(line[1:5], ["-shared", "-Xcompiler", "-fPIC", "-arch=sm_90"])
        self.assertEqual(line[-3:], ["-o", "a.so", "a.cu"])


class WholeCases(unittest.TestCase):
    """A case from its kernel to its row, on a device that is the host: PyTorch is left out."""

    def run_case(self, case, body, torch=None):
        """The result of a case whose `kernel` is this C text; `torch` stands in for PyTorch."""
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            prepare(work, case.name, body)
            options = argparse.Namespace(
                peers=list(registry.PEERS), result=str(work / "result.json"), work=work, arch="sm_90", warpsmith="/none",
                budget=1, reuse=True, rounds=5, kernels=None, kernel_tuner_seconds=1)
            run = case_run.Run(case, options)
            run.load_torch = (lambda: torch) if torch else (lambda: run.no_peers("left out"))
            with contextlib.redirect_stderr(io.StringIO()):
                case_run.Run.everything(run)
                run.save()
            return json.loads((work / "result.json").read_text())

    def body(self, source, call, parameters):
        text = (cases.ROOT / source).read_text()
        return f"{text}\nint bench_launch({parameters}) {{ {call} return 0; }}\n"

    def test_a_right_kernel_gets_a_time_and_a_share(self):
        case = dataclasses.replace(BY_NAME["axpydot"], sizes=dict(n=10000))
        body = self.body("bench/cases/axpydot.c", "*result = axpydot(n, alpha, w, v, u, z);",
                         "int n, float alpha, const float *w, const float *v, const float *u, float *z, "
                         "float *result, void *stream")
        result = self.run_case(case, body)
        self.assertEqual(result["ours"]["status"], "ok", result)
        self.assertEqual(len(result["ours"]["samples"]), 5)
        self.assertEqual({p["status"] for p in result["peers"].values()}, {"absent"})
        self.assertGreater(result["limit"]["ms"], 0)
        self.assertIn(" % |", table.rows(result)[0])

    def test_a_border_may_stay_unwritten(self):
        case = dataclasses.replace(BY_NAME["five-point"], sizes=dict(n=50, m=60))
        parameters = "int n, int m, const float *u, float *v, void *stream"
        result = self.run_case(case, self.body("bench/cases/five.c", "five(n, m, (void *)u, (void *)v);", parameters))
        self.assertEqual(result["ours"]["status"], "ok", result)

    def test_a_kernel_that_leaves_an_element_out_is_wrong(self):
        case = dataclasses.replace(BY_NAME["five-point"], sizes=dict(n=50, m=60))
        parameters = "int n, int m, const float *u, float *v, void *stream"
        result = self.run_case(case, self.body("bench/cases/five.c", "five(n - 1, m, (void *)u, (void *)v);", parameters))
        self.assertEqual(result["ours"]["status"], "wrong")
        self.assertRegex(result["ours"]["detail"], r"v at .*: element \d+ is nan, expected")
        self.assertIsNotNone(result["limit"])
        self.assertIn("| wrong |", table.rows(result)[0])

    def test_a_launcher_that_fails_says_why(self):
        case = dataclasses.replace(BY_NAME["five-point"], sizes=dict(n=50, m=60))
        result = self.run_case(case, "int bench_launch(int n, int m, const float *u, float *v, void *stream) { return 2; }")
        self.assertEqual(result["ours"], {"status": "error", "detail": "the launcher returned out of memory"})

    def test_a_launcher_with_other_parameters_is_an_error(self):
        case = dataclasses.replace(BY_NAME["five-point"], sizes=dict(n=50, m=60))
        result = self.run_case(case, "int bench_launch(int rows, void *stream) { return 0; }")
        self.assertIn("the launcher takes rows, which the case does not have", result["ours"]["detail"])


def numpy_as_torch():
    """As much of PyTorch as the flow of a case needs, on NumPy's arrays."""
    class Tensor(numpy.ndarray):
        def data_ptr(self):
            return self.ctypes.data

        def abs(self):
            return numpy.abs(self)

        def numel(self):
            return self.size

        def to(self, kind):
            return self.astype(kind)

    def empty(shape, dtype, device):
        return numpy.empty(shape, dtype).view(Tensor)

    def where(condition, value, other):
        return numpy.where(condition, value, other).view(Tensor)

    def tensor(value):
        return numpy.asarray(value).view(Tensor)

    same = {name: getattr(numpy, name) for name in
            ("float32", "uint8", "isfinite", "isnan", "matmul", "sqrt", "outer")}
    return types.SimpleNamespace(
        empty=empty, where=where, tensor=tensor, compile=lambda function: function, cuda=types.SimpleNamespace(synchronize=lambda: None),
        _dynamo=types.SimpleNamespace(reset=lambda: None), **same)


@unittest.skipUnless(numpy, "needs NumPy")
class WholeCasesWithPeers(WholeCases):
    """The same with peers: NumPy in PyTorch's place."""

    def run_case(self, case, body, torch=None):
        torch = numpy_as_torch()

        def compute(xp, values, inner=case.compute):
            return {name: torch.tensor(value) for name, value in inner(xp, values).items()}

        with mock.patch.object(registry, "installed", lambda name: True):
            return super().run_case(dataclasses.replace(case, compute=compute), body, torch)

    def test_a_right_kernel_gets_a_time_and_a_share(self):
        """A product beside two peers, of which one lacks its kernels."""
        case = dataclasses.replace(BY_NAME["gemm-2048"], sizes=dict(n=40, m=50, k=60))
        result = self.run_case(case, self.body("examples/gemm.c", *PRODUCT))
        self.assertEqual(result["ours"]["status"], "ok", result)
        self.assertEqual(result["peers"]["cublas"]["status"], "ok", result)
        self.assertEqual(result["peers"]["kernel-tuner"], {"status": "absent", "detail": "--kernels DIR with gemm.cu"})
        rows = table.rows(result)
        self.assertRegex(rows[0], r"\| cuBLAS: [\d.e-]+ ms, [\d.]+ TFLOP/s \| \d+\.\d{3} \|")
        self.assertIn("| Kernel Tuner: absent | – |", rows[1])

    def test_a_kernel_that_is_wrong_at_the_real_size_only(self):
        case = dataclasses.replace(BY_NAME["gemm-1024"], sizes=dict(n=64, m=64, k=64))
        call, parameters = PRODUCT
        result = self.run_case(case, self.body("examples/gemm.c", call + "if (n == 64) C[70] += 1.0f;", parameters))
        self.assertEqual(result["ours"]["status"], "wrong")
        self.assertRegex(result["ours"]["detail"], "C: 1 of 4096 elements differ; element 70 is ")
        self.assertEqual(result["peers"]["cublas"]["status"], "ok")

    def test_a_peer_that_is_wrong_or_fails_stops_nobody(self):
        case = dataclasses.replace(BY_NAME["axpydot"], sizes=dict(n=10000))
        body = self.body("bench/cases/axpydot.c", "*result = axpydot(n, alpha, w, v, u, z);",
                         "int n, float alpha, const float *w, const float *v, const float *u, float *z, "
                         "float *result, void *stream")

        def wrong(torch, case, values, options):
            prepared = torch_peer.eager(torch, case, values, options)
            right = prepared.outputs
            return dataclasses.replace(prepared, outputs=lambda: {**right(), "result": right()["result"] + 1000})

        def fails(torch, case, values, options):
            raise MemoryError("all of it")

        changed = {**registry.PEERS, "eager": dataclasses.replace(registry.PEERS["eager"], prepare=wrong),
                   "jax": dataclasses.replace(registry.PEERS["jax"], prepare=fails)}
        with mock.patch.object(registry, "PEERS", changed):
            result = self.run_case(case, body)
        self.assertEqual({name: p["status"] for name, p in result["peers"].items()},
                         {"eager": "wrong", "compile": "ok", "jax": "error"})
        self.assertEqual(result["peers"]["jax"]["detail"], "MemoryError: all of it")
        self.assertRegex(result["peers"]["eager"]["detail"], "result: 1 of 1 elements differ")
        self.assertEqual(result["ours"]["status"], "ok", result)

    def test_without_a_reference_there_are_no_peers(self):
        def fails(xp, values):
            raise MemoryError("too large")

        case = dataclasses.replace(BY_NAME["gemm-1024"], sizes=dict(n=40, m=50, k=60), compute=fails)
        result = self.run_case(case, self.body("examples/gemm.c", *PRODUCT))
        self.assertEqual(result["peers"]["cublas"],
                         {"status": "absent", "detail": "no reference: MemoryError: too large"})
        self.assertEqual(result["ours"]["status"], "ok", result)


# The call of the product, and the parameters of its launcher.
PRODUCT = ("gemm(n, m, k, (void *)A, (void *)B, (void *)C);",
           "int n, int m, int k, const float *A, const float *B, float *C, void *stream")


class WithWarpsmith(unittest.TestCase):
    def test_a_dry_run_tunes_and_compiles(self):
        try:
            ours.find()
        except ours.ToolError as error:
            self.skipTest(str(error))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = main.main(["--dry-run", "--only", "axpydot,bigfusion"])
        self.assertEqual(status, 0, out.getvalue())
        self.assertIn("axpydot: n = 2^27", out.getvalue())
        self.assertRegex(out.getvalue(), r"compiled in|no nvcc to compile it")


if __name__ == "__main__":
    unittest.main()
