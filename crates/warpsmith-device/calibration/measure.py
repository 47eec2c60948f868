#!/usr/bin/env python3
"""Measures random kernels on the GPU at hand and writes, for each, its profile and its time.

    measure.py OUT.csv [COUNT]      COUNT configurations a family, default 200; needs nvcc and a GPU

The profile is counted from the parameters alone, as a caller of the model counts it from access views: sectors and
bank conflicts by looking at the addresses of every warp of one block. Columns are totals of one launch.
"""
import concurrent.futures, os, random, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
N, CN, F, SN = 2048, 4096, 11, 512
CONSTRAINT_SHARED = 48 * 1024

def warps(bx, by):
    """The threads (tx, ty) of every warp of a block."""
    threads = [(t % bx, t // bx) for t in range(bx * by)]
    return [threads[i:i + 32] for i in range(0, len(threads), 32)]

def sectors(bx, by, address, width=4):
    """Sectors and L1 wavefronts of one execution by the whole block; `address` gives bytes for (tx, ty), None when
    idle. Tags are in four banks by line; a wavefront looks up one line of each and moves four sectors at most."""
    total = 0
    for warp in warps(bx, by):
        touched, tags = set(), [set(), set(), set(), set()]
        for tx, ty in warp:
            at = address(tx, ty)
            if at is not None: touched.update(range(at // 32, (at + width - 1) // 32 + 1))
        for sector in touched: tags[sector // 4 % 4].add(sector // 4)
        total += complex(len(touched), max(max(map(len, tags)), len(touched) / 4))
    return total

def wavefronts(bx, by, address, width=4):
    """Shared-memory wavefronts of one execution by the whole block; lanes go in groups of 128 bytes."""
    total, group = 0, 128 // width
    for warp in warps(bx, by):
        for i in range(0, len(warp), group):
            banks = {}
            for tx, ty in warp[i:i + group]:
                at = address(tx, ty)
                if at is None: continue
                for word in range(at // 4, (at + width) // 4): banks.setdefault(word % 32, set()).add(word)
            total += max((len(words) for words in banks.values()), default=0)
    return total

def base(blocks, bx, by, grid):
    return dict(blocks=blocks, threads=bx * by, gx=grid[0], gy=grid[1], gz=grid[2], fp32=0, int=0, control=0, barriers=0,
        shared_loads=0, shared_stores=0, shared_wavefronts=0, constants=0, ilp=1, load_ilp=1, shared_ilp=1, access=[])

def access(kind, requests, sects, block_bytes, reuse_bytes, grid_bytes, depends):
    return f"{kind}:{requests:.0f}:{sects.real:.0f}:{sects.imag:.0f}:{block_bytes:.0f}:{reuse_bytes:.0f}:{grid_bytes:.0f}:{depends}"

def gemm(bx, by, tm, tn, bk, mode, vec):
    bm, bn, t = by * tm, bx * tn, bx * by
    gx, gy = N // bn, N // bm
    blocks, w = gx * gy, t // 32
    p = base(blocks, bx, by, (gx, gy, 1))
    p["fp32"] = blocks * w * tm * tn * N
    col = lambda j, tx: (j // vec) * bx * vec + tx * vec + j % vec
    tiles = blocks * N // bk
    ab, bb = bm * N * 4, bn * N * 4
    matrix = N * N * 4
    if mode == 0:
        asec = sum(sectors(bx, by, lambda x, y: (y + i * by) * N * 4) for i in range(tm))
        bsec = sum(sectors(bx, by, lambda x, y: col(j, x) * 4, 4 * vec) for j in range(0, tn, vec))
        live = bm * 32 + 8 * bn * 4
        p["access"] += [access("load", blocks * w * tm * N, blocks * asec * N, ab, live, matrix, "y"),
                        access("load", blocks * w * tn // vec * N, blocks * bsec * N, bb, live, matrix, "x")]
        p["int"] = blocks * w * N * (2 + tm / 8 + 3 / bk)
        p["control"] = blocks * w * N / bk
        p["load_ilp"] = (tm + tn // vec) * min(bk, 4)
    else:
        ld = bm + 1 if mode == 3 else bk + (mode == 2)
        ae, be = bm * bk, bn * bk
        awarps, bwarps = -(-ae // 32), -(-be // 32)
        lin = lambda n, f: (lambda x, y: f(y * bx + x) if y * bx + x < n else None)
        arep, brep = max(1, ae / t), max(1, be / t)
        asec = sectors(bx, by, lin(ae, lambda e: (e // bk) * N * 4 + e % bk * 4)) * arep
        bsec = sectors(bx, by, lin(be, lambda e: (e // bn) * N * 4 + e % bn * 4)) * brep
        astore = (lambda e: (e % bk * ld + e // bk) * 4) if mode == 3 else (lambda e: (e // bk * ld + e % bk) * 4)
        swf = wavefronts(bx, by, lin(ae, astore)) * arep + wavefronts(bx, by, lin(be, lambda e: e * 4)) * brep
        aload = (lambda i: lambda x, y: (y + i * by) * 4) if mode == 3 else (lambda i: lambda x, y: (y + i * by) * ld * 4)
        lwf = bk * (sum(wavefronts(bx, by, aload(i)) for i in range(tm)) + sum(wavefronts(bx, by, lambda x, y: col(j, x) * 4, 4 * vec) for j in range(0, tn, vec)))
        p["access"] += [access("load", tiles * awarps, tiles * asec, ab, 0, matrix, "y"),
                        access("load", tiles * bwarps, tiles * bsec, bb, 0, matrix, "x")]
        p["shared_loads"] = tiles * bk * w * (tm + tn // vec)
        p["shared_stores"] = tiles * (awarps + bwarps)
        p["shared_wavefronts"] = tiles * (swf + lwf)
        p["int"] = tiles * ((awarps + bwarps) * 4 + w * 6)
        p["control"] = tiles * ((awarps + bwarps) + 2 * w)
        p["barriers"] = tiles * 2 * w
        p["load_ilp"] = min(4, max(arep, brep))
        p["shared_ilp"] = (tm + tn // vec) * 2
    csec = sum(sectors(bx, by, lambda x, y: (y * N + col(j, x)) * 4, 4 * vec) for j in range(0, tn, vec)) * tm
    p["access"].append(access("store", blocks * w * tm * tn // vec, blocks * csec, bm * bn * 4, 0, matrix, "xy"))
    p["ilp"] = tm * tn
    p["launch"] = f"dim3({gx},{gy}),dim3({bx},{by})", "in1,in2,result", t
    return p

def gemm_space():
    for bx in (8, 16, 32, 64):
        for by in (1, 2, 4, 8, 16, 32):
            for tm in (1, 2, 4, 8, 16):
                for tn in (1, 2, 4, 8):
                    for bk in (4, 8, 16, 32):
                        for mode in (0, 1, 2, 3):
                            for vec in (1, 4):
                                t, bm, bn = bx * by, by * tm, bx * tn
                                ld = bk * (bm + 1) if mode == 3 else bm * (bk + (mode == 2))
                                if not 32 <= t <= 1024 or tn % vec or tm * tn > 128 or tm * tn * bk > 1024: continue
                                if mode and (ld + bk * bn) * 4 > CONSTRAINT_SHARED: continue
                                if not mode and bk > 8 or mode and bk < 8: continue
                                yield bx, by, tm, tn, bk, mode, vec

def conv(bx, by, tx_, ty_, mode, unroll):
    w, t = bx * by // 32, bx * by
    gx, gy = CN // (bx * tx_), CN // (by * ty_)
    blocks = gx * gy
    tw, th, width = bx * tx_ + F - 1, by * ty_ + F - 1, CN + F - 1
    p = base(blocks, bx, by, (gx, gy, 1))
    p["fp32"] = blocks * w * tx_ * ty_ * F * F
    step = 1 if mode == 2 else bx
    left = (lambda x: x * tx_) if mode == 2 else (lambda x: x)
    rows = ty_ + F - 1 if unroll else ty_ * F
    cols = [j * step + f for j in range(tx_) for f in range(F)] if mode != 2 else list(range(tx_ + F - 1))
    per_thread = rows * len(cols)
    footprint = th * -(-tw * 4 // 32) * 32 + th * 16
    whole = width * width * 4
    if mode == 0:
        s = rows * sum(sectors(bx, by, lambda x, y: (y * ty_ * width + left(x) + c) * 4) for c in cols)
        # An input row is read again and again before the next: what lies between is a row of every thread row.
        p["access"].append(access("load", blocks * w * per_thread, blocks * s, footprint, 2 * by * tw * 4, whole, "xy"))
        p["load_ilp"] = min(24, len(cols))
        p["int"] = blocks * w * (rows * 2 + 10)
    else:
        e = tw * th
        chunk = sum(sectors(bx, by, lambda x, y: ((i + y * bx + x) // tw * width + (i + y * bx + x) % tw) * 4 if i + y * bx + x < e else None) for i in range(0, e, t))
        p["access"].append(access("load", blocks * -(-e // 32), blocks * chunk, footprint, 0, whole, "xy"))
        lwf = rows * sum(wavefronts(bx, by, lambda x, y: (y * ty_ * tw + left(x) + c) * 4) for c in cols)
        p["shared_loads"] = blocks * w * per_thread
        p["shared_stores"] = blocks * -(-e // 32)
        p["shared_wavefronts"] = blocks * (lwf + -(-e // 32))
        p["int"] = blocks * (-(-e // 32) * 12 + w * (rows + 10))
        p["control"] = blocks * -(-e // 32) * 2
        p["barriers"] = blocks * w
        p["load_ilp"] = min(4, max(1, e // t))
        p["shared_ilp"] = min(24, len(cols))
    if not unroll:
        p["control"] += blocks * w * F
        p["constants"] = blocks * w * F * F
    osec = ty_ * sum(sectors(bx, by, lambda x, y: (y * ty_ * CN + left(x) + j * step) * 4) for j in range(tx_))
    p["access"].append(access("store", blocks * w * tx_ * ty_, blocks * osec, bx * tx_ * by * ty_ * 4, 0, CN * CN * 4, "xy"))
    p["ilp"] = tx_ * ty_
    p["launch"] = f"dim3({gx},{gy}),dim3({bx},{by})", "in1,result", t
    return p

def conv_space():
    for bx in (4, 8, 16, 32, 64, 128):
        for by in (1, 2, 4, 8, 16, 32):
            for tx_ in (1, 2, 4, 8):
                for ty_ in (1, 2, 4, 8):
                    for mode in (0, 1, 2):
                        for unroll in (0, 1):
                            if not 32 <= bx * by <= 1024 or tx_ * ty_ > 16: continue
                            if unroll and tx_ * ty_ == 16 and ty_ == 8: continue  # nvcc 13 gives up unrolling the rows
                            if mode and (bx * tx_ + F - 1) * (by * ty_ + F - 1) * 4 > CONSTRAINT_SHARED: continue
                            yield bx, by, tx_, ty_, mode, unroll

def stencil(bx, by, tz, mode, vec):
    w, t = bx * by // 32, bx * by
    gx, gy, gz = SN // (bx * vec), SN // by, SN // tz
    blocks, steps = gx * gy * gz, gx * gy * SN
    p = base(blocks, bx, by, (gx, gy, gz))
    p["fp32"] = steps * w * vec * 7
    row, plane = SN * 4, SN * SN * 4
    full = sectors(bx, by, lambda x, y: y * row + x * vec * 4, 4 * vec)
    edge = sectors(bx, by, lambda x, y: 2**20 + y * row + (x * vec - 1) * 4) + sectors(bx, by, lambda x, y: 2**20 + y * row + (x + 1) * vec * 4)
    chunks = {0: 5, 1: 3 + 2 / tz, 2: 1 + 2 / tz}[mode]
    req, sec = chunks * w, chunks * full
    if mode == 2:
        rows = -(-bx // 32)
        req += 2 * rows + 2 * max(1, by * min(bx, 32) // 32)
        sec += 2 * complex(max(1, bx * vec * 4 // 32), rows) + 2 * complex(by, by)
        ld = bx * vec + 8
        one = lambda dy, dx: wavefronts(bx, by, lambda x, y: ((y + 1 + dy) * ld + 4 + x * vec + dx) * 4)
        p["shared_loads"] = steps * w * (2 * vec + 2)
        p["shared_stores"] = steps * w * vec
        p["shared_wavefronts"] = steps * (vec * (one(0, 0) * 3) + 2 * one(0, 1))
        p["barriers"] = steps * w * 2
        p["shared_ilp"] = 2 * vec + 2
    else:
        req, sec = req + 2 * w, sec + edge
    block_plane = (by + 2) * -(-(bx * vec * 4 + 8) // 32) * 32 if mode != 2 else by * bx * vec * 4 + 2 * bx * vec * 4 + by * 64
    footprint = block_plane * tz + 2 * by * bx * vec * 4
    live = {0: 3, 1: 1, 2: 0.0}[mode] * block_plane
    p["access"] = [access("load", steps * req, steps * sec, footprint, live, SN * plane, "xyz"),
                   access("store", steps * w, steps * full, bx * vec * by * tz * 4, 0, SN * plane, "xyz")]
    p["int"] = steps * w * (30 if mode != 2 else 24)
    p["control"] = steps * w * (1 if mode != 2 else 5)
    p["ilp"] = vec
    p["load_ilp"] = {0: 7, 1: 5, 2: 1}[mode]
    p["launch"] = f"dim3({gx},{gy},{gz}),dim3({bx},{by})", "in1,result", t
    return p

def stencil_space():
    for bx in (4, 8, 16, 32, 64, 128, 256, 512):
        for by in (1, 2, 4, 8, 16, 32):
            for tz in (1, 2, 4, 8, 16, 64):
                for mode in (0, 1, 2):
                    for vec in (1, 4):
                        if 32 <= bx * by <= 1024 and bx * vec <= SN: yield bx, by, tz, mode, vec

FAMILIES = dict(gemm=(gemm, gemm_space), conv=(conv, conv_space), stencil=(stencil, stencil_space))

def compile_chunk(job):
    folder, index, items = job
    source = os.path.join(folder, f"chunk{index}.cu")
    with open(source, "w") as f:
        f.write('#include "harness.cuh"\nint main() {\n    prepare();\n')
        for number, family, config, p in items:
            launch, args, threads = p["launch"]
            kernel = f"{family}<{','.join(map(str, config))}>"
            f.write(f"    measure({number}, {kernel}, {threads}, [] {{ {kernel}<<<{launch}>>>({args}); }});\n")
        f.write("}\n")
    program = source[:-3]
    subprocess.run(["nvcc", "-arch=sm_90", "-std=c++17", "-w", f"-I{HERE}", "-o", program, source], check=True)
    return program

def main():
    out, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rng, items = random.Random(20261121), []
    for family, (profile, space) in FAMILIES.items():
        for config in rng.sample(sorted(space()), count): items.append((len(items), family, config, profile(*config)))
    rng.shuffle(items)
    cores = os.cpu_count()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(cores) as pool:
        programs = list(pool.map(compile_chunk, [(folder, i, items[i::4 * cores]) for i in range(4 * cores)]))
        print("compiled", flush=True)
        lines = {}
        for program in programs:
            for line in subprocess.run([program], capture_output=True, text=True).stdout.splitlines():
                lines[int(line.split()[0])] = line.split()[1:]
    columns = [c for c in items[0][3] if c not in ("access", "launch")]
    with open(out, "w") as f:
        f.write(",".join(["family", "config", "registers", "shared", "local", "ms", "occupancy"] + columns + ["accesses"]) + "\n")
        for number, family, config, p in sorted(items):
            got = lines.get(number, ["failed"])
            if got[0] == "failed": print("failed", family, config); continue
            regs, shared, local, ms, *occupancy = got
            counts = [f"{p[c]:.6g}" for c in columns]
            f.write(",".join([family, "x".join(map(str, config)), regs, shared, local, ms, " ".join(occupancy)] + counts + [" ".join(p["access"])]) + "\n")

if __name__ == "__main__": main()
