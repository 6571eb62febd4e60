#!/usr/bin/env python3
"""count_cases.py EVENTS LABELS: counts the test cases that a `bazel test` really ran.

EVENTS is what --build_event_json_file wrote, LABELS the test targets that ought to have run, one a line.
Prints "PASSED FAILED SKIPPED" to stdout and one line for each target that did not simply pass to stderr.

A target whose log ends in doctest's summary counts as many cases as that says, any other target as one. Results that
Bazel took from its cache come with their logs and count alike. A target that should have run and left no result is
skipped if Bazel says so or never looked at it (tagged manual), failed otherwise; so is one whose doctest has no cases.
"""

import collections
import json
import re
import sys
import urllib.parse

SUMMARY = re.compile(r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped", re.M)

Counts = collections.namedtuple("Counts", "passed failed skipped")


def count_log(text, succeeded):
    """The cases of one finished test action, from its log and from whether Bazel counts it as passed."""
    summaries = SUMMARY.findall(text)
    if not summaries:
        return Counts(int(succeeded), int(not succeeded), 0)
    ran, passed, failed, skipped = (sum(map(int, column)) for column in zip(*summaries))
    if not succeeded or ran + skipped == 0:
        # The process failed outside its cases (a leak, a crash after the summary, a time-out), or tested nothing.
        failed = max(failed, 1)
    return Counts(passed, failed, skipped)


def read_log(result):
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.log":
            path = urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
            with open(path, encoding="utf-8", errors="replace") as log:
                return log.read()
    return ""


class Build:
    """What the events of one build say, by target."""

    def __init__(self, lines):
        self.results = collections.defaultdict(dict)  # label: {(run, shard): result of the last attempt}
        self.seen = set()
        self.skipped = set()
        self.finished = False
        for line in lines:
            self._add(json.loads(line))

    def _add(self, event):
        (kind, key), *_ = event["id"].items()
        label = key.get("label")
        if kind == "testResult":
            self.results[label][key.get("run"), key.get("shard")] = event["testResult"]
        elif kind == "buildFinished":
            self.finished = event["finished"]["exitCode"]["name"] in ("SUCCESS", "TESTS_FAILED")
        elif label:
            self.seen.add(label)
            if event.get("aborted", {}).get("reason") == "SKIPPED":
                self.skipped.add(label)

    def count(self, label):
        """(counts, remark) of one target; no remark if all its cases ran and passed."""
        if label in self.results:
            each = [count_log(read_log(r), r["status"] == "PASSED") for r in self.results[label].values()]
            counts = Counts(*map(sum, zip(*each)))
            remark = "failed" if counts.failed else "ran in part" if counts.skipped else None
            return counts, remark
        if label in self.skipped:
            return Counts(0, 0, 1), "skipped: not for this machine"
        if label not in self.seen and self.finished:
            return Counts(0, 0, 1), "skipped: not part of //... (tagged manual)"
        return Counts(0, 1, 0), "not run: it did not build"


def main(events, labels):
    with open(events, encoding="utf-8") as lines:
        build = Build(lines)
    with open(labels, encoding="utf-8") as lines:
        expected = lines.read().split()
    total = Counts(0, 0, 0)
    for label in sorted(set(expected) | set(build.results)):
        counts, remark = build.count(label)
        total = Counts(*map(sum, zip(total, counts)))
        if remark:
            numbers = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped"
            print(f"{label}: {remark} ({numbers})", file=sys.stderr)
    print(*total)


if __name__ == "__main__":
    main(*sys.argv[1:])
