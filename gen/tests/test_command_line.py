# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import tempfile
import unittest

from zipmpi_gen import command_line, command_line_docs

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "launch/mpiexec/options.toml"
SMALL = """
[[group]]
title = "All"
options = [
  {names="-n -np", args="N", from="ZO", does="ranks", help="ranks"},
  {names="--old", args="", from="H", does="accept", help="always so"},
  {names="--bad", args="X", from="I", does="refuse", help="no", use="use -n"},
  {names="--pair", args="NAME[=]VALUE", from="Z", does="env", help="a | b"},
  {names="--inner", args="X", from="", does="inner", help="of V: inside"},
]
[[directive]]
list = "output"
words = [{word="dir=", as="--pair"}]
[[parameter]]
what = "p"
names = [{name="par", yes="--old"}]
[[variable]]
of = "any"
names = [{name="V", as="--inner"}]
"""


def table_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as f:
        f.write(text)
        f.flush()
        return command_line.read(f.name)


class Table(unittest.TestCase):
    def test_value_words(self):
        table = table_of(SMALL)
        self.assertEqual([o.words for o in table.options], ["one", "none", "one", "pair", "one"])
        self.assertEqual(command_line.Option((), "[=fold]", "", "", "", 0).words, "attached")
        self.assertEqual(command_line.Option((), "[RANKS]", "", "", "", 0).words, "ranks")
        self.assertEqual(command_line.Option((), "NAME VALUE", "", "", "", 0).words, "two")

    def test_invalid_tables_are_rejected(self):
        for before, after in (("--old", "--np"), ('from="H"', 'from="Q"'), ('use="use -n"', 'use=""'), ('as="--pair"', 'as="--pear"'),
                              ('help="always so"', 'help="always so", hlep="x"'), ('does="accept", help="always so"', 'does="accept", help="", use="x"')):
            with self.subTest(after), self.assertRaises(command_line.TableError):
                table_of(SMALL.replace(before, after, 1))

    def test_parser_table_is_complete(self):
        inc = command_line.table_inc(table_of(SMALL))
        for text in ('"-n -np"', "Words::pair", "act::refuse", 'AliasKind::variable, "V", "--inner"', 'nullptr'):
            self.assertIn(text, inc)

    def test_documentation_omits_hidden_options(self):
        table = table_of(SMALL)
        for text in (command_line.bash_completion(table), command_line.zsh_completion(table)):
            self.assertIn("--pair", text)
            self.assertNotIn("--inner", text)
        guide = command_line_docs.guide(table)
        for row in ("| `-n`, `-np N` | Open MPI | ranks |", "| `--old` | MPICH | accepted, not needed: always so |",
                    "| `--bad X` | Intel MPI | **refused**: no; use -n |", "a \\| b", "| `V` | inside |", "| `par` | if true: `--old` |",
                    "| directive | equivalent |\n|---|---|\n| `dir=` | `--pair` |"):
            self.assertIn(row, guide)

    def test_page_is_rewritten_between_marks(self):
        page = f"head\n{command_line_docs.BEGIN}\nold\n{command_line_docs.END}\ntail\n"
        new = command_line_docs.renewed(page, table_of(SMALL))
        self.assertTrue(new.startswith("head\n") and new.endswith("\ntail\n") and "old\n" not in new)
        self.assertEqual(command_line_docs.renewed(new, table_of(SMALL)), new)

    def test_real_table_is_valid(self):
        table = command_line.read(SOURCE)
        for name in ("-n", "--map-by", "-genv", "--mca", "-ppn", "-initial-errhandler"):
            self.assertIsNotNone(table.find(name), name)


if __name__ == "__main__":
    unittest.main()
