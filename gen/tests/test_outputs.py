# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen import header, names, probes, symbols, values
from zipmpi_gen.text import WIDTH, wrap_call

from .samples import REAL, ROOT


class Header(unittest.TestCase):
    def test_committed_header_is_current(self):
        self.assertEqual((ROOT / "include/mpi.h").read_text(), header.header(REAL))

    def test_lines_are_short(self):
        long = [line for line in header.header(REAL).splitlines() if len(line) > WIDTH and "/* ---" not in line]
        self.assertEqual(long, [])

    def test_negative_values_are_in_parentheses(self):
        self.assertRegex(header.header(REAL), r"#define MPI_ANY_TAG +\(-2\)\n")

    def test_long_calls_break_after_commas(self):
        text = wrap_call("int f", ", ".join(f"int *argument_{i}" for i in range(20)), ";")
        for line in text.splitlines()[1:-1]:
            self.assertTrue(line.endswith(","))


class Symbols(unittest.TestCase):
    def test_each_function_has_two_names(self):
        listed = symbols.symbol_names(REAL)
        self.assertEqual(len(set(listed)), 2 * len(REAL.entries))

    def test_version_script_hides_other_names(self):
        self.assertIn("local:\n    *;", symbols.version_script(REAL))


class Names(unittest.TestCase):
    def test_table_has_a_row_per_function_and_one_for_none(self):
        self.assertEqual(len(re.findall(r'^    \{"(?:MPIX?_|none)', names.function_table_cpp(REAL), re.M)),
                         len(REAL.entries) + 1)


class Values(unittest.TestCase):
    def test_name_that_starts_with_a_digit(self):
        self.assertEqual(values.builtin_id("MPI_2INT"), "N2INT")
        self.assertEqual(values.builtin_id("MPI_INT"), "INT")

    def test_builtin_names_equal_those_of_core(self):
        engine = (ROOT / "src/core/builtin.hpp").read_text()
        for c in REAL.constants_of("MPI_Datatype") + REAL.constants_of("MPI_Op"):
            if c.name.endswith("_NULL"):
                continue
            names_of = {c.name} | {other.name for other in REAL.constants if other.value == c.name}
            row = re.search(rf'X\({values.builtin_id(c.name)}, "(\w+)"', engine)
            self.assertIn(row and row[1], names_of)

    def test_error_classes_equal_those_of_core(self):
        engine = re.findall(r'X\((\w+), "\w+", "', (ROOT / "src/base/err.hpp").read_text())
        self.assertEqual(sorted(engine), sorted(REAL.core_names["Err"]))


class Probes(unittest.TestCase):
    def test_aliases_are_resolved(self):
        alias = next(c for c in REAL.constants if c.name == "MPI_LONG_LONG_INT")
        self.assertEqual(probes.number(alias, REAL), "0x0000020b")

    def test_every_missing_function_is_called(self):
        program = probes.missing_probe(REAL)
        for e in REAL.entries:
            self.assertEqual(f'expect("{e.name}",' in program, not e.function.implemented, e.name)


if __name__ == "__main__":
    unittest.main()
