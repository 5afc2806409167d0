# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A job with two versions of ZipMPI on its nodes: the second installation is a copy in which the text of the version is
another one (src/base/job_protocol.cpp). Needs no privileges."""
import os
import re
import shutil
import tempfile

from harness import MPIEXEC, Case, main, run

BUILD = os.path.dirname(os.path.dirname(MPIEXEC))
PROGRAM = os.path.join(os.environ["TEST_MPI_FOLDER"], "collectives")
TEXT = re.compile(rb"ZipMPI (\d+\.\d+\.)(\d)(, job protocol )(\d)(?!\d)")


class OtherVersions(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="versions-")
        self.addCleanup(shutil.rmtree, self.folder)

    def install(self, patch, protocol):
        """A copy whose version has another patch number, and another protocol if that differs from 0; returns both texts."""
        texts = set()

        def other(match):
            new = b"ZipMPI %b%d%b%d" % (match[1], (int(match[2]) + patch) % 10, match[3], (int(match[4]) + protocol) % 10)
            texts.add((match[0].decode(), new.decode()))
            return new

        os.makedirs(os.path.join(self.folder, "lib"))
        os.mkdir(os.path.join(self.folder, "bin"))
        for name in os.listdir(os.path.join(BUILD, "lib")):
            if not name.startswith("libmpi"):
                os.symlink(os.path.join(BUILD, "lib", name), os.path.join(self.folder, "lib", name))
        for name in ("bin/zipmpi-noded", "lib/libmpi_abi.so.1"):
            with open(os.path.join(BUILD, name), "rb") as f:
                data, count = TEXT.subn(other, f.read())
            self.assertGreater(count, 0, name + " has no version")
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(data)
            os.chmod(os.path.join(self.folder, name), 0o755)
        self.assertEqual(len(texts), 1, texts)
        return texts.pop()

    def job(self):
        """Two ranks on node a with this installation, two on node b with the other one."""
        agent = os.path.join(self.folder, "agent")
        with open(agent, "w") as f:
            f.write(f'#!/bin/sh\nhost=$1; shift\n[ "$host" = a ] || exec "{self.folder}/bin/zipmpi-noded"\nexec sh -c "$*"\n')
        os.chmod(agent, 0o755)
        script = f'ldd {PROGRAM} | sed -n "s/.*libmpi_abi.so.1 => \\([^ ]*\\) .*/\\1/p"; exec {PROGRAM}'
        return run("-n", 4, "--host", "a:2,b:2", "--launch-agent", agent, "sh", "-c", script)

    def test_another_patch_release(self):
        own, other = self.install(patch=5, protocol=0)
        self.assertNotEqual(own, other)
        r = self.job()
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)
        self.assertEqual(r.out.count(f"{self.folder}/lib/libmpi_abi.so.1\n"), 2, r)
        self.assertEqual(r.out.count("libmpi_abi.so.1\n"), 4, r)

    def test_another_protocol_is_refused_with_both_versions(self):
        own, other = self.install(patch=0, protocol=1)
        r = self.job()
        self.assertEqual(r.code, 1, r)
        self.assertIn(f"mpiexec is of {own}, and this process of {other}", r.err)
        self.assertLess(r.seconds, 10)


if __name__ == "__main__":
    main()
