"""Results as rows of a table in Markdown. A wrong result is a word, never a time."""
from .registry import PEERS

COLUMNS = ("case", "size", "ours", "peer", "ratio", "limit", "share", "remarks")
EXPLANATION = """# Results of `bench/run`

Each table is one run on one GPU. Times are medians of interleaved rounds with caches emptied before each run, compiling and
copying to the device not included. *ratio* is the peer's time by ours: above 1 we are faster. *limit* is the
longer of copying as many bytes as the case must move (read plus written) and doing its arithmetic at the measured
multiply-add peak, in the same run; *share* is its time by ours.
"""


def rate(result, ms):
    """A time with what it means in work a second."""
    if result["unit"] == "flop":
        return f"{milliseconds(ms)}, {result['work'] / ms / 1e9:.1f} TFLOP/s"
    return f"{milliseconds(ms)}, {result['bytes'] / ms / 1e6:,.0f} GB/s"


def milliseconds(ms):
    """Four digits that count, whatever the size."""
    return f"{ms:.4g} ms" if ms < 1000 else f"{ms:.0f} ms"


def cell(result, outcome):
    return rate(result, outcome["ms"]) if outcome["status"] == "ok" else outcome["status"]


def rows(result):
    """The rows of one case: one for each peer, or one of its own where there is none."""
    peers = result["peers"] or {None: None}
    return [row(result, name, outcome) for name, outcome in peers.items()]


def row(result, name, peer):
    ours, limit = result["ours"], result.get("limit")
    timed = ours["status"] == "ok"
    remarks = [f"ours: {ours['detail']}"] if ours.get("detail") else []
    spreads = [ours["spread"]] if timed else []
    peer_text, ratio = "–", "–"
    if peer is not None:
        title = PEERS[name].title
        peer_text = f"{title}: {cell(result, peer)}"
        if peer.get("detail"):
            remarks.append(f"{title}: {peer['detail']}")
        if peer["status"] == "ok":
            spreads.append(peer["spread"])
            if timed:
                ratio = f"{peer['ms'] / ours['ms']:.3f}"
    if spreads and max(spreads) > 0.02:
        remarks.append(f"quartiles ± {100 * max(spreads):.0f} %")
    limit_text = share = "–"
    if limit:
        unit = f"{limit['rate'] / 1e12:.1f} TFLOP/s" if limit["kind"] == "FMA" else f"{limit['rate'] / 1e9:,.0f} GB/s"
        limit_text = f"{limit['kind']}, {milliseconds(limit['ms'])}, {unit}"
        if timed:
            share = f"{100 * limit['ms'] / ours['ms']:.1f} %"
    cells = (result["case"], result["label"], cell(result, ours), peer_text, ratio, limit_text, share,
             "; ".join(remarks))
    return "| " + " | ".join(escape(c) for c in cells) + " |"


def escape(text):
    """A cell may hold no line break and no bar."""
    return " ".join(str(text).split()).replace("|", "\\|")


def heading(facts):
    """The title of a run, what it ran on, and the head of its table."""
    what = "; ".join(f"{name} {value}" for name, value in facts["versions"].items())
    title = f"\n## {facts['date']}, {facts['gpu']}\n\nDriver {facts['driver']}; {what}.\n"
    note = f"\n{facts['note']}\n" if facts.get("note") else ""
    return f"{title}{note}\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"


class Results:
    """The file that tables are appended to, row by row, so that a run that is stopped leaves what it measured."""

    def __init__(self, path, facts):
        self.path = path
        if not path.exists() or not path.read_text().strip():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(EXPLANATION)
        self.append(heading(facts))

    def append(self, text):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)

    def add(self, result):
        self.append("".join(line + "\n" for line in rows(result)))
