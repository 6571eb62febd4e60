"""From measurements to ratios and tables.

On a machine that others use too, an absolute time means nothing. What is compared was measured in the same round, so a
slow moment hits both sides; a ratio is taken in each round, and its median and extremes over the rounds are shown.
"""

import dataclasses
import statistics

from contestants import NODES, OURS, PRECISIONS, ROOF

PICTURES = 60000
LAYERS = (784, 1024, 512, 256, 10)
# Two for each multiply-add of the products for output, weight gradient and, but in the first layer, input gradient.
MFLOP_PER_PICTURE = sum((4 if i == 0 else 6) * LAYERS[i] * LAYERS[i + 1] for i in range(len(LAYERS) - 1)) / 1e6
GFLOP_PER_EPOCH = MFLOP_PER_PICTURE * PICTURES / 1e3


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What a contestant answered in a round; `neighbour` is the share of all cores that a busy process took meanwhile,
    None where there was none."""

    name: str
    round: int
    answer: dict
    neighbour: float | None = None


class Run:
    """The measurements of a run, by name, round and whether a neighbour was there."""

    def __init__(self, measurements):
        self._found = {(m.name, m.round, m.neighbour is not None): m for m in measurements}
        self.rounds = sorted({m.round for m in measurements})
        self.names = list(dict.fromkeys(m.name for m in measurements))

    def has(self, name, busy=False):
        return all((name, r, busy) in self._found for r in self.rounds)

    def answers(self, name, key, busy=False):
        """One value a round."""
        return [self._found[name, r, busy].answer[key] for r in self.rounds]

    def neighbours(self, name):
        return [self._found[name, r, True].neighbour for r in self.rounds]


@dataclasses.dataclass(frozen=True)
class Table:
    """Numbers by row and column; None where there is nothing to say."""

    title: str
    columns: tuple
    rows: dict

    def text(self):
        width = max(len(name) for name in (self.title, *self.rows))
        lines = [(self.title, self.columns)]
        for name, values in self.rows.items():
            lines.append((name, ["" if value is None else f"{value:.2f}" for value in values]))
        return "\n".join(f"{name:<{width}}" + "".join(f"{cell:>11}" for cell in cells) for name, cells in lines)

    def as_json(self):
        return {name: dict(zip(self.columns, values)) for name, values in self.rows.items()}


SPREAD = ("median", "min", "max")


def spread(values):
    return statistics.median(values), min(values), max(values)


def ratios(above, below):
    """The spread of a ratio that is taken in each round."""
    return spread([a / b for a, b in zip(above, below)])


def our_table(run):
    """What concerns us and the roof."""
    seconds = {p: run.answers(f"{OURS}, {p}", "seconds") for p in PRECISIONS}
    roof = {p: run.answers(ROOF, p) for p in PRECISIONS}
    rows = {}
    for p in PRECISIONS:
        rates = [GFLOP_PER_EPOCH / s for s in seconds[p]]
        rows[f"{p} epoch: share of the {p} GEMM roof"] = ratios(rates, roof[p])
    rows["bf16 epoch / fp32 epoch"] = ratios(seconds["bf16"], seconds["fp32"])
    rows["the same at the GEMM roofs"] = ratios(roof["fp32"], roof["bf16"])
    return Table("our epoch", SPREAD, rows)


def peer_table(run):
    """Each peer's epoch over ours in the same precision."""
    rows = {}
    for name in run.names:
        if not name.startswith((ROOF, NODES, OURS)):
            ours = f"{OURS}, {name.rpartition(', ')[2]}"
            rows[name] = ratios(run.answers(name, "seconds"), run.answers(ours, "seconds"))
    return Table("peer's epoch / our epoch", SPREAD, rows)


def busy_table(run):
    """How an epoch grows under a busy neighbour, the share of all cores that the neighbour takes, and the growth over
    1/(1 − share): 1 where nothing but that share is lost."""
    rows = {}
    for name in run.names:
        if run.has(name, busy=True):
            shares = run.neighbours(name)
            growth = [b / q for b, q in zip(run.answers(name, "seconds", busy=True), run.answers(name, "seconds"))]
            excess = statistics.median(g * (1.0 - share) for g, share in zip(growth, shares))
            rows[name] = (*spread(growth), statistics.median(shares), excess)
    return Table("epoch beside a busy process / epoch", (*SPREAD, "its share", "excess"), rows)


def node_table(run, precision):
    """Where a step's time goes, the dearest first, and what share of the roof a matrix product reaches while it runs:
    medians over the rounds, in percent. Nodes of one name count as one."""
    shares, rates = {}, {}
    name = f"{NODES}, {precision}"
    for nodes, roof in zip(run.answers(name, "nodes"), run.answers(ROOF, precision)):
        seconds, gflop = {}, {}
        for node in nodes:
            seconds[node["name"]] = seconds.get(node["name"], 0.0) + node["seconds"]
            gflop[node["name"]] = gflop.get(node["name"], 0.0) + node["gflop"]
        total = sum(seconds.values())
        for node, spent in seconds.items():
            shares.setdefault(node, []).append(100 * spent / total)
            rates.setdefault(node, []).append(100 * gflop[node] / spent / roof)
    rows = {
        node: (statistics.median(values), statistics.median(rates[node]) if any(rates[node]) else None)
        for node, values in sorted(shares.items(), key=lambda item: -statistics.median(item[1]))
    }
    return Table(f"our {precision} step by node, %", ("time", "of roof"), rows)


def tables(measurements):
    """All tables that have a row."""
    run = Run(measurements)
    made = [our_table(run), peer_table(run), busy_table(run), *(node_table(run, p) for p in PRECISIONS)]
    return [table for table in made if table.rows]
