# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Start of MPI in processes of torchrun, which has no MPI launcher: each process serves PMI-1 to itself, and the key-value store
of torch.distributed has the keys of all ranks."""
import os
import socket
import threading
import uuid

PREFIX = "zipmpi/pmi/"


class _Server(threading.Thread):
    """Answers one client, line by line."""

    def __init__(self, end, store, rank, size):
        super().__init__(daemon=True, name="zipmpi-pmi")
        self.end, self.store, self.rank, self.size = end, store, rank, size
        self.barriers = 0
        self.job = self._agree_on_job()

    def _agree_on_job(self):
        if self.rank == 0:
            self.store.set(PREFIX + "job", "torch-" + uuid.uuid4().hex)
        return self.store.get(PREFIX + "job").decode()

    def _barrier(self):
        self.barriers += 1
        key = f"{PREFIX}barrier/{self.barriers}"
        if self.store.add(key, 1) == self.size:
            self.store.set(key + "/done", "1")
        self.store.get(key + "/done")  # waits for the key

    def _reply(self, command, words):
        if command == "init":
            return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        if command == "get_maxes":
            return "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=65536"
        if command == "get_my_kvsname":
            return "cmd=my_kvsname kvsname=" + self.job
        if command == "get_appnum":
            return "cmd=appnum appnum=0"
        if command == "get_universe_size":
            return f"cmd=universe_size size={self.size}"
        if command == "put":
            self.store.set(PREFIX + "key/" + words["key"], words["value"])
            return "cmd=put_result rc=0 msg=success"
        if command == "get":
            if words["key"] == "PMI_process_mapping":  # MPI finds the processes of a host itself
                return "cmd=get_result rc=-1 msg=not_found"
            value = self.store.get(PREFIX + "key/" + words["key"]).decode()
            return "cmd=get_result rc=0 msg=success value=" + value
        if command == "barrier_in":
            self._barrier()
            return "cmd=barrier_out rc=0"
        if command == "finalize":
            return "cmd=finalize_ack rc=0"
        if command == "abort":
            os._exit(int(words.get("exitcode", 1)))
        return f"cmd={command} rc=-1 msg=unknown_command"

    def run(self):
        with self.end, self.end.makefile("rw", newline="\n") as lines:
            for line in lines:
                words = dict(word.split("=", 1) for word in line.split() if "=" in word)
                lines.write(self._reply(words.get("cmd", ""), words) + "\n")
                lines.flush()


def serve(store, rank, size):
    """Lets MPI_Init of this process find its rank and the other processes."""
    own, client = socket.socketpair()
    server = _Server(own, store, rank, size)
    os.environ.update(PMI_FD=str(client.detach()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    server.start()
