# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen import device, entries, freeing
from zipmpi_gen.freeing import FreeingCall, freeing_entries, taken

from .samples import REAL, entry

# Functions that do not free a handle, or get it by value.
WITHOUT_HANDLE = {"MPI_Free_mem", "MPI_Close_port", "MPI_Finalize", "MPI_Finalized", "MPI_Is_finalized"}


class Freeing(unittest.TestCase):
    def test_functions_that_free_by_name_are_found(self):
        found = {e.name for e in freeing_entries(REAL)}
        for e in REAL.entries:
            frees = re.search(r"_free|_close|_disconnect|_finalize|Keyval_free|[Mm]recv$|_Wait", e.name)
            if frees and e.function.errors != "tool" and e.name not in WITHOUT_HANDLE:
                self.assertIn(e.name, found)

    def test_functions_are_found_by_their_parameters(self):
        self.assertTrue(any(map(taken, entry("inout WINDOW win").params)))
        self.assertTrue(any(map(taken, entry("inout KEYVAL key").params)))
        self.assertTrue(any(map(taken, entry("in ARRAY_LENGTH n\ninout REQUEST requests[n]").params)))
        self.assertFalse(any(map(taken, entry("in WINDOW win\ninout BUFFER buf").params)))

    def test_body_equals_that_of_the_library(self):
        text = freeing.freeing_entry_file(REAL)
        for e in freeing_entries(REAL):
            calls = 2 if device.buffers(e) else 1
            self.assertEqual(entries.call_body(e, "spoiled({})").count("spoiled("), calls, e.name)
            plain = entries.call_body(e)
            self.assertIn(re.sub(r"entry\.err = ((?:core|custom)::.*);", r"entry.err = spoiled(\1);", plain), text)

    def test_every_function_is_called(self):
        text = freeing.freeing_calls(REAL)
        for e in freeing_entries(REAL):
            self.assertIn(f'{{"{e.name}", kind_', text)

    def test_generated_call(self):
        call = FreeingCall(REAL, REAL.by_name["MPI_Waitany"])
        self.assertIn("(1, &o->request, (void *)scratch, MPI_STATUS_IGNORE)", call.lines())
        self.assertIn("kind_request", call.row())


if __name__ == "__main__":
    unittest.main()
