# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen import invalid_args
from zipmpi_gen.invalid_args import Call

from .samples import REAL, entry


def cases(params, **words):
    """(argument, class) of every invalid call of a function with these parameters."""
    call = Call(REAL, entry(params, target="f", **words))
    return {(wrong.value, wrong.error) for p in call.entry.params for wrong in call.wrong(p)}


class InvalidArguments(unittest.TestCase):
    def test_rank_depends_on_marks(self):
        comm = "in COMMUNICATOR comm\n"
        self.assertIn(("MPI_ANY_SOURCE", "MPI_ERR_RANK"), cases(comm + "in RANK dest peer"))
        self.assertNotIn(("MPI_PROC_NULL", "MPI_ERR_RANK"), cases(comm + "in RANK dest peer"))
        self.assertNotIn(("MPI_ANY_SOURCE", "MPI_ERR_RANK"), cases(comm + "in RANK source peer wild"))
        self.assertIn(("1", "MPI_ERR_ROOT"), cases(comm + "in RANK root root"))

    def test_handle(self):
        found = cases("in COMMUNICATOR comm")
        for value in ("MPI_COMM_NULL", "freed_comm", "(MPI_Comm)MPI_SUM"):
            self.assertIn((value, "MPI_ERR_COMM"), found)
        self.assertNotIn(("NULL", "MPI_ERR_ARG"), found)
        self.assertIn(("NULL", "MPI_ERR_ARG"), cases("inout COMMUNICATOR comm"))

    def test_valid_null_handles(self):
        self.assertNotIn(("MPI_INFO_NULL", "MPI_ERR_INFO"), cases("in INFO info"))
        self.assertNotIn(("in_variable_request(MPI_REQUEST_NULL)", "MPI_ERR_REQUEST"), cases("inout REQUEST request optional"))

    def test_counts_buffers_and_types(self):
        message = "in BUFFER buf\nin POLYXFER_NUM_ELEM_NNI count\nin DATATYPE datatype"
        found = cases(message)
        self.assertLessEqual({("-1", "MPI_ERR_COUNT"), ("NULL", "MPI_ERR_BUFFER"), ("MPI_IN_PLACE", "MPI_ERR_BUFFER"),
                              ("raw_datatype", "MPI_ERR_TYPE")}, found)
        self.assertNotIn(("MPI_IN_PLACE", "MPI_ERR_BUFFER"), cases(message.replace("buf\n", "buf in-place\n")))

    def test_generated_calls(self):
        text = invalid_args.invalid_args(REAL)
        called = set(re.findall(r"end_case\((MPI_\w+)\(", text))
        checked = [e for e in REAL.entries if invalid_args.can_be_called(e) and e.params]
        self.assertGreater(len(called), len(checked) * 0.9)
        self.assertFalse(called & {e.name for e in REAL.entries if not e.function.implemented})


if __name__ == "__main__":
    unittest.main()
