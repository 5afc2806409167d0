# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Labels, folding and files for the output of ranks; standard input for ranks other than 0."""
import os
import re
import subprocess
import tempfile
import unittest

from harness import Case, expand, first_good, run, shell, start


def files_below(directory):
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path) as f:
                found[os.path.relpath(path, directory)] = f.read()
    return found


class Tags(Case):
    def test_open_mpi(self):
        r = shell(2, "echo out; echo err >&2", "--tag-output")
        self.assertEqual(sorted(r.out.splitlines()), ["[1,0]<stdout>:out", "[1,1]<stdout>:out"])
        self.assertEqual(sorted(r.err.splitlines()), ["[1,0]<stderr>:err", "[1,1]<stderr>:err"])

    def test_pattern(self):
        self.assertEqual(sorted(shell(2, "echo out", "-prepend-pattern", "<%r> ").out.splitlines()), ["<0> out", "<1> out"])

    def test_time_stamps(self):
        r = shell(1, "echo out", "--label", "--timestamp-output")
        self.assertRegex(r.out, r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} |\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\[0\] out\n$")

    def test_merged_streams_keep_order(self):
        r = shell(1, "for i in $(seq 200); do echo $i; echo $i >&2; done", "--merge-stderr-to-stdout")
        self.quiet(r)
        self.assertEqual(r.out, "".join(f"{i}\n{i}\n" for i in range(1, 201)))

    def test_exit_codes(self):
        r = shell(3, "exit 0", "-print-all-exitcodes")
        self.quiet(r)
        self.assertRegex(r.out, r"^\[mpiexec@\S+\] Exit codes: \[\S+\] 0,0,0\n$")
        r = shell(1, "exit 5", "-print-all-exitcodes")
        self.assertRegex(r.out, r"Exit codes: \[\S+\] 5\n$")


class Folding(Case):
    @staticmethod
    def folded(ranks, script, most_lines):
        """Folds lines written within 100 ms of each other: a busy machine splits groups, and joins none."""
        return first_good(10, lambda: shell(ranks, script, "--label=fold"), lambda r: (r.out + r.err).count("\n") <= most_lines)

    def test_equal_lines_are_shown_once(self):
        r = self.folded(8, "echo same; echo err >&2", 2)
        self.assertEqual((r.code, r.out, r.err), (0, "[0-7] same\n", "[0-7] err\n"))

    def test_different_lines_and_order(self):
        r = shell(4, "echo first; echo $PMI_RANK; echo last", "--label=fold")
        shown = {rank: [] for rank in range(4)}
        for line in r.out.splitlines():
            ranks, text = re.fullmatch(r"\[([\d,-]+)\] (.*)", line).groups()
            for rank in expand(ranks):
                shown[rank].append(text)
        self.assertEqual(shown, {rank: ["first", str(rank), "last"] for rank in range(4)})

    def test_many_ranks(self):
        r = self.folded(200, "echo hello", 99)
        self.quiet(r)
        self.assertLess(r.out.count("\n"), 100, "nothing was folded")

    def test_line_is_shown_after_timeout(self):
        p = start("-n", 2, "--label=fold", "sh", "-c", "test $PMI_RANK = 1 || echo alone; sleep 3")
        self.assertEqual(p.stdout.readline(), "[0] alone\n")
        self.assertIsNone(p.poll())
        p.communicate()

    def test_prompt_is_shown(self):
        p = start("-n", 2, "--label=fold", "sh", "-c",
                  'test $PMI_RANK = 1 || { printf "name? "; read x; echo "hello $x"; }', stdin=subprocess.PIPE)
        self.assertEqual(p.stdout.read(10), "[0] name? ")
        self.assertEqual(p.communicate("you\n", timeout=10)[0], "hello you\n")

    def test_messages_follow_output_of_ranks(self):
        r = shell(2, "echo why >&2; exit 3", "--label=fold")
        self.assertRegex(r.err, r"^(\[[-01]+\] why\n)+mpiexec: rank")


class Files(Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.directory = os.path.join(self.folder.name, "a", "b")

    def test_open_mpi_layout_with_a_copy(self):
        r = shell(11, "echo out $PMI_RANK; echo err >&2", "--output-filename", self.directory)
        self.assertEqual(sorted(r.out.splitlines()), sorted(f"out {i}" for i in range(11)))
        expected = {f"1/rank.{i:02}/stdout": f"out {i}\n" for i in range(11)}
        expected.update({f"1/rank.{i:02}/stderr": "err\n" for i in range(11)})
        self.assertEqual(files_below(self.directory), expected)

    def test_no_copy(self):
        r = shell(2, "echo out", "--output-filename", self.directory + ":nocopy")
        self.assertEqual((r.code, r.out, r.err), (0, "", ""))
        self.assertEqual(files_below(self.directory)["1/rank.1/stdout"], "out\n")

    def test_patterns(self):
        r = shell(2, "echo out; echo err >&2", "-outfile-pattern", self.directory + "/%r.txt")
        self.assertEqual((r.out, r.err), ("", "err\nerr\n"))
        self.assertEqual(files_below(self.directory), {"0.txt": "out\n", "1.txt": "out\n"})

    def test_ranks_share_a_file(self):
        shell(3, "echo $PMI_RANK", "-outfile-pattern", self.directory + "/all")
        self.assertEqual(sorted(files_below(self.directory)["all"].splitlines()), ["0", "1", "2"])

    def test_much_output_is_complete(self):
        shell(2, "seq 200000", "-outfile-pattern", self.directory + "/%r")
        expected = "".join(f"{i}\n" for i in range(1, 200001))
        self.assertEqual(files_below(self.directory), {"0": expected, "1": expected})

    def test_file_that_cannot_be_created(self):
        marker = os.path.join(self.folder.name, "ran")
        r = shell(2, f"touch {marker}", "-outfile-pattern", "/dev/null/x")
        self.assertEqual(r.code, 1)
        for part in ("cannot be created", "where: host", "/dev/null/x: Not a directory", "fix:"):
            self.assertIn(part, r.err)
        self.assertFalse(os.path.exists(marker))

    def test_full_disk_loses_nothing(self):
        r = shell(2, "echo one; echo two", "-outfile-pattern", "/dev/full")
        self.assertEqual((r.code, sorted(r.out.splitlines())), (0, ["one", "one", "two", "two"]))
        self.assertIn("No space left on device", r.err)
        self.assertEqual(r.err.count("mpiexec:"), 1)


class Readers(Case):
    def test_another_rank(self):
        r = shell(3, 'echo "$PMI_RANK:$(cat)"', "--stdin", 2, stdin=b"text")
        self.assertEqual(sorted(r.out.splitlines()), ["0:", "1:", "2:text"])

    def test_all(self):
        data = os.urandom(1000000).hex().encode()
        r = run("-n", 3, "--stdin", "all", "md5sum", stdin=data)
        self.quiet(r)
        self.assertEqual(len(set(r.out.splitlines())), 1)
        self.assertEqual(r.out.count("\n"), 3)

    def test_one_rank_does_not_read(self):
        r = shell(2, "test $PMI_RANK = 1 || wc -c", "--stdin", "all", stdin=b"x" * 1000000)
        self.assertEqual((r.code, r.out.strip(), r.err), (0, "1000000", ""))

    def test_none(self):
        self.assertEqual(shell(2, 'echo ":$(cat)"', "--stdin", "none", stdin=b"text").out, ":\n:\n")


if __name__ == "__main__":
    unittest.main()
