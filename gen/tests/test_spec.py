# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import re
import unittest

from zipmpi_gen.spec import Chapter, SpecError, parse_function

from .samples import REAL, entry, function


class Tables(unittest.TestCase):
    def test_size_of_the_interface(self):
        standard = [f for f in REAL.functions if f.chapter.number]
        self.assertEqual(len(standard), 503)
        self.assertEqual(len([e for e in REAL.entries if e.function.chapter.number]), 664)
        self.assertEqual(len([c for c in REAL.constants if not c.name.startswith(("MPIX_ERR_", "MPIX_FT"))]), 365)
        self.assertEqual(len({f.chapter.number for f in standard}), 16)
        extensions = [f.name for f in REAL.functions if not f.chapter.number]
        self.assertEqual([name for name in extensions if not name.startswith("MPIX_")], [])

    def test_ids_are_dense_and_start_at_one(self):
        self.assertEqual([e.id for e in REAL.entries], list(range(1, len(REAL.entries) + 1)))

    def test_names_are_sorted(self):
        names = [e.name for e in REAL.entries]
        self.assertEqual(names, sorted(names))

    def test_every_kind_is_used(self):
        functions = REAL.functions + [e.function for e in REAL.callbacks]
        used = {p.kind.name for f in functions for p in f.params}
        self.assertEqual(set(REAL.kinds) - used, set())

    def test_error_classes_equal_those_of_the_abi(self):
        names = {c.name for c in REAL.constants if c.name.startswith(("MPI_ERR_", "MPIX_ERR_")) or c.name == "MPI_SUCCESS"}
        self.assertEqual(set(REAL.core_names["Err"].values()), names - {"MPI_ERR_LASTCODE"})


    def test_callbacks_equal_those_of_the_type_list(self):
        def types_only(arguments):
            plain = re.sub(r"\s*\*\s*", "* ", arguments)
            return [re.sub(r"(?<=[ *])\w+$", "", word.strip()).strip() for word in plain.split(",")]

        listed = {}
        for row in REAL.typedefs:
            match = re.fullmatch(r"(\w+) \((\w+)\)\((.*)\)", row)
            if match:
                listed[match[2]] = (match[1], types_only(match[3]))
        self.assertEqual({e.name: (e.returns, types_only(e.arguments)) for e in REAL.callbacks}, listed)


    def test_collectives_have_every_form(self):
        forms = {}
        for f in REAL.functions:
            if f.form:
                forms.setdefault(f.target, []).append(f.form)
        self.assertEqual(len(forms), 22)
        for target, found in forms.items():
            self.assertEqual(sorted(found), ["blocking", "nonblocking", "persistent"], target)


class Parsing(unittest.TestCase):
    def test_types_follow_direction_and_width(self):
        params = "in BUFFER buf const\nin POLYXFER_NUM_ELEM_NNI count\nout REQUEST request\nout STATUS s[count]"
        self.assertEqual(entry(params).arguments,
                         "const void *buf, int count, MPI_Request *request, MPI_Status *s")
        self.assertIn("MPI_Count count", entry(params, wide=True).arguments)

    def test_arrays(self):
        self.assertEqual(entry("in RANK ranges[n,3]").arguments, "int ranges[][3]")
        self.assertEqual(entry("in DATATYPE types[*] const").arguments, "const MPI_Datatype types[]")

    def test_callbacks_have_a_large_count_form(self):
        params = "in POLYFUNCTION f fn=MPI_User_function"
        self.assertEqual(entry(params).arguments, "MPI_User_function *f")
        self.assertEqual(entry(params, wide=True).arguments, "MPI_User_function_c *f")

    def test_explicit_type(self):
        self.assertEqual(entry("in ARGUMENT_COUNT argc as=int").arguments, "int argc")

    def test_input_by_address(self):
        self.assertEqual(entry("in REQUEST request by-address").arguments, "MPI_Request *request")

    def test_large_only_parameters(self):
        params = "in COLOR a\nout GENERIC_DTYPE_COUNT b[a] large-only"
        self.assertEqual(entry(params).arguments, "int a")
        self.assertEqual(entry(params, wide=True).arguments, "int a, MPI_Count b[]")

    def test_invalid_parameters_are_rejected(self):
        for params in ("in BUFER buf", "into BUFFER buf", "in BUFFER", "in BUFFER buf konst"):
            with self.assertRaises(SpecError, msg=params):
                function(params)
        with self.assertRaises(SpecError):
            function("", tarket="send")
        with self.assertRaises(SpecError):
            function("", target="send", custom="send")

    def test_form_fits_the_request(self):
        request = "in COMMUNICATOR comm\nout REQUEST request"
        for params, form in (("", "blocking"), (request, "nonblocking"), (request, "persistent")):
            self.assertEqual(function(params, target="barrier", form=form).form, form)
        for params, row in ((request, {"target": "barrier", "form": "blocking"}), ("", {"target": "barrier", "form": "persistent"}),
                            ("", {"target": "barrier", "form": "lazy"}), ("", {"custom": "barrier", "form": "blocking"})):
            with self.assertRaises(SpecError, msg=row):
                function(params, **row)

    def test_target_needs_the_header_of_its_chapter(self):
        with self.assertRaises(SpecError):
            parse_function("MPI_Made_up", {"target": "send"}, Chapter("test", 99, "sample"), REAL.kinds)


if __name__ == "__main__":
    unittest.main()
