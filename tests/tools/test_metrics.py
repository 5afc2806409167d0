# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""zipmpi metrics of a running job: text, file, HTTP, and a Prometheus server that reads it. zipmpi top --json."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import installed  # noqa: E402

import test_top

METRICS = [test_top.BIN + "/zipmpi", "metrics"]
SAMPLE = re.compile(r'(?P<name>zipmpi_\w+)\{(?P<labels>(?:\w+="[^"]*",?)*)\} (?P<value>\d+)$')


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as reply:
        return reply.headers, reply.read().decode()


class Metrics(test_top.Top):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zipmpi-metrics-")
        self.addCleanup(shutil.rmtree, self.folder)
        p = self.job.table("--json", "--interval", "0.1")
        self.top = json.loads(p.stdout)
        self.id = self.top["job"]

    def start(self, *command):
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.terminate)
        return process

    def samples(self, text):
        """Samples of this job; checks the form of all lines."""
        self.assertTrue(text.endswith("# EOF\n"))
        types, found = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M)), {}
        for line in text.splitlines():
            if line.startswith("# "):
                self.assertRegex(line, r"^# (TYPE|HELP|EOF)")
                continue
            match = SAMPLE.match(line)
            self.assertIsNotNone(match, line)
            family = match["name"].removesuffix("_total")
            self.assertEqual(types[family], "counter" if match["name"].endswith("_total") else "gauge")
            if self.id in match["labels"]:
                found[match["name"], match["labels"]] = int(match["value"])
        return found

    def until(self, test, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if result := test():
                    return result
            except (OSError, urllib.error.URLError, KeyError, IndexError):
                pass
            time.sleep(0.1)
        raise AssertionError("timeout")

    def test_top_json(self):
        self.assertEqual((self.top["world_size"], [r["rank"] for r in self.top["ranks"]]), (4, [0, 1, 2, 3]))
        self.assertEqual(self.top["ranks"][1]["state"], "waiting")
        self.assertGreater(self.top["ranks"][2]["messages_per_second"], 0)

    def test_text(self):
        labels = f'job="{self.id}",node="0"'
        first = self.samples(subprocess.run(METRICS, capture_output=True, text=True, check=True).stdout)
        second = self.samples(subprocess.run(METRICS, capture_output=True, text=True, check=True).stdout)
        self.assertGreater(second["zipmpi_sends_total", labels], first["zipmpi_sends_total", labels])
        self.assertEqual(sum(n for (name, _), n in first.items() if name == "zipmpi_ranks"), 4)
        ranks = self.samples(subprocess.run([*METRICS, "--per-rank"], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(len([name for name, _ in ranks if name == "zipmpi_sends_total"]), 4)
        self.assertEqual(ranks["zipmpi_unexpected_length", labels + ',rank="0"'], 3)

    def test_file(self):
        path = os.path.join(self.folder, "zipmpi.prom")
        self.start(*METRICS, "--output", path, "--interval", "0.1")
        times = {self.until(lambda: os.stat(path).st_mtime_ns)}
        self.until(lambda: os.stat(path).st_mtime_ns not in times)
        with open(path, encoding="utf-8") as f:
            self.samples(f.read())

    def test_http(self):
        port = free_port()
        self.start(*METRICS, "--port", port)
        headers, text = self.until(lambda: get(f"http://127.0.0.1:{port}/metrics"))
        self.assertIn("application/openmetrics-text", headers["Content-Type"])
        self.samples(text)

    def test_prometheus(self):
        server = installed.needed("prometheus")
        port, own = free_port(), free_port()
        self.start(*METRICS, "--port", port)
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as f:
            f.write("scrape_configs:\n- job_name: zipmpi\n  scrape_interval: 1s\n  honor_labels: true\n"
                    f"  static_configs:\n  - targets: ['127.0.0.1:{port}']\n")
        self.start(server, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                   f"--web.listen-address=127.0.0.1:{own}", "--log.level=error")
        query = urllib.parse.quote(f'zipmpi_sends_total{{job="{self.id}"}}')
        result = self.until(lambda: json.loads(get(f"http://127.0.0.1:{own}/api/v1/query?query={query}")[1])["data"]["result"])
        self.assertGreater(int(result[0]["value"][1]), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
