# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Machine and commit, stored with the figures."""
import glob
import os
import platform
import subprocess

from .libraries import BENCH, environment

CACHES = "/sys/devices/system/cpu/cpu0/cache/index*"


def commit():
    if not os.path.exists(os.path.join(BENCH, "..", "CMakeLists.txt")):
        return "of the installation"  # a repository around its folder is not ZipMPI's
    command = ["git", "describe", "--always", "--dirty"]
    known = subprocess.run(command, cwd=BENCH, capture_output=True, text=True, check=False)
    return known.stdout.strip() or "unknown"


def value_in(path, name, separator):
    try:
        with open(path, encoding="utf-8") as file:
            return value_of(file, name, separator)
    except OSError:
        return "unknown"


def value_of(lines, name, separator=":"):
    for line in lines:
        key, _, value = line.partition(separator)
        if key.strip() == name:
            return value.strip().strip('"')
    return "unknown"


def memory():
    kib, _, unit = value_in("/proc/meminfo", "MemTotal", ":").partition(" ")
    return f"{int(kib) / (1 << 20):.1f} GiB" if unit == "kB" else "unknown"


def first_line(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def cores_of_list(text):
    """The number of cores of a list as the kernel prints it: 0-3,8."""
    ends = [part.partition("-") for part in text.split(",") if part]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)


def size_text(text):
    kib = int(text[:-1]) if text.endswith("K") and text[:-1].isdigit() else 0
    return f"{kib // 1024} MiB" if kib >= 1024 and kib % 1024 == 0 else f"{kib} KiB" if kib else text


def caches(pattern=CACHES):
    """The data caches of the first core, by level: their size and how many cores share one."""
    found = []
    for folder in sorted(glob.glob(pattern)):
        kind, level, size = (first_line(os.path.join(folder, name)) for name in ("type", "level", "size"))
        shared = cores_of_list(first_line(os.path.join(folder, "shared_cpu_list")))
        if kind in ("Data", "Unified"):
            found.append(f"L{level} {size_text(size)}" + (f" for {shared} cores" if shared > 1 else ""))
    return ", ".join(found) or "caches unknown"


def lscpu():
    try:
        run = subprocess.run(["lscpu"], capture_output=True, text=True, check=False, env=environment() | {"LC_ALL": "C"})
    except OSError:
        return []
    return run.stdout.splitlines()


def processor(lines):
    """The model, with the numbers by which processors of one name differ."""
    numbers = [f"{name.lower()} {value}" for name in ("CPU family", "Model", "Stepping")
               if (value := value_of(lines, name)) != "unknown"]
    title = value_in("/proc/cpuinfo", "model name", ":")
    return f"{title} ({', '.join(numbers)})" if numbers else title


def virtualization(lines):
    """The hypervisor, or "none"."""
    vendor = value_of(lines, "Hypervisor vendor")
    if vendor == "unknown" and "hypervisor" in value_in("/proc/cpuinfo", "flags", ":").split():
        return "virtual machine"
    return "none" if vendor == "unknown" else vendor


def facts():
    lines = lscpu()
    return {
        "processor": processor(lines),
        "cores": len(os.sched_getaffinity(0)),
        "caches": caches(),
        "memory": memory(),
        "virtualization": virtualization(lines),
        "kernel": platform.release(),
        "system": value_in("/etc/os-release", "PRETTY_NAME", "="),
        "load": os.getloadavg()[0],
    }
