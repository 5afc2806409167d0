# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in device memory."""

import unittest

from zipmpi_gen import device, entries

from .samples import REAL


def text(name):
    return entries.call_body(REAL.by_name[name])


class DeviceBuffers(unittest.TestCase):
    def test_every_buffer_is_handled(self):
        for e in REAL.entries:
            for p in device.buffers(e):
                self.assertRegex(text(e.name), rf"buffers\.(read|write|require_host)\({p.name}, ", e.name)

    def test_only_constant_buffers_are_not_copied_back(self):
        self.assertIn("buffers.read(buf, ", text("MPI_Send"))
        self.assertIn("buffers.write(buf, ", text("MPI_Recv"))
        self.assertIn("buffers.write(buf, ", text("MPI_Precv_init"))

    def test_parts(self):
        for name, expected in (("MPI_Send", "elements(count, *datatype_)"),
                               ("MPI_Allgather", "elements(int64_t{recvcount} * core::size_of(*comm_), *recvtype_)"),
                               ("MPI_Neighbor_alltoallv", "*sendtype_, core::destinations_of(*comm_))"),
                               ("MPI_Alltoallw", "sendtypes_.data(), core::size_of(*comm_))"),
                               ("MPI_Psend_init", "partitions(partitions, count, *datatype_)"),
                               ("MPI_Fetch_and_op", "elements(1, *datatype_)"),
                               ("MPI_Pack", "bytes(outsize)")):
            self.assertIn("core::device::" + expected if "(" in expected[:12] else expected, text(name), name)

    def test_buffers_without_meaning_are_left_alone(self):
        self.assertIn("if (at_root) recvbuf = buffers.write(recvbuf", text("MPI_Gather"))
        self.assertIn("if (!(op == MPI_NO_OP)) origin_addr = buffers.read(origin_addr", text("MPI_Get_accumulate"))
        self.assertIn("if (!is_in_place(sendbuf)) sendbuf = buffers.read(sendbuf", text("MPI_Allreduce"))

    def test_completion(self):
        self.assertIn("buffers.finish(entry.err, request_)", text("MPI_Irecv"))
        self.assertIn("buffers.finish(entry.err, *win_, target_rank)", text("MPI_Get"))
        self.assertIn("buffers.finish(entry.err);", text("MPI_Recv"))

    def test_other_functions_have_no_branch(self):
        self.assertNotIn("may_have_device_buffers", text("MPI_Barrier") + text("MPI_Get_address"))
