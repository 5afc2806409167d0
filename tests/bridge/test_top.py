# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""zipmpi top --gateways in a terminal (tmux), with two gateways that forward messages."""
import os

from harness import HELPERS, MPIEXEC, MultiClusterCase, from_tests, main

Terminal = from_tests("tools", "terminal").Terminal
TOP = [os.path.join(os.path.dirname(MPIEXEC), "zipmpi"), "top", "--gateways", "--interval", "0.2"]
RATE = r" +[0-9.]+k? +[0-9.]+[kMG]? +\d+ +\d+"


class GatewayView(Terminal, MultiClusterCase):
    SHAPE = "z2"
    MAX_POLLS = 200

    def test_paths_rates_and_plot(self):
        job = self.begin("-n", "4", os.path.join(HELPERS, "goodput"), "20")
        self.addCleanup(job.wait, 30)
        self.addCleanup(job.terminate)
        self.assertTrue(job.stdout.readline())  # bytes have crossed
        command = f"LC_ALL=C.UTF-8 {' '.join(TOP)} --pid {os.getpid()}; echo ended with $?; sleep 30"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "20", command)
        screen = self.screen_with(rf"^  gateway g2{RATE}  [▁-█]{{4}}")
        for path in ("cluster a", "gateway g2", "cluster b", "gateway g1"):
            self.assertRegex(screen, rf"(?m)^  {path}{RATE}  [▁-█]")
        self.assertRegex(screen, r"(?m)^gateway 1, pid \d+: [0-9.]+k? msg/s \(\d+ total\), \d+ KiB buffered$")
        self.assertRegex(screen, r"(?m)^ +[0-9.]+[kMG] \|[▁-█ ]+$")
        self.assertRegex(screen, r"(?m)^ +0 \|[▁-█]+$")
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()))
        self.tmux("resize-window", "-x", "50", "-y", "6")
        self.assertTrue(all(len(line) <= 50 for line in self.screen_with("cluster a").splitlines()))
        self.tmux("send-keys", "q")
        self.screen_with("ended with 0")


if __name__ == "__main__":
    main()
