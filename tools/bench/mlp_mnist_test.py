#!/usr/bin/env python3
"""The benchmark's own logic, without anything that is worth measuring."""

import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import contestants
import summary
from contestants import NODES, OURS, ROOF
from processes import Neighbour, Worker, WorkerError
from summary import Measurement

EPOCH = summary.GFLOP_PER_EPOCH


def epochs(name, seconds, neighbour=None):
    return [Measurement(name, r, {"seconds": s}, neighbour) for r, s in enumerate(seconds)]


def nodes(precision, *entries):
    listed = [{"name": name, "seconds": seconds, "gflop": gflop} for name, seconds, gflop in entries]
    return Measurement(f"{NODES}, {precision}", 0, {"nodes": listed})


def own_measurements(fp32, bf16, roof_fp32, roof_bf16):
    roof = [Measurement(ROOF, r, {"fp32": f, "bf16": b}) for r, (f, b) in enumerate(zip(roof_fp32, roof_bf16))]
    return [*roof, *epochs(f"{OURS}, fp32", fp32), *epochs(f"{OURS}, bf16", bf16)]


class SummaryTest(unittest.TestCase):
    def test_an_epoch_has_the_products_of_all_layers(self):
        self.assertAlmostEqual(summary.MFLOP_PER_PICTURE, 7.16, 2)
        self.assertAlmostEqual(summary.GFLOP_PER_EPOCH, 429.5, 1)

    def test_a_share_of_the_roof_is_taken_in_each_round(self):
        # A machine that slows down by half in the second round changes no ratio.
        measured = own_measurements([2.0, 4.0], [1.0, 2.0], [EPOCH, EPOCH / 2], [2 * EPOCH, EPOCH])
        rows = summary.our_table(summary.Run(measured)).rows
        self.assertEqual(rows["fp32 epoch: share of the fp32 GEMM roof"], (0.5, 0.5, 0.5))
        self.assertEqual(rows["bf16 epoch: share of the bf16 GEMM roof"], (0.5, 0.5, 0.5))
        self.assertEqual(rows["bf16 epoch / fp32 epoch"], (0.5, 0.5, 0.5))
        self.assertEqual(rows["the same at the GEMM roofs"], (0.5, 0.5, 0.5))

    def test_a_peer_is_compared_in_its_own_precision(self):
        measured = own_measurements([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1] * 3, [1] * 3)
        measured += epochs("Peer, best, bf16", [4.0, 6.0, 20.0])
        table = summary.peer_table(summary.Run(measured))
        self.assertEqual(table.rows, {"Peer, best, bf16": (3.0, 2.0, 10.0)})

    def test_a_growth_by_the_share_of_the_neighbour_alone_has_no_excess(self):
        measured = epochs(f"{OURS}, fp32", [3.0]) + epochs(f"{OURS}, fp32", [4.0], neighbour=0.25)
        growth, *_, share, excess = summary.busy_table(summary.Run(measured)).rows[f"{OURS}, fp32"]
        self.assertEqual(share, 0.25)
        self.assertAlmostEqual(growth, 4 / 3)
        self.assertAlmostEqual(excess, 1.0)

    def test_nodes_of_one_name_count_as_one_and_stand_by_cost(self):
        measured = [Measurement(ROOF, 0, {"fp32": 100.0, "bf16": 50.0})]
        measured.append(nodes("fp32", ("meet", 0.1, 0), ("product", 0.6, 30.0), ("meet", 0.3, 0)))
        rows = summary.node_table(summary.Run(measured), "fp32").rows
        self.assertEqual(list(rows), ["product", "meet"])
        self.assertAlmostEqual(rows["product"][0], 60.0)
        self.assertAlmostEqual(rows["product"][1], 50.0)
        self.assertAlmostEqual(rows["meet"][0], 40.0)
        self.assertIsNone(rows["meet"][1])

    def test_a_table_without_rows_is_left_out(self):
        measured = own_measurements([1.0], [1.0], [1.0], [1.0])
        measured += [nodes(p, ("product", 1.0, 1.0)) for p in contestants.PRECISIONS]
        titles = [table.title for table in summary.tables(measured)]
        self.assertEqual(titles, ["our epoch", "our fp32 step by node, %", "our bf16 step by node, %"])

    def test_cells_stand_below_their_column(self):
        lines = summary.Table("a title", ("x",), {"row": (1.0,), "none": (None,)}).text().splitlines()
        self.assertEqual(lines[0], "a title" + "x".rjust(11))
        self.assertEqual(lines[1], "row    " + "1.00".rjust(11))
        self.assertEqual(len({len(line) for line in lines}), 1)


class ContestantsTest(unittest.TestCase):
    def test_names_differ_and_end_with_the_precision(self):
        found = contestants.own_contestants("programs", "data", 3, 2)
        for peer in contestants.make_peers("torch", "tf"):
            found += contestants.peer_contestants(peer, "data", 3, 2)
        names = [entry.name for entry in found]
        self.assertEqual(len(set(names)), 17)
        for entry in found:
            self.assertTrue(entry.system == ROOF or entry.name.endswith(", " + entry.precision))

    def test_a_peer_without_interpreter_or_framework_is_not_installed(self):
        for python in ("/no/such/python", "false"):
            for peer in contestants.make_peers(python, python):
                self.assertIsNone(peer.version())


class WorkerTest(unittest.TestCase):
    def start(self, program):
        worker = Worker((sys.executable, "-c", program), {"NUMBER": "7"})
        self.addCleanup(worker.close)
        return worker

    def test_a_worker_answers_each_request(self):
        worker = self.start(
            "import os, sys\n"
            "print('{}', flush=True)\n"
            "for i, _ in enumerate(sys.stdin): print('[%d, %s]' % (i, os.environ['NUMBER']), flush=True)"
        )
        self.assertEqual([worker.ask(), worker.ask()], [[0, 7], [1, 7]])

    def test_a_worker_that_ends_is_reported_with_its_last_words(self):
        with self.assertRaisesRegex(WorkerError, "no framework here"):
            self.start("raise SystemExit('no framework here')")
        worker = self.start("print('{}', flush=True); input(); raise SystemExit('out of memory')")
        with self.assertRaisesRegex(WorkerError, "out of memory"):
            worker.ask()

    def test_between_requests_a_worker_does_not_run(self):
        worker = self.start("print('{}', flush=True)\nwhile True: pass")
        state = ""
        for _ in range(1000):
            with open(f"/proc/{worker.pid}/stat", encoding="ascii") as file:
                state = file.read().rpartition(")")[2].split()[0]
            if state == "T":
                break
            time.sleep(0.01)
        self.assertEqual(state, "T")


class NeighbourTest(unittest.TestCase):
    def test_its_share_is_a_part_of_all_cores(self):
        neighbour = Neighbour()
        self.addCleanup(neighbour.close)
        # A machine with more to do may leave it nothing for a while.
        for _ in range(100):
            with neighbour:
                time.sleep(0.1)
            if neighbour.share > 0.0:
                break
        self.assertGreater(neighbour.share, 0.0)
        self.assertLessEqual(neighbour.share, 1.0)


if __name__ == "__main__":
    unittest.main()
