#!/usr/bin/env python3
"""mlp_mnist: an epoch of the MNIST example beside the GEMM roof and beside PyTorch's and TensorFlow's.

    ./tools/bazelw run -c opt //tools/bench:mlp_mnist -- --rounds 5 --busy --json tools/bench/mlp_mnist.json

Everybody is measured once a round, one after another, for as many rounds as asked for; README.md explains the settings
and how to install the peers.
"""

import argparse
import datetime
import json
import os
import sys

import contestants
import machine
import summary
from processes import Neighbour, Worker, WorkerError

WARMUP_EPOCHS = 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="measurements of everybody (5)")
    parser.add_argument("--json", metavar="FILE", help="write all measurements and the machine's description")
    parser.add_argument("--busy", action="store_true", help="measure everybody beside a busy process, too")
    parser.add_argument("--only", metavar="TEXT", default="", help="leave out peers whose names do not contain it")
    parser.add_argument("--torch-python", default=os.environ.get("TR_BENCH_TORCH_PYTHON", "python3"),
                        help="the interpreter that has PyTorch ($TR_BENCH_TORCH_PYTHON, or python3)")
    parser.add_argument("--tf-python", default=os.environ.get("TR_BENCH_TF_PYTHON", "python3"),
                        help="the interpreter that has TensorFlow ($TR_BENCH_TF_PYTHON, or python3)")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"argument --rounds: {arguments.rounds} is not 1 or more")
    return arguments


def find_contestants(arguments, versions):
    """Everybody who can be measured here; notes the peers' versions, says who is missing."""
    epochs = WARMUP_EPOCHS + arguments.rounds * (2 if arguments.busy else 1)
    data = os.path.abspath("examples/data/mnist")
    threads = len(os.sched_getaffinity(0))
    found = contestants.own_contestants("tools/bench", data, epochs + 1, threads)
    for peer in contestants.make_peers(arguments.torch_python, arguments.tf_python):
        version = peer.version()
        if version is None:
            print(f"skipped: {peer.python} has no {peer.name}; tools/bench/README.md says how to install it")
            continue
        versions[peer.name] = version
        entries = contestants.peer_contestants(peer, data, epochs, threads)
        found += [entry for entry in entries if arguments.only in entry.name]
    return found


class Benchmark:
    """Everybody's process, from their start to their end."""

    def __init__(self, entries, busy):
        self._entries = entries
        self._workers = {}
        self._neighbour = Neighbour() if busy else None
        self.measurements = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self._workers.values():
            worker.close()
        if self._neighbour:
            self._neighbour.close()

    def warm_up(self):
        """Starts everybody; compilers and first touches end here."""
        for entry in self._entries:
            print(f"warming up: {entry.name}", flush=True)
            try:
                worker = self._workers[entry] = Worker(entry.command, entry.environment)
                for _ in range(WARMUP_EPOCHS if entry.trains else 1):
                    worker.ask()
            except WorkerError as error:
                raise WorkerError(f"{entry.name}: {error}") from error

    def measure_round(self, number):
        """Every other round goes backwards, so that nobody always follows the same predecessor."""
        for entry in self._entries if number % 2 == 0 else reversed(self._entries):
            self._measure(entry, number)
            if self._neighbour and entry.trains:
                self._measure_busy(entry, number)

    def _measure(self, entry, number):
        answer = self._workers[entry].ask()
        self.measurements.append(summary.Measurement(entry.name, number, answer))

    def _measure_busy(self, entry, number):
        with self._neighbour:
            answer = self._workers[entry].ask()
        self.measurements.append(summary.Measurement(entry.name, number, answer, self._neighbour.share))


def write_json(path, rounds, description, tables, measurements):
    content = {
        "date": datetime.date.today().isoformat(),
        "machine": description,
        "rounds": rounds,
        "tables": {table.title: table.as_json() for table in tables},
        "measurements": [vars(measurement) for measurement in measurements],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def main():
    arguments = parse_arguments()
    description = machine.describe()
    entries = find_contestants(arguments, description["versions"])
    # `bazel run` starts a program in a folder of its own.
    path = arguments.json and os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), arguments.json)
    try:
        with Benchmark(entries, arguments.busy) as benchmark:
            benchmark.warm_up()
            for number in range(arguments.rounds):
                benchmark.measure_round(number)
                print(f"round {number + 1} of {arguments.rounds}", flush=True)
    except WorkerError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    tables = summary.tables(benchmark.measurements)
    for table in tables:
        print("\n" + table.text())
    if path:
        write_json(path, arguments.rounds, description, tables, benchmark.measurements)
    return 0


if __name__ == "__main__":
    sys.exit(main())
