# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen import entries
from zipmpi_gen.spec import SpecError

from .samples import REAL, ROOT, entry


def text(name):
    return entries.entry_point(REAL.by_name[name])


class Implemented(unittest.TestCase):
    def test_send_is_checked_guarded_and_called(self):
        send = text("MPI_Send")
        for part in ("entry.running()", 'entry.on(comm, comm_, "comm")', 'entry.count(count, "count")',
                     'entry.peer(dest, comm_, "dest")', 'entry.tag(tag, "tag")', "CallGuard<Lock::yes>",
                     "core::send(buf, count, *datatype_, dest, tag, *comm_)"):
            self.assertIn(part, send)

    def test_communicator_is_checked_first(self):
        send = text("MPI_Send")
        self.assertLess(send.index("entry.on("), send.index("entry.count("))

    def test_fast_path_precedes_checks(self):
        put = text("MPI_Put")
        arguments = "(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)"
        self.assertIn("if (rma_fast::put" + arguments, put)
        self.assertIn("return checked_Put" + arguments, put)
        self.assertNotIn("entry.", put[put.index("int PMPI_Put("):])

    def test_file_errors_use_file_handlers(self):
        self.assertIn("FileEntry entry{{", text("MPI_File_open"))
        self.assertIn("FileEntry entry{{", text("MPI_File_delete"))
        self.assertIn('entry.on(fh, fh_, "fh")', text("MPI_File_read_at"))

    def test_only_receives_accept_wildcards(self):
        self.assertIn("entry.source(source", text("MPI_Recv"))
        self.assertIn("entry.tag_or_any(tag", text("MPI_Recv"))
        both = text("MPI_Sendrecv")
        self.assertIn("entry.tag(sendtag", both)
        self.assertIn("entry.tag_or_any(recvtag", both)

    def test_root_only_arguments(self):
        gather = text("MPI_Gather")
        self.assertIn('(!at_root || entry.handle(recvtype, recvtype_, "recvtype"))', gather)
        self.assertIn('(is_in_place(sendbuf) || is_bystander(*comm_, root) || entry.count(sendcount, "sendcount"))', gather)

    def test_operation_is_not_checked_where_it_is_not_significant(self):
        self.assertIn("(is_uninvolved(*comm_, root) || entry.reducible(*op_, *datatype_))", text("MPI_Reduce"))
        self.assertNotIn("is_uninvolved", text("MPI_Allreduce"))

    def test_request_and_status_arrays_are_stored(self):
        waitsome = text("MPI_Waitsome")
        self.assertIn("array_of_requests_.store(array_of_requests);", waitsome)
        self.assertIn("array_of_statuses_.store(array_of_statuses, *outcount,", waitsome)
        self.assertIn("array_of_requests_.store_at(array_of_requests, *indx);", text("MPI_Testany"))

    def test_statuses_are_stored_only_if_the_flag_is_true(self):
        for name in ("MPI_Testall", "MPI_Request_get_status_all"):
            self.assertIn("array_of_statuses_.store(array_of_statuses, flag_ ? count : 0, ", text(name))

    def test_status_queries_store_no_requests(self):
        query = text("MPI_Request_get_status_some")
        self.assertIn("array_of_requests_.load(", query)
        self.assertNotIn("array_of_requests_.store(", query)

    def test_input_by_address_is_not_stored(self):
        cancel = text("MPI_Cancel")
        self.assertIn('entry.out(request, "request")', cancel)
        self.assertIn('entry.handle(*request, request_, "request")', cancel)
        self.assertNotIn("handle_of", cancel)

    def test_datatype_arrays_as_input_and_output(self):
        self.assertIn('array_of_types_.load(entry, count, array_of_types, "array_of_types")',
                      text("MPI_Type_create_struct"))
        contents = text("MPI_Type_get_contents")
        self.assertIn("array_of_datatypes_.prepare(entry, max_datatypes, array_of_datatypes,", contents)
        self.assertIn("array_of_datatypes_.store(array_of_datatypes);", contents)
        self.assertIn("array_of_integers, array_of_addresses, array_of_datatypes_.data()", contents)

    def test_empty_array_may_be_null(self):
        self.assertIn('entry.out_array(array_of_displacements, count, "array_of_displacements")',
                      text("MPI_Type_indexed"))

    def test_pass_large(self):
        self.assertIn("core::type_contiguous(count, *oldtype_, newtype_, false)", text("MPI_Type_contiguous"))
        self.assertIn("core::type_contiguous(count, *oldtype_, newtype_, true)", text("MPI_Type_contiguous_c"))

    def test_call_form_holds_the_request(self):
        arguments = "sendbuf, recvbuf, count, *datatype_, *op_, *comm_)"
        self.assertIn(f"core::allreduce(core::CallForm::blocking(), {arguments}", text("MPI_Allreduce"))
        self.assertIn(f"core::allreduce(core::CallForm::nonblocking(request_), {arguments}", text("MPI_Iallreduce_c"))
        self.assertIn(f"core::allreduce(core::CallForm::persistent(request_), {arguments}", text("MPI_Allreduce_init"))

    def test_info_of_a_persistent_collective_is_checked(self):
        self.assertIn('entry.optional_handle(info, info_, "info")', text("MPI_Barrier_init"))

    def test_message_errors_use_its_communicator(self):
        self.assertIn("entry.on_comm_of(message_);", text("MPI_Mrecv"))

    def test_automatic_buffer_is_converted(self):
        self.assertIn("custom::buffer_attach(from_abi_buffer(buffer), size)", text("MPI_Buffer_attach"))
        self.assertIn("to_abi_buffer(buffer_addr_)", text("MPI_Buffer_detach_c"))

    def test_anytime(self):
        self.assertNotIn("running", text("MPI_Initialized"))

    def test_values_are_returned_unchanged(self):
        self.assertIn("    return core::wtime();", text("MPI_Wtime"))

    def test_profiling_name_is_strong(self):
        self.assertRegex(text("MPI_Send"), r'int MPI_Send\((?s:.*)\)\s+__attribute__\(\(weak, alias\("PMPI_Send"\)\)\)')


class Includes(unittest.TestCase):
    def test_every_target_is_in_the_header_of_its_chapter(self):
        for f in REAL.functions:
            if f.target:
                header = (ROOT / f"src/core/api/{f.chapter.api}.hpp").read_text()
                self.assertRegex(header, rf"\b{f.target}\(", f.name)

    def test_chapter_includes_what_it_calls(self):
        for key, expected in (("part", ["abi/arrays.hpp", "abi/entry.hpp", "core/api/partitioned.hpp",
                                        "core/device/call_buffers.hpp"]),
                              ("dep", ["abi/arrays.hpp", "abi/custom.hpp", "abi/entry.hpp", "core/api/datatype.hpp"])):
            chapter = next(c for c in REAL.chapters if c.key == key)
            found = re.findall('#include "(.*)"', entries.chapter_file(REAL, chapter))
            self.assertEqual(found, expected, key)


class Missing(unittest.TestCase):
    def test_only_the_communicator_is_used(self):
        for params in ("in INFO info", "in COMMUNICATOR comm\nin INFO info"):
            e = entry(params)
            self.assertRegex(entries.missing_body(e), r"^    return unsupported\(\d+(, (true|false)(, \w+)?)?\);\n$", e.name)

    def test_communicator_determines_the_handler(self):
        self.assertIn("comm);", entries.missing_body(entry("in COMMUNICATOR comm\nin INFO info")))

    def test_function_with_value_must_be_implemented(self):
        with self.assertRaises(SpecError):
            entries.body(entry("in HANDLE_INT i", returns="MPI_Comm"))


class Tool(unittest.TestCase):
    def test_arguments_are_passed_unchanged(self):
        self.assertIn("[&] { return custom::tool_cvar_read(handle, buf); });", text("MPI_T_cvar_read"))

    def test_unlocked_functions_work_before_initialization(self):
        self.assertIn(", custom::tool_init_thread(required, provided));", text("MPI_T_init_thread"))


class NoFunctionNames(unittest.TestCase):
    def test_generator_contains_no_function_name(self):
        """Special properties of a function belong in its table, not in the generator."""
        names = {e.name for e in REAL.entries}
        for path in (ROOT / "gen/zipmpi_gen").glob("*.py"):
            if path.name == "probes.py":  # writes whole programs
                continue
            known = names & set(re.findall(r"MPI_\w+", re.sub(r'"""(?s:.*?)"""|#.*|// .*', "", path.read_text())))
            self.assertEqual(known, set(), path.name)


if __name__ == "__main__":
    unittest.main()
