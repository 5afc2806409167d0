# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A real sshd on hosts n2 and n3, with own keys: a start that waits for it, and one as the Kubernetes MPI operator makes it.

mpiexec runs on n1, which has no sshd, like the operator's launcher. Needs the package openssh-server, and root."""
import os
import subprocess
import time

from harness import EXCHANGE, ClusterCase, CannotRun, main, wait_until

SSHD = "/usr/sbin/sshd"
PRIVILEGE_FOLDER = "/run/sshd"  # demanded by Debian's sshd
LATE = 10  # seconds
FOLDER = os.environ["TEST_MPI_FOLDER"]

SSHD_CONFIG = """ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin prohibit-password
"""
SSH_CONFIG = """Host n2
    HostName 10.99.0.2
Host n3
    HostName 10.99.0.3
Host *
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
"""


class Sshd(ClusterCase):
    HOSTS = 3

    @classmethod
    def setUpClass(cls):
        if not os.access(SSHD, os.X_OK):
            raise CannotRun("no sshd (package openssh-server)")
        super().setUpClass()
        if not os.path.isdir(PRIVILEGE_FOLDER):
            os.mkdir(PRIVILEGE_FOLDER, 0o755)
            cls.addClassCleanup(os.rmdir, PRIVILEGE_FOLDER)
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.path(name)], check=True)
        with open(cls.path("host_key.pub")) as f:
            key = " ".join(f.read().split()[:2])
        cls.write("known_hosts", f"10.99.0.2,10.99.0.3 {key}\n")
        cls.write("ssh_config", SSH_CONFIG)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.cluster.folder, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w") as f:
            f.write(text.replace("{folder}", cls.cluster.folder))

    def start_sshd(self, host):
        self.write("sshd_config." + host, SSHD_CONFIG.replace("{address}", self.cluster[host].address))
        log = open(self.path("log." + host), "w")  # noqa: SIM115 closed by the cleanup
        self.addCleanup(log.close)
        p = self.cluster.start(host, [SSHD, "-D", "-e", "-f", self.path("sshd_config." + host)], stderr=log)
        self.addCleanup(p.wait)
        self.addCleanup(lambda: [os.kill(pid, 9) for pid in self.cluster.pids(host)])
        self.assertTrue(wait_until(lambda: "listening" in self.log(host), 10), self.log(host))

    def log(self, host):
        with open(self.path("log." + host)) as f:
            return f.read()

    def job(self, *words, **variables):
        """mpiexec on n1 as users call it: no launch agent is named."""
        env = {"HOME": self.cluster.folder, **variables}
        return self.cluster.start("n1", [os.environ["TEST_MPIEXEC"], *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)

    def end_of(self, p):
        out, err = p.communicate(timeout=40)
        self.assertEqual(p.returncode, 0, out + err + "".join(self.log(h) for h in ("n2", "n3")))
        return out, err

    def test_sshd_that_starts_late(self):
        self.start_sshd("n2")
        begin = time.monotonic()
        p = self.job("--launch-agent", "ssh -o BatchMode=yes -F " + self.path("ssh_config"), "-n", "2", "--host", "n2,n3", EXCHANGE,
                     ZIPMPI_LAUNCH_HOST_WAIT="30")
        time.sleep(LATE)
        self.assertIsNone(p.poll())
        self.start_sshd("n3")
        out, err = self.end_of(p)
        self.assertEqual(len(out.splitlines()), 2, out)
        self.assertEqual(err.splitlines(), ["mpiexec: waiting up to 30 s for host n3: ssh: connect to host 10.99.0.3 port 22: "
                                            "Connection refused"])
        self.assertLess(time.monotonic() - begin, LATE + 10)

    def test_start_of_the_kubernetes_operator(self):
        """The variables of its version v2beta1 for Open MPI, and its host file; the configuration of ssh is in the image."""
        for host in ("n2", "n3"):
            self.start_sshd(host)
        self.write("hostfile.operator", "n2 slots=2\nn3 slots=2\n")
        p = self.job(os.path.join(FOLDER, "collectives"), K_MPI_JOB_ROLE="launcher",
                     OMPI_MCA_orte_keep_fqdn_hostnames="true", OMPI_MCA_orte_set_default_slots="2",
                     OMPI_MCA_orte_default_hostfile=self.path("hostfile.operator"),
                     OMPI_MCA_plm_rsh_args="-o ConnectionAttempts=10 -F " + self.path("ssh_config"))
        out, err = self.end_of(p)
        self.assertEqual(err, "")
        self.assertIn("collectives: ok", out)
        for host in ("n2", "n3"):
            self.assertIn("Accepted publickey", self.log(host))


if __name__ == "__main__":
    main()
