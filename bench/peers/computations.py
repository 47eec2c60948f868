"""The cases' computations over whole arrays, in the operations that NumPy, PyTorch and jax.numpy share.

Each takes the library and a dictionary of arrays and scalars, and returns a dictionary of outputs. An output
with a border that the C function leaves unwritten is returned without it, so that nobody has to copy one.
"""


def gemm(xp, v):
    return {"C": v["A"] @ v["B"]}


def conv(xp, v):
    """A sum of shifted images: slow, and independent of any library's convolution."""
    image, weights = v["image"], v["filter"]
    size = weights.shape[0]
    height, width = image.shape[0] - size + 1, image.shape[1] - size + 1
    out = 0
    for dy in range(size):
        for dx in range(size):
            out = out + weights[dy, dx] * image[dy:dy + height, dx:dx + width]
    return {"out": out}


def five(xp, v):
    u = v["u"]
    return {"v": u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]}


def heat(xp, v):
    t = v["t"]
    mid = slice(1, -1)
    centre = t[mid, mid, mid]
    around = (t[:-2, mid, mid] + t[2:, mid, mid] + t[mid, :-2, mid] + t[mid, 2:, mid]
              + t[mid, mid, :-2] + t[mid, mid, 2:])
    return {"next": centre + v["c"] * (around - 6.0 * centre)}


def himeno(xp, v):
    p = v["p"]
    sides = {-1: slice(None, -2), 0: slice(1, -1), 1: slice(2, None)}

    def at(i, j, k):
        return p[sides[i], sides[j], sides[k]]

    def inner(name):
        return v[name][1:-1, 1:-1, 1:-1]

    s0 = (inner("a0") * at(1, 0, 0) + inner("a1") * at(0, 1, 0) + inner("a2") * at(0, 0, 1)
          + inner("b0") * (at(1, 1, 0) - at(1, -1, 0) - at(-1, 1, 0) + at(-1, -1, 0))
          + inner("b1") * (at(0, 1, 1) - at(0, -1, 1) - at(0, 1, -1) + at(0, -1, -1))
          + inner("b2") * (at(1, 0, 1) - at(-1, 0, 1) - at(1, 0, -1) + at(-1, 0, -1))
          + inner("c0") * at(-1, 0, 0) + inner("c1") * at(0, -1, 0) + inner("c2") * at(0, 0, -1)
          + inner("wrk1"))
    ss = (s0 * inner("a3") - at(0, 0, 0)) * inner("bnd")
    return {"next": at(0, 0, 0) + v["omega"] * ss, "result": (ss * ss).sum()}


def bicgk(xp, v):
    return {"q": v["A"] @ v["p"], "s": v["A"].T @ v["r"]}


def atax(xp, v):
    return {"y": v["A"].T @ (v["A"] @ v["x"])}


def gemver(xp, v):
    B = v["A"] + xp.outer(v["u1"], v["v1"]) + xp.outer(v["u2"], v["v2"])
    x = v["beta"] * (B.T @ v["y"]) + v["z"]
    return {"B": B, "x": x, "w": v["alpha"] * (B @ x)}


def gesummv(xp, v):
    return {"y": v["alpha"] * (v["A"] @ v["x"]) + v["beta"] * (v["B"] @ v["x"])}


def axpydot(xp, v):
    z = v["w"] - v["alpha"] * v["v"]
    return {"z": z, "result": (z * v["u"]).sum()}


def matrix_product(a, b):
    """The product of each pair of small matrices."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def matrix_vector(a, x):
    """The last index of each small tensor summed with a vector."""
    between = (slice(None),) + (None,) * (a.ndim - 2)
    return (a * x[between]).sum(-1)


def bigfusion(xp, v):
    y = matrix_vector(matrix_product(v["A"], v["B"]), v["c"])
    norm = xp.sqrt((y * y).sum(-1))
    return {"F": matrix_product(v["D"], v["E"]) * norm[:, None, None]}


def synctest(xp, v):
    m = v["A"] + v["A"]
    for _ in range(3):
        m = v["A"] + m
    return {"R": m}


def stvenant(xp, v):
    y = matrix_vector(v["H"], v["dPhi"]) * v["w"][:, None]
    r3 = matrix_vector(v["T"], y)
    # R[i][j][k] = sum over l of r3[i][j][l] F[k][l]
    return {"R": (r3[:, :, :, None, :] * v["F"][:, None, None, :, :]).sum(-1), "v": y}


def stvenantinner(xp, v):
    a = matrix_vector(v["R"], v["dPsi"])
    h = matrix_vector(v["S"], v["dPhi"])
    s = abs((h * v["dPsi"]).sum(-1)) * v["w"]
    unit = xp.tril(xp.triu(xp.ones_like(v["S"][0])))
    return {"M": unit * s[:, None, None] + v["w"][:, None, None] * a}
