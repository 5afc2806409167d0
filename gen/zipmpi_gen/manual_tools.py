# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages of programs (section 1), out of what they print for --help, and of the knobs (section 7)."""

import json
import os
import pathlib
import re
import subprocess

from .command_line import read as read_options
from .command_line_docs import manual_sections
from .roff import Page, escape

OPTIONS = pathlib.Path(__file__).resolve().parents[2] / "launch/mpiexec/options.toml"

DAEMONS = {
    "zipmpi-noded": ("starts the ranks of a job on one host",
                     "A daemon that mpiexec(1) starts on each further host of a job through its launch agent (ssh). It reads "
                     "from its standard input who it is, starts the ranks of its host, serves PMI to them, collects their "
                     "output and ends with the job. It is not started by hand; zipmpi\\-noded \\-\\-version prints its version, "
                     "which must be that of mpiexec."),
    "zipmpi-gateway": ("passes messages on between clusters that share no network",
                       "Started by the daemons of a job with mpiexec \\-\\-grid on the hosts that the grid file names as "
                       "gateways, and again when it dies. It is not started by hand. zipmpi top \\-\\-gateway shows what the "
                       "gateways of a host do; the guide has a chapter about them (bridge.md)."),
}
SEE_ALSO = "mpiexec(1), zipmpi(1), mpicc(1), zipmpi\\-knobs(7). The guide: share/doc of the installation, guide/README.md."


def output_of(command):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ZIPMPI_")}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def head(name, about, synopsis, version):
    page = Page(name, 1, version)
    page.section("NAME")
    page.raw(f"{escape(name)} \\- {escape(about)}\n")
    page.section("SYNOPSIS")
    for line in synopsis:
        page.raw(f".B {escape(line)}\n.br\n")
    return page


def end(page):
    page.section("SEE ALSO")
    page.text(SEE_ALSO, escaped=True)
    return page.finish()


def options(page, text):
    """The options of a help text: a line for each, '  --name,-n VALUE  what it does', and lines that go on."""
    found = []
    for line in text.splitlines():
        line = re.sub(r"\s*(?:(?:Needs|Excludes|REQUIRED):?(?:\s+--[\w-]+)+)+\s*", "  ", line)
        begin = re.match(r"  (-\S.*?)(?:\s{2,}(\S.*))?$", line)
        more = re.match(r"\s{20,}(\S.*)$", line)
        if begin:
            found.append([re.sub(r"\s+", " ", begin[1]), begin[2] or ""])
        elif more and found:
            found[-1][1] = (found[-1][1] + " " + more[1]).strip()
        elif line.startswith("Examples"):
            break
    for name, about in found:
        page.item(name, about)


def mpiexec_page(bin_folder, version):
    text = output_of([bin_folder / "mpiexec", "--help"])
    page = head("mpiexec", "starts an MPI program on this host or on several",
                ["mpiexec [options] program [arguments] [: [options] program [arguments] ...]"], version)
    page.section("DESCRIPTION")
    page.text("Options end at the name of the program; one dash or two are the same. Options of the MPI standard, of Open MPI, MPICH "
              "and Intel MPI are obeyed, accepted where they are not needed, or refused with what to use instead.")
    manual_sections(page, read_options(OPTIONS))
    page.section("EXAMPLES")
    page.verbatim(text[text.index("Examples:"):].partition("\n")[2])
    return end(page)


def zipmpi_page(bin_folder, version):
    program = bin_folder / "zipmpi"
    listed = output_of([program, "--help"]).partition("Subcommands:")[2]
    names = dict(re.findall(r"^  ([a-z]+) +(\S.*(?:\n {10,}\S.*)*)", listed, re.M))
    page = head("zipmpi", "looks into ZipMPI: what it is, does and can do here", [f"zipmpi {n} [options]" for n in names],
                version)
    for name, about in names.items():
        page.section(f"ZIPMPI {name.upper()}")
        about = re.sub(r"\s+", " ", about)
        page.text(about[0].upper() + about[1:] + ".")
        options(page, output_of([program, name, "--help"]))
    return end(page)


def wrapper_page(bin_folder, name, version):
    page = head(name, "compiles and links MPI programs", [f"{name} [options of the compiler] files", f"{name} -show"], version)
    page.section("DESCRIPTION")
    page.text("Calls the compiler with what programs need to find the headers or modules of MPI and the library. All other options are those of the "
              "compiler.")
    page.verbatim(output_of([bin_folder / name, "-showme:help"]))
    return end(page)


def daemon_page(name, version):
    about, text = DAEMONS[name]
    page = head(name, about, [name], version)
    page.section("DESCRIPTION")
    page.text(text, escaped=True)
    return end(page)


def knobs_page(bin_folder, version):
    page = Page("zipmpi-knobs", 7, version)
    page.section("NAME")
    page.raw("zipmpi\\-knobs \\- settings of ZipMPI\n")
    page.section("DESCRIPTION")
    page.text("A knob takes its value from its environment variable, else from the file that ZIPMPI_CONFIG names (lines of "
              "name = value), else it has its default. `zipmpi info --knobs` shows the values that hold. A name that does not "
              "exist is reported with the nearest one that does.")
    page.section("KNOBS")
    for knob in json.loads(output_of([bin_folder / "zipmpi", "info", "--knobs", "--json"])):
        page.item(f"{knob['name']}, {knob['variable']}",
                  f"{knob['help']}. Default {knob['default'] or '(empty)'}; {knob['unit']}; for the {knob['level']}; {knob['scope']}.")
    return end(page)


def pages(bin_folder, version):
    files = {"man1/mpiexec.1": mpiexec_page(bin_folder, version), "man1/mpirun.1": ".so man1/mpiexec.1\n",
             "man1/zipmpi.1": zipmpi_page(bin_folder, version), "man7/zipmpi-knobs.7": knobs_page(bin_folder, version),
             "man1/mpicc.1": wrapper_page(bin_folder, "mpicc", version), "man1/mpicxx.1": ".so man1/mpicc.1\n"}
    files.update({f"man1/{name}.1": ".so man1/mpicc.1\n" for name in ("mpicc_abi", "mpicxx_abi")})
    if (bin_folder / "mpifort").exists():  # a build may go without Fortran
        files["man1/mpifort.1"] = wrapper_page(bin_folder, "mpifort", version)
        files.update({f"man1/{name}.1": ".so man1/mpifort.1\n" for name in ("mpif90", "mpif77", "mpifort_abi")})
    for name in DAEMONS:
        files[f"man1/{name}.1"] = daemon_page(name, version)
    return files
