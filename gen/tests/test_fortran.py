# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen import fortran, fortran_buffers, fortran_constants, fortran_files, fortran_glue, fortran_interfaces

from .samples import REAL, ROOT, entry


def glue(params, wide=False, **row):
    return fortran_glue.definition(entry(params, wide, **row), "")


class Glue(unittest.TestCase):
    def test_handles_are_converted_in_both_directions(self):
        text = glue("in COMMUNICATOR comm\nout REQUEST request")
        self.assertIn("c_handle<MPI_Comm>(*comm)", text)
        self.assertIn("if (err == MPI_SUCCESS) *request = f_handle(c_request);", text)

    def test_inout_handle_is_stored_after_errors(self):
        self.assertRegex(glue("inout REQUEST request"), r"\n    \*request = f_handle\(c_request\);")

    def test_indices_are_one_based(self):
        text = glue("out ARRAY_LENGTH n\nout INDEX which[count] one-based used=n")
        self.assertIn("to_one_based(which, *n);", text)

    def test_string_lengths_come_last(self):
        text = glue("in STRING name const\nin COMMUNICATOR comm")
        self.assertRegex(text, r"int\* ierror, size_t name_length\)")

    def test_arguments_of_main_are_omitted(self):
        text = glue("inout ARGUMENT_COUNT argc\ninout ARGUMENT_LIST argv[argc]")
        self.assertIn("mpi_made_up_(int* ierror)", text)
        self.assertIn("MPI_Made_up({}, {})", text)

    def test_types_of_in_place_buffer_are_not_read(self):
        text = glue("in BUFFER buf const in-place\nin DATATYPE types[*] const\nin COMMUNICATOR comm")
        self.assertIn("is_in_place(buf) ? 0 : peer_count", text)


class Interfaces(unittest.TestCase):
    def test_every_function_is_in_both_modules(self):
        def declared(text):
            return set(re.findall(r"^    (?:[\w() ]+ function|subroutine) (\w+)\(", text, re.M))
        f90, f08 = declared(fortran_interfaces.f90_interfaces(REAL)), declared(fortran_interfaces.f08_interfaces(REAL))
        self.assertEqual({e.name for e in fortran.entries(REAL, "f90")} - f90, set())
        self.assertEqual({e.name + fortran.f08_suffix(e) for e in fortran.entries(REAL, "f08")} - f08, set())

    def test_large_counts_share_the_name_if_kinds_differ(self):
        f08 = fortran_interfaces.f08_interfaces(REAL)
        self.assertNotIn("interface MPI_Send_c\n", f08)
        self.assertIn("interface MPI_Op_create_c\n", f08)
        self.assertIn("interface MPI_Type_get_extent_c\n", f08)

    def test_lines_are_short(self):
        for name, text in fortran_files.fortran_files(REAL).items():
            if name.endswith(".inc"):
                self.assertEqual([line for line in text.splitlines() if len(line) > 132], [], name)


class Constants(unittest.TestCase):
    def test_committed_mpif_h_is_current(self):
        self.assertEqual((ROOT / "include/mpif.h").read_text(), fortran_files.mpif_h(REAL))

    def test_mpif_h_fits_fixed_form(self):
        self.assertEqual([line for line in fortran_files.mpif_h(REAL).splitlines() if len(line) > 72], [])

    def test_differences_from_c(self):
        values = dict(fortran_constants.integers(REAL))
        self.assertEqual(values["MPI_STATUS_SIZE"], 8)
        self.assertEqual(values["MPI_TAG"], 2)
        self.assertEqual(values["MPI_MAX_OBJECT_NAME"], 127)
        self.assertNotIn("MPI_T_BIND_MPI_COMM", values)

    def test_sentinels_match_the_glue(self):
        declared = re.findall(r"extern \w+ (\w+)_[\[;]", (ROOT / "fortran/sentinels.h").read_text())
        listed = [*fortran_constants.SENTINELS, *fortran_constants.STATUS_SENTINELS]
        self.assertEqual(sorted(declared), sorted(map(fortran_constants.common_block, listed)))


class Buffers(unittest.TestCase):
    def use(self, name):
        e = REAL.by_name[name]
        return [fortran_buffers.use_of(e, b) for b in fortran.buffers(e)]

    def test_uses_of_noncontiguous_buffers(self):
        self.assertEqual(self.use("MPI_Isend"), ["exact"])
        self.assertEqual(self.use("MPI_Allgatherv"), ["strided", "strided"])
        self.assertEqual(self.use("MPI_Reduce"), ["whole", "whole"])
        self.assertEqual(self.use("MPI_Alltoallw"), ["whole", "whole"])
        self.assertEqual(self.use("MPI_Pack"), ["exact", "whole"])
        self.assertEqual(self.use("MPI_Win_create"), ["address"])
        self.assertEqual(self.use("MPI_Psend_init"), ["strided"])

    def test_no_copy_for_nonblocking_calls(self):
        def may_copy(name):
            e = REAL.by_name[name]
            return fortran_buffers.settings(e, fortran.buffers(e)[0]).endswith("true}")
        self.assertTrue(may_copy("MPI_Reduce"))
        self.assertFalse(may_copy("MPI_Ireduce"))


if __name__ == "__main__":
    unittest.main()
