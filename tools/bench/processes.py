"""The processes of a benchmark: those that are measured, one at a time, and the neighbour that keeps a core busy."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

# A compiler may be at work behind the first answer.
ANSWER_SECONDS = 900


class WorkerError(Exception):
    """A measured process ended, or kept silent; the text holds what it last wrote to stderr."""


class Worker:
    """A process that says once that it is ready and then answers each line with one line of JSON.

    Between two requests it is stopped as a whole, so that threads which wait by spinning disturb nobody. It stays in
    the session of its parent: the kernel ends and wakes a stopped process group whose parent is gone.
    """

    def __init__(self, command, environment):
        self._stderr = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            process_group=0,
        )
        try:
            self._read_answer()
        except WorkerError:
            self.close()
            raise
        self._signal(signal.SIGSTOP)

    @property
    def pid(self):
        return self._process.pid

    def ask(self):
        """One measurement: what the process answers."""
        self._signal(signal.SIGCONT)
        self._process.stdin.write(b"go\n")
        answer = self._read_answer()
        self._signal(signal.SIGSTOP)
        return answer

    def close(self):
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()

    def _read_answer(self):
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise WorkerError(self._last_words())
        return json.loads(line)

    def _last_words(self):
        self._stderr.seek(0)
        lines = self._stderr.read().strip().splitlines()
        return "\n".join(lines[-5:]) or "no answer, and nothing on stderr"

    def _signal(self, number):
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)


class Neighbour:
    """Another process that would like a core of its own, stopped but for the time inside `with`. Behind that, `share`
    is the part of the processor time of all cores that it got."""

    def __init__(self):
        self._process = subprocess.Popen([sys.executable, "-c", "while True: pass"], process_group=0)
        self.share = 0.0
        os.kill(self._process.pid, signal.SIGSTOP)

    def __enter__(self):
        os.kill(self._process.pid, signal.SIGCONT)
        # It is to be there from the first moment of what is measured.
        time.sleep(0.05)
        self._used_before = self._used()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_):
        used = self._used() - self._used_before
        available = (time.perf_counter() - self._start) * len(os.sched_getaffinity(0))
        os.kill(self._process.pid, signal.SIGSTOP)
        self.share = used / available

    def close(self):
        self._process.kill()
        self._process.wait()

    def _used(self):
        with open(f"/proc/{self._process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        user, system = int(fields[11]), int(fields[12])
        return (user + system) / os.sysconf("SC_CLK_TCK")
