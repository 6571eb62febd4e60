"""on_terminal PROGRAM: on a terminal of 60 columns no line of a run is wrapped, and of ^C nothing remains."""

import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

COLUMNS = 60


def start(program):
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        os.execv(program, [program, "--epochs", "1000", "--threads", "1"])
    return pid, terminal


def run_and_interrupt(pid, terminal):
    """All that the program prints; Ctrl-C is pressed in the second epoch."""
    text, pressed = "", False
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # The program has ended.
            break
        text += piece.decode()
        if not pressed and "epoch 2/1000" in text:
            os.write(terminal, b"\x03")
            pressed = True
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130, (status, text)
    return text


def screen(text):
    """What the terminal shows in the end."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def main():
    text = run_and_interrupt(*start(sys.argv[1]))
    training = text[text.index("epoch") :]
    training = training[: training.index("interrupted;")]
    assert max(map(len, re.split("[\r\n]", training))) < COLUMNS, training
    assert "^C" in text, text
    lines = screen(text)
    assert not any("^C" in line for line in lines), lines
    assert any(line.startswith("interrupted;") for line in lines), lines


if __name__ == "__main__":
    main()
