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
    def test_a_send_is_checked_guarded_and_passed_on(self):
        send = text("MPI_Send")
        for part in ("entry.running()", 'entry.on(comm, comm_, "comm")', 'entry.count(count, "count")',
                     'entry.peer(dest, comm_, "dest")', 'entry.tag(tag, "tag")', "Guard<Lock::yes>",
                     "core::send(buf, count, *datatype_, dest, tag, *comm_)"):
            self.assertIn(part, send)

    def test_the_communicator_is_checked_first(self):
        send = text("MPI_Send")
        self.assertLess(send.index("entry.on("), send.index("entry.count("))

    def test_a_near_call_is_tried_before_anything_is_checked(self):
        put = text("MPI_Put")
        arguments = "(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)"
        self.assertIn("if (near::put" + arguments, put)
        self.assertIn("return checked_Put" + arguments, put)
        self.assertNotIn("entry.", put[put.index("int PMPI_Put("):])

    def test_errors_of_files_go_to_their_handlers(self):
        self.assertIn("FileEntry entry{{", text("MPI_File_open"))
        self.assertIn("FileEntry entry{{", text("MPI_File_delete"))
        self.assertIn('entry.on(fh, fh_, "fh")', text("MPI_File_read_at"))

    def test_only_receives_take_wildcards(self):
        self.assertIn("entry.source(source", text("MPI_Recv"))
        self.assertIn("entry.tag_or_any(tag", text("MPI_Recv"))
        both = text("MPI_Sendrecv")
        self.assertIn("entry.tag(sendtag", both)
        self.assertIn("entry.tag_or_any(recvtag", both)

    def test_arguments_that_count_at_the_root_only(self):
        gather = text("MPI_Gather")
        self.assertIn('(!at_root || entry.handle(recvtype, recvtype_, "recvtype"))', gather)
        self.assertIn('(is_in_place(sendbuf) || stands_by(*comm_, root) || entry.count(sendcount, "sendcount"))', gather)

    def test_requests_and_statuses_of_arrays_are_written_back(self):
        waitsome = text("MPI_Waitsome")
        self.assertIn("array_of_requests_.store(array_of_requests);", waitsome)
        self.assertIn("array_of_statuses_.store(array_of_statuses, *outcount,", waitsome)

    def test_a_look_at_requests_writes_none_back(self):
        look = text("MPI_Request_get_status_some")
        self.assertIn("array_of_requests_.load(", look)
        self.assertNotIn("array_of_requests_.store(", look)

    def test_an_input_by_address_is_loaded_and_never_stored(self):
        cancel = text("MPI_Cancel")
        self.assertIn('entry.out(request, "request")', cancel)
        self.assertIn('entry.handle(*request, request_, "request")', cancel)
        self.assertNotIn("handle_of", cancel)

    def test_arrays_of_datatypes_go_in_and_out(self):
        self.assertIn('array_of_types_.load(entry, count, array_of_types, "array_of_types")',
                      text("MPI_Type_create_struct"))
        contents = text("MPI_Type_get_contents")
        self.assertIn("array_of_datatypes_.prepare(entry, max_datatypes, array_of_datatypes,", contents)
        self.assertIn("array_of_datatypes_.store(array_of_datatypes);", contents)
        self.assertIn("array_of_integers, array_of_addresses, array_of_datatypes_.data()", contents)

    def test_an_array_without_elements_may_be_null(self):
        self.assertIn('entry.out_array(array_of_displacements, count, "array_of_displacements")',
                      text("MPI_Type_indexed"))

    def test_a_target_may_ask_which_form_was_called(self):
        self.assertIn("core::type_contiguous(count, *oldtype_, newtype_, false)", text("MPI_Type_contiguous"))
        self.assertIn("core::type_contiguous(count, *oldtype_, newtype_, true)", text("MPI_Type_contiguous_c"))

    def test_errors_of_a_message_go_to_its_communicator(self):
        self.assertIn("entry.on_owner_of(message_);", text("MPI_Mrecv"))

    def test_the_automatic_buffer_is_translated(self):
        self.assertIn("core::buffer_attach(own_buffer(buffer), size)", text("MPI_Buffer_attach"))
        self.assertIn("face_buffer(buffer_addr_)", text("MPI_Buffer_detach_c"))

    def test_a_function_that_may_be_called_any_time(self):
        self.assertNotIn("running", text("MPI_Initialized"))

    def test_values_are_returned_as_they_are(self):
        self.assertIn("    return core::wtime();", text("MPI_Wtime"))

    def test_the_profiling_name_is_the_strong_one(self):
        self.assertRegex(text("MPI_Send"), r'int MPI_Send\((?s:.*)\)\s+__attribute__\(\(weak, alias\("PMPI_Send"\)\)\)')


class Missing(unittest.TestCase):
    def test_no_argument_is_touched_but_the_communicator(self):
        for params in ("in INFO info", "in COMMUNICATOR comm\nin INFO info"):
            e = entry(params)
            self.assertRegex(entries.missing_body(e), r"^    return unsupported\(\d+(, (true|false)(, \w+)?)?\);\n$", e.name)

    def test_its_communicator_says_which_handler_is_called(self):
        self.assertIn("comm);", entries.missing_body(entry("in COMMUNICATOR comm\nin INFO info")))

    def test_a_value_cannot_be_missing(self):
        with self.assertRaises(SpecError):
            entries.body(entry("in HANDLE_INT i", returns="MPI_Comm"))


class Tool(unittest.TestCase):
    def test_arguments_go_through_within_the_interface(self):
        self.assertIn("[&] { return custom::tool_cvar_read(handle, buf); });", text("MPI_T_cvar_read"))

    def test_what_is_not_locked_works_before_it_is_initialised(self):
        self.assertIn(", custom::tool_init_thread(required, provided));", text("MPI_T_init_thread"))


class Fairness(unittest.TestCase):
    def test_no_function_is_known_by_name(self):
        """What is special about a function is said in its table, not in the generator."""
        names = {e.name for e in REAL.entries}
        for path in (ROOT / "gen/zipmpi_gen").glob("*.py"):
            if path.name == "probes.py":  # writes whole programs
                continue
            known = names & set(re.findall(r"MPI_\w+", re.sub(r'"""(?s:.*?)"""|#.*|// .*', "", path.read_text())))
            self.assertEqual(known, set(), path.name)


if __name__ == "__main__":
    unittest.main()
