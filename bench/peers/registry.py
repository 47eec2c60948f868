"""The peers by the names that `--peers` takes: what a person calls each, what it needs, and how it is prepared."""
import dataclasses
import importlib.util

from . import jax_peer, kernel_tuner_peer, torch_peer


@dataclasses.dataclass(frozen=True)
class Peer:
    title: str
    modules: tuple  # Python packages without which it is absent
    prepare: object  # (torch, case, values, options) -> Prepared

    def missing(self):
        """The packages that are not installed."""
        return [name for name in self.modules if not installed(name)]


def installed(name):
    """Whether a package can be found; nothing is imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


PEERS = {
    "cublas": Peer("cuBLAS", ("torch",), torch_peer.cublas),
    "cudnn": Peer("cuDNN", ("torch",), torch_peer.cudnn),
    "eager": Peer("PyTorch eager", ("torch",), torch_peer.eager),
    "compile": Peer("torch.compile", ("torch",), torch_peer.compiled),
    "jax": Peer("jax.jit", ("torch", "jax"), jax_peer.prepare),
    "kernel-tuner": Peer("Kernel Tuner", ("torch", "kernel_tuner", "cupy"), kernel_tuner_peer.prepare),
}


def select(names):
    """The names of peers to run; all without any."""
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise ValueError(f"no peer `{unknown[0]}`; there are " + ", ".join(PEERS))
    return list(names) or list(PEERS)
