"""PyTorch: cuBLAS and cuDNN as it calls them, the same computation operation by operation, and torch.compile."""
import dataclasses


@dataclasses.dataclass
class Prepared:
    """A peer that is ready: `call` starts one run, `outputs` gives what the last one computed as tensors."""

    call: object
    outputs: object
    clock: str = "device"
    wait: object = None
    detail: str = ""


def settings(torch):
    """Plain float arithmetic, as the C functions have it, and cuDNN's choice by measurement."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True


def kept(run):
    """A `Prepared` of a function that returns all outputs."""
    last = {}

    def call():
        last["outputs"] = run()

    return Prepared(call, lambda: last["outputs"])


def cublas(torch, case, values, options):
    out = torch.empty(case.shape(case.outputs()[0]), dtype=torch.float32, device="cuda")

    def run():
        torch.matmul(values["A"], values["B"], out=out)
        return {"C": out}

    return kept(run)


def cudnn(torch, case, values, options):
    image, weights = values["image"][None, None], values["filter"][None, None]
    return kept(lambda: {"out": torch.nn.functional.conv2d(image, weights)[0, 0]})


def eager(torch, case, values, options):
    return kept(lambda: case.compute(torch, values))


def compiled(torch, case, values, options):
    names = [array.name for array in case.inputs()]
    tensors = [values[name] for name in names]
    outputs = list(case.compared())
    # Plain values for the tracer, which has no business in our classes.
    compute, scalars = case.compute, dict(case.scalars)

    def function(*arrays):
        computed = compute(torch, {**scalars, **dict(zip(names, arrays))})
        return tuple([computed[name] for name in outputs])

    torch._dynamo.reset()
    faster = torch.compile(function)
    return kept(lambda: dict(zip(outputs, faster(*tensors))))
