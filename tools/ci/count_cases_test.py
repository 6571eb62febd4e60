#!/usr/bin/env python3
"""The counts of .ci/run: nothing that failed, or did not run, may look as if it had passed."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_cases
from count_cases import Counts

DOCTEST = (
    "[doctest] test cases: {:>2} | {:>2} passed | {} failed | {} skipped\n"
    "[doctest] assertions: 9 | 9 passed | 0 failed |\n"
)


class LogTest(unittest.TestCase):
    def test_every_case_of_a_doctest_log_counts(self):
        self.assertEqual(count_cases.count_log(DOCTEST.format(3, 3, 0, 0), True), Counts(3, 0, 0))
        self.assertEqual(count_cases.count_log(DOCTEST.format(13, 11, 2, 1), False), Counts(11, 2, 1))

    def test_a_log_without_summary_is_one_case(self):
        self.assertEqual(count_cases.count_log("done\n", True), Counts(1, 0, 0))
        self.assertEqual(count_cases.count_log("", False), Counts(0, 1, 0))

    def test_a_process_that_fails_after_its_cases_passed_is_a_failure(self):
        self.assertEqual(count_cases.count_log(DOCTEST.format(3, 3, 0, 0), False), Counts(3, 1, 0))

    def test_a_file_without_cases_is_a_failure(self):
        self.assertEqual(count_cases.count_log(DOCTEST.format(0, 0, 0, 0), True), Counts(0, 1, 0))

    def test_a_file_with_all_cases_skipped_is_skipped(self):
        self.assertEqual(count_cases.count_log(DOCTEST.format(0, 0, 0, 2), True), Counts(0, 0, 2))


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def result(self, label, status, text, shard=1, attempt=1):
        path = os.path.join(self.folder, f"{shard} {attempt}.log")
        with open(path, "w", encoding="utf-8") as log:
            log.write(text)
        uri = "file://" + path.replace(" ", "%20")
        key = {"label": label, "run": 1, "shard": shard, "attempt": attempt}
        result = {"status": status, "testActionOutput": [{"name": "test.log", "uri": uri}]}
        return {"id": {"testResult": key}, "testResult": result}

    def count(self, label, *events):
        return count_cases.Build(map(json.dumps, events)).count(label)[0]

    def finished(self, name):
        return {"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": name}}}

    def test_shards_add_up_and_only_the_last_attempt_counts(self):
        events = [
            self.result("//a:t", "FAILED", DOCTEST.format(2, 1, 1, 0), shard=1, attempt=1),
            self.result("//a:t", "PASSED", DOCTEST.format(2, 2, 0, 0), shard=1, attempt=2),
            self.result("//a:t", "PASSED", DOCTEST.format(5, 5, 0, 0), shard=2),
        ]
        self.assertEqual(self.count("//a:t", *events), Counts(7, 0, 0))

    def test_a_target_that_did_not_build_failed(self):
        configured = {"id": {"targetConfigured": {"label": "//a:t"}}}
        self.assertEqual(self.count("//a:t", configured, self.finished("BUILD_FAILURE")), Counts(0, 1, 0))
        self.assertEqual(self.count("//a:t", configured, self.finished("SUCCESS")), Counts(0, 1, 0))

    def test_a_target_of_a_build_that_broke_off_failed(self):
        self.assertEqual(self.count("//a:t"), Counts(0, 1, 0))
        self.assertEqual(self.count("//a:t", self.finished("PARSING_FAILURE")), Counts(0, 1, 0))

    def test_a_target_left_out_on_purpose_is_skipped(self):
        aborted = {"id": {"targetCompleted": {"label": "//a:t"}}, "aborted": {"reason": "SKIPPED"}}
        self.assertEqual(self.count("//a:t", aborted, self.finished("SUCCESS")), Counts(0, 0, 1))
        self.assertEqual(self.count("//a:manual", self.finished("SUCCESS")), Counts(0, 0, 1))


if __name__ == "__main__":
    unittest.main()
