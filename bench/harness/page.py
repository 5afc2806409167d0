# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A page of the documentation whose figures are written by bench/compare --page: all between two lines is replaced."""

BEGIN, END = "<!-- bench/compare: begin -->", "<!-- bench/compare: end -->"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def has_place(path):
    try:
        before, _, after = read(path).partition(f"{BEGIN}\n")
    except OSError:
        return False
    return before.endswith("\n") and f"{END}\n" in after


def fill(path, text):
    before, _, rest = read(path).partition(f"{BEGIN}\n")
    after = rest.partition(f"{END}\n")[2]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n{END}\n{after}")
