# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import tempfile
import unittest

from harness import Case, run


class Messages(Case):
    """Each error: arguments, exit status, fragments of the message."""

    def check(self, args, code, *texts, env=None):
        r = run(*args, env=env)
        self.assertEqual(r.code, code, r)
        self.assertEqual(r.out, "")
        self.four_parts(r.err)
        for text in texts:
            self.assertIn(text, r.err)

    def test_unknown_option(self):
        self.check(["--lable", "true"], 2, "--lable is not known", "did you mean --label?")
        self.check(["-n", 2, "--frobnicate=3", "true"], 2, "--frobnicate is not known", "mpiexec --help")

    def test_number_of_ranks(self):
        for n in ("0", "-3", "many", "5000000", ""):
            self.check(["-n", n, "true"], 2, f"'{n}' is not a number of ranks")
        self.check(["-n", 1000001, "true"], 2, "'1000001' is not a number of ranks from 1 to 1000000")
        self.check(["-n", 600000, "true", ":", "-n", 600000, "true"], 2, "1200000 ranks; a job has at most 1000000")
        self.check(["-n", 6000, "true", ":", "-n", 6000, "true"], 2, "12000 ranks; one host takes at most 10240")

    def test_no_program(self):
        self.check([], 2, "no program to start")
        self.check(["-n", 4], 2, "no program to start")
        self.check(["-n"], 2)

    def test_values(self):
        self.check(["--env", "=x", "true"], 2, "'=x' is not NAME=VALUE")
        self.check(["--bind-to", "moon", "true"], 2, "--bind-to core, socket or none")
        self.check(["--pmix", "perhaps", "true"], 2, "--pmix auto")
        self.check(["--timeout", "soon", "true"], 2)
        self.check(["--timeout", "-1", "true"], 2)
        self.check(["true"], 2, "MPIEXEC_TIMEOUT", env={"MPIEXEC_TIMEOUT": "soon"})

    def test_programs_that_cannot_start(self):
        self.check(["-n", 2, "./no-such-program"], 127, "No such file")
        self.check(["no-such-program-anywhere"], 127, "PATH")
        self.check(["/tmp"], 126, "not a directory")
        with tempfile.TemporaryDirectory(prefix="launch-test-") as directory:
            plain, script, here = (os.path.join(directory, n) for n in ("plain", "script", "here"))
            for path, text, mode in ((plain, "x", 0o644), (script, "#!/no/such/shell\n", 0o755), (here, "", 0o755)):
                with open(path, "w") as f:
                    f.write(text)
                os.chmod(path, mode)
            if os.geteuid() != 0 or not os.access(plain, os.X_OK):
                self.check([plain], 126, "chmod +x")
            self.check(["-n", 4, script], 127, "cannot be started", "interpreter")
            before = os.getcwd()
            os.chdir(directory)
            try:
                self.check(["here"], 127, "write ./here")
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
