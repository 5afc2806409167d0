# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages of the conversions between C and Fortran in mpi.h: one for handles, one for statuses, under every name."""

from .header import converted_handles
from .roff import Page, quoted

STATUSES = (("f2c", "const MPI_Fint *f_status, MPI_Status *c_status"), ("c2f", "const MPI_Status *c_status, MPI_Fint *f_status"),
            ("f082c", "const MPI_F08_status *f08_status, MPI_Status *c_status"),
            ("c2f08", "const MPI_Status *c_status, MPI_F08_status *f08_status"),
            ("f2f08", "const MPI_Fint *f_status, MPI_F08_status *f08_status"),
            ("f082f", "const MPI_F08_status *f08_status, MPI_Fint *f_status"))


def page_of(prototypes, about, text, version):
    names = [prototype.partition("(")[0].rpartition(" ")[2] for prototype in prototypes]
    page = Page(names[0], 3, version)
    page.section("NAME")
    page.raw(", ".join(names) + f" \\- {quoted(about)[1:-1]}\n")
    page.section("SYNOPSIS")
    page.raw(".B #include <mpi.h>\n.PP\n.nf\n" + "".join(f".B {quoted(p)}\n" for p in prototypes) + ".fi\n")
    page.section("DESCRIPTION")
    page.text(text)
    page.section("SEE ALSO")
    page.text("The MPI standard, chapter 19, Language Bindings. mpifort(1).")
    files = {f"man3/{name}.3": f".so man3/{names[0]}.3\n" for name in names[1:]}
    files[f"man3/{names[0]}.3"] = page.finish()
    return files


def pages(spec, version):
    handles = []
    for name in converted_handles(spec):
        c_type = "MPI_Datatype" if name == "MPI_Type" else name
        handles += [f"MPI_Fint {name}_c2f({c_type} handle);", f"{c_type} {name}_f2c(MPI_Fint handle);"]
    files = page_of(handles, "convert handles between C and Fortran",
                    "A Fortran handle is an INTEGER, in mpi_f08 the component MPI_VAL. These macros return the handle of the same "
                    "object in the other language; they expand to the functions that end in _toint and _fromint.", version)
    statuses = [f"int MPI_Status_{name}({arguments});" for name, arguments in STATUSES]
    files.update(page_of(statuses, "convert statuses between C and Fortran",
                         "A status has the same bytes in C, in mpif.h and module mpi (an array of MPI_STATUS_SIZE integers), and in "
                         "mpi_f08: these functions copy it. MPI_STATUS_IGNORE and its Fortran forms are not allowed.", version))
    return files
