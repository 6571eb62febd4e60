"""What a measurement was taken on: times mean nothing without it."""

import os
import platform
import re
import subprocess

PACKAGES = ("bazel-bootstrap", "g++", "libdnnl-dev", "libhwy-dev", "linux-libc-dev")


def field_of(path, name):
    """The value of a "name : value" line of a file under /proc, or "unknown"."""
    with open(path, encoding="ascii", errors="replace") as file:
        found = re.search(rf"^{re.escape(name)}\s*:\s*(.*)$", file.read(), re.MULTILINE)
    return found.group(1) if found else "unknown"


def package_version(package):
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "not a Debian package"


def describe():
    """Processor, memory, operating system and the versions of what our programs are made with."""
    flags = field_of("/proc/cpuinfo", "flags").split()
    matrix_flags = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    return {
        "cpu": field_of("/proc/cpuinfo", "model name"),
        "cpu_family_model_stepping": [field_of("/proc/cpuinfo", name) for name in ("cpu family", "model", "stepping")],
        "cpu_flags": [flag for flag in matrix_flags if flag in flags],
        "cores": len(os.sched_getaffinity(0)),
        "memory": field_of("/proc/meminfo", "MemTotal"),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
        "kernel": platform.release(),
        "versions": {
            "Python": platform.python_version(),
            **{package: package_version(package) for package in PACKAGES},
        },
    }
