# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Libraries for the ABIs of other MPI libraries."""

import unittest

from zipmpi_gen import binding_header, entries, fortran_binding, special, spec, symbols, values

from .samples import REAL, ROOT

OPENMPI = spec.load(ROOT / "spec", "openmpi")
MPICH = spec.load(ROOT / "spec", "mpich")


def point(tables, name):
    return entries.entry_point(tables.by_name[name], tables)


class TablesTest(unittest.TestCase):
    def test_every_constant_of_core_has_a_value(self):
        for tables in (OPENMPI, MPICH):
            own = {c.name for c in tables.constants}
            for section, names in tables.core_names.items():
                if section in ("special", "tool"):
                    continue
                self.assertLessEqual(set(names.values()), own, f"{tables.abi.name} {section}")

    def test_handle_objects_have_the_code_of_the_standard(self):
        codes = {c.name for c in REAL.constants} | {"MPI_LB", "MPI_UB"}
        for handle in OPENMPI.abi.objects:
            self.assertIn(handle.constant, codes, handle.name)
        self.assertIn("HandleObject512 ompi_mpi_comm_world = {0x00000101, {}};", binding_header.objects_cpp(OPENMPI))

    def test_markers_have_codes_that_the_standard_does_not_use(self):
        codes = OPENMPI.handle_codes()
        for marker in ("MPI_LB", "MPI_UB"):
            self.assertNotIn(int(codes[marker], 0), {int(c.value, 0) for c in REAL.constants_of("MPI_Datatype")})
        self.assertNotIn("MPI_LB", values.abi_values_hpp(REAL))

    def test_fortran_numbers_are_unique_per_type(self):
        own = {c.name: c.c_type for c in OPENMPI.constants}
        seen = [(own[name], number) for name, number in OPENMPI.abi.fortran_handles]
        self.assertEqual(len(seen), len(set(seen)))


class ConversionTest(unittest.TestCase):
    def test_the_standard_needs_none(self):
        self.assertEqual(special.differing(REAL), set())
        self.assertNotIn("from_abi_rank", point(REAL, "MPI_Recv"))

    def test_only_special_values_are_converted(self):
        text = point(OPENMPI, "MPI_Send")
        self.assertIn("dest = values::from_abi_rank(dest);", text)
        self.assertNotIn("from_abi_tag", text, "a send has no wildcard")
        self.assertIn("tag = values::from_abi_tag(tag);", point(OPENMPI, "MPI_Recv"))
        self.assertIn("convert_each(ranks2, n, values::to_abi_rank);", point(MPICH, "MPI_Group_translate_ranks"))
        self.assertIn("assert = values::from_abi_assertion(assert);", point(MPICH, "MPI_Win_fence"))

    def test_in_place_only_where_it_differs(self):
        self.assertIn("from_abi_in_place(sendbuf)", point(MPICH, "MPI_Allreduce"))
        self.assertNotIn("from_abi_in_place", point(OPENMPI, "MPI_Allreduce"))

    def test_fields_of_a_status_are_not_converted(self):
        self.assertNotIn("_abi_", point(MPICH, "MPI_Status_set_source"))
        self.assertNotIn("_abi_", point(MPICH, "MPI_Status_get_tag"))

    def test_a_value_that_only_core_uses_is_invalid(self):
        text = values.abi_values_hpp(OPENMPI)
        self.assertIn("value == core::proc_null", text)


class NamesTest(unittest.TestCase):
    def test_other_names(self):
        self.assertIn('int MPI_Address(const void *location, MPI_Aint *address) __attribute__((weak, alias("PMPI_Get_address")));',
                      point(OPENMPI, "MPI_Get_address"))
        names = symbols.symbol_names(OPENMPI)
        self.assertIn("ompi_mpi_int", names)
        self.assertIn("PMPIX_Bcast_init", names)
        self.assertNotIn("MPI_Address", symbols.symbol_names(REAL))

    def test_manglings_of_fortran(self):
        script = fortran_binding.version_script(OPENMPI)
        for name in ("mpi_send_", "mpi_send", "mpi_send__", "MPI_SEND", "MPI_Send_f", "MPI_Send_f08", "ompi_send_f", "pmpi_send_",
                     "ompix_bcast_init_f", "mpi_alloc_mem_cptr_", "MPI_Alloc_mem_cptr_f08", "ompi_alloc_mem_cptr_f"):
            self.assertIn(f"    {name};\n", script)


if __name__ == "__main__":
    unittest.main()
