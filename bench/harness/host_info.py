# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Machine and commit, stored with the figures."""
import os
import platform
import subprocess

from .libraries import BENCH


def commit():
    if not os.path.exists(os.path.join(BENCH, "..", "CMakeLists.txt")):
        return "of the installation"  # a repository around its folder is not ZipMPI's
    command = ["git", "describe", "--always", "--dirty"]
    known = subprocess.run(command, cwd=BENCH, capture_output=True, text=True, check=False)
    return known.stdout.strip() or "unknown"


def value_in(path, name, separator):
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition(separator)
                if key.strip() == name:
                    return value.strip().strip('"')
    except OSError:
        pass
    return "unknown"


def memory():
    kib, _, unit = value_in("/proc/meminfo", "MemTotal", ":").partition(" ")
    return f"{int(kib) / (1 << 20):.1f} GiB" if unit == "kB" else "unknown"


def facts():
    return {
        "processor": value_in("/proc/cpuinfo", "model name", ":"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": memory(),
        "virtual": "hypervisor" in value_in("/proc/cpuinfo", "flags", ":").split(),
        "kernel": platform.release(),
        "system": value_in("/etc/os-release", "PRETTY_NAME", "="),
        "load": os.getloadavg()[0],
    }
