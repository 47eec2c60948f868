"""The command `bench/run`."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from . import case_run, cases, dry, ours, registry, table, versions

DESCRIPTION = """Runs the cases on the GPU of this machine, ours beside what others would use, in one run, and appends a
table to bench/RESULTS.md. Peers that are not installed are rows that say so."""
SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "run"


def names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def parser():
    made = argparse.ArgumentParser(prog="bench/run", description=DESCRIPTION)
    add = made.add_argument
    add("--list", action="store_true", help="print the cases with their work and peers, and stop")
    add("--only", type=names, default=[], metavar="CASE[,CASE]", help="these cases; `gemm` means all that begin so")
    add("--peers", type=names, default=[], metavar="NAME[,NAME]", help="these peers: " + ", ".join(registry.PEERS))
    add("--budget", type=float, default=30, metavar="SECONDS", help="time to tune one case (default: 30)")
    add("--rounds", type=int, default=20, help="rounds of measurement (default: 20)")
    add("--warpsmith", metavar="PATH", help="the binary (default: $WARPSMITH, target/release, the PATH)")
    add("--out", type=pathlib.Path, default=cases.ROOT / "bench/RESULTS.md", metavar="FILE",
        help="the file the table is appended to (default: bench/RESULTS.md)")
    add("--json", type=pathlib.Path, metavar="FILE", help="also append each case's result with all samples, a line each")
    add("--work", type=pathlib.Path, metavar="DIR", help="keep kernels and libraries there (default: a temporary folder)")
    add("--reuse", action="store_true", help="take kernels that an earlier run left in --work")
    add("--quick", action="store_true", help="5 s of tuning and 5 rounds: to see that everything runs, not for the record")
    add("--dry-run", action="store_true", help="without a GPU: tune by the model, compile, compare, measure nothing")
    add("--arch", metavar="sm_NN", help="architecture (default: the GPU's, else sm_90)")
    add("--kernels", type=pathlib.Path, metavar="DIR",
        help="Kernel Tuner's kernels: gemm.cu (CLTune's, as KTT ships it), convolution.cu (Kernel Tuner's example)")
    add("--kernel-tuner-seconds", type=float, default=45, metavar="SECONDS", help="time for its search (default: 45)")
    # One case in a process of its own, so that a fault on the device costs that case only.
    add("--child", help=argparse.SUPPRESS)
    add("--result", help=argparse.SUPPRESS)
    return made


def options_of(arguments):
    """The options, with names checked and defaults filled in."""
    made = parser()
    options = made.parse_args(arguments)
    try:
        options.cases = cases.select([options.child] if options.child else options.only)
        options.peers = registry.select(options.peers)
    except ValueError as error:
        made.error(str(error))
    if options.quick:
        options.budget, options.rounds = min(options.budget, 5), min(options.rounds, 5)
        options.kernel_tuner_seconds = min(options.kernel_tuner_seconds, 10)
    if options.rounds < 1 or options.budget <= 0:
        made.error("--rounds and --budget must be positive")
    if options.reuse and not options.work:
        made.error("--reuse needs --work DIR")
    return options


def describe(case, options):
    """What will be done for a case, on one line."""
    chosen = [registry.PEERS[name].title for name in case.peers if name in options.peers]
    return (f"{case.name} ({case.label}): {case.source}, {case.work():.3g} operations, {case.bytes():.3g} bytes moved; "
            f"beside {', '.join(chosen) or 'no peer'}")


def child_command(case, options, result):
    """The command that runs one case."""
    line = [sys.executable, str(SCRIPT), "--child", case.name, "--result", str(result), "--work", str(options.work)]
    line += ["--peers", ",".join(options.peers), "--budget", str(options.budget), "--rounds", str(options.rounds)]
    line += ["--arch", options.arch, "--kernel-tuner-seconds", str(options.kernel_tuner_seconds)]
    for flag, value in (("--warpsmith", options.warpsmith), ("--kernels", options.kernels)):
        line += [flag, str(value)] if value else []
    return line + (["--reuse"] if options.reuse else [])


def run_child(line, seconds):
    """Runs a case; past its time it and all that it started are ended. Returns why it failed, or None."""
    process = subprocess.Popen(line, start_new_session=True)
    try:
        status = process.wait(seconds)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            return f"took more than {seconds} s and was ended"
        raise
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended with status {status}" if status else None


def result_of(case, path, failed):
    """What a case left behind; where its process failed, that is the reason of all that has no time."""
    options = argparse.Namespace(peers=list(registry.PEERS))
    result = json.loads(path.read_text()) if path.exists() else case_run.Run(case, options).result
    if failed:
        for known in [result["ours"], *result["peers"].values()]:
            if known["detail"] == "not reached":
                known["detail"] = failed
    return result


def refuse(reason):
    """The exit status of a run that cannot begin."""
    print(f"bench/run: {reason}", file=sys.stderr)
    return 2


def measure_all(options, gpu):
    """All cases, one after the other. Returns the exit status: 1 when something was wrong or failed."""
    tool = None
    try:
        tool = ours.find(options.warpsmith)
    except ours.ToolError as error:
        if not options.reuse:
            return refuse(error)
    note = "A quick run: fewer rounds and less tuning, not for the record." if options.quick else ""
    results = table.Results(options.out, versions.facts(tool, gpu, note))
    bad = False
    for number, case in enumerate(options.cases, 1):
        print(f"[{number}/{len(options.cases)}] {describe(case, options)}", file=sys.stderr, flush=True)
        left = options.work / f"{case.name}.json"
        left.unlink(missing_ok=True)
        failed = run_child(child_command(case, options, left), case_run.CASE_SECONDS + 15)
        result = result_of(case, left, failed)
        results.add(result)
        if options.json:
            with open(options.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        print("\n".join(table.rows(result)), flush=True)
        bad |= any(o["status"] in ("wrong", "error") for o in [result["ours"], *result["peers"].values()])
    return int(bad)


def dry_run(options):
    """Every case without a GPU. Returns the exit status."""
    try:
        tool = ours.find(options.warpsmith)
    except ours.ToolError as error:
        return refuse(error)
    well = True
    for case in options.cases:
        lines, fine = dry.check(case, options, tool)
        print("\n".join(lines), flush=True)
        well &= fine
    return 0 if well else 1


def main(arguments=None):
    options = options_of(arguments)
    if options.list:
        print("\n".join(describe(case, options) for case in options.cases))
        return 0
    gpu = None if options.child else versions.gpu()
    options.arch = options.arch or (f"sm_{gpu['capability'].replace('.', '')}" if gpu else "sm_90")
    if options.child:
        case_run.main(options.cases[0], options)
        return 0
    if not gpu and not options.dry_run:
        return refuse("nvidia-smi finds no GPU; --dry-run does everything but measure")
    with tempfile.TemporaryDirectory(prefix="warpsmith-bench-") as folder:
        options.work = (options.work or pathlib.Path(folder)).resolve()
        options.work.mkdir(parents=True, exist_ok=True)
        try:
            return dry_run(options) if options.dry_run else measure_all(options, gpu)
        except KeyboardInterrupt:
            print("bench/run: stopped; the table holds what was measured", file=sys.stderr)
            return 130
