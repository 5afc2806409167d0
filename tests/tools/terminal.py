# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A terminal for tests (tmux): sends keys and reads the screen."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import installed  # noqa: E402

SKIP = 77


class Terminal:
    """Mixin of a TestCase: one terminal for all tests of a class."""
    MAX_POLLS = 100  # polls of 50 ms for a text to appear

    @classmethod
    def setUpClass(cls):
        if installed.find("tmux") is None:
            print("tmux is not installed")
            sys.exit(SKIP)
        super().setUpClass()
        cls.socket = f"zipmpi-{cls.__name__}-{os.getpid()}"
        cls.addClassCleanup(cls.tmux, "kill-server", fails=True)

    @classmethod
    def tmux(cls, *arguments, fails=False):
        p = subprocess.run(["tmux", "-u", "-L", cls.socket, *arguments], capture_output=True, text=True, timeout=30)
        if p.returncode != 0 and not fails:
            raise AssertionError(p.stderr)
        return p.stdout

    def screen_with(self, pattern, pane=None):
        """The text of a pane, of the current one if none is named, once it matches."""
        for _ in range(self.MAX_POLLS):
            screen = self.tmux("capture-pane", "-p", *(["-t", pane] if pane else []))
            if re.search(pattern, screen, re.M):
                return screen
            time.sleep(0.05)
        return self.fail(f"no {pattern} in\n{screen}")
