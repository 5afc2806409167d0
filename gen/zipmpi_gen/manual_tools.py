# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages of programs (section 1), from their --help output, and of the parameters (section 7)."""

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
                     "A daemon that mpiexec(1) starts on each additional host of a job through its launch agent (ssh). It reads "
                     "its configuration from standard input, starts the ranks of its host, serves PMI to them, collects their "
                     "output and ends with the job. Do not start it manually; zipmpi\\-noded \\-\\-version prints its version, "
                     "which must equal that of mpiexec."),
    "zipmpi-gateway": ("relays messages between clusters without a common network",
                       "Started by the daemons of a job with mpiexec \\-\\-clusters on the hosts that the cluster file names "
                       "as gateways, and restarted when it fails. Do not start it manually. zipmpi top \\-\\-gateways shows the "
                       "activity of the gateways of a host. See multi_cluster.md in the guide."),
}
SEE_ALSO = "mpiexec(1), zipmpi(1), mpicc(1), zipmpi\\-parameters(7). The guide: share/doc of the installation, guide/README.md."


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
    """Adds the options of a help text: a line for each, '  --name,-n VALUE  description', and continuation lines."""
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
    page.text("Options end at the name of the program; one dash and two dashes are equivalent. Options of the MPI standard, Open "
              "MPI, MPICH and Intel MPI are implemented, accepted and ignored, or refused with an alternative.")
    manual_sections(page, read_options(OPTIONS))
    page.section("EXAMPLES")
    page.verbatim(text[text.index("Examples:"):].partition("\n")[2])
    return end(page)


def zipmpi_page(bin_folder, version):
    program = bin_folder / "zipmpi"
    listed = output_of([program, "--help"]).partition("Subcommands:")[2]
    names = dict(re.findall(r"^  ([a-z]+) +(\S.*(?:\n {10,}\S.*)*)", listed, re.M))
    page = head("zipmpi", "inspect, diagnose, tune and benchmark a ZipMPI installation", [f"zipmpi {n} [options]" for n in names],
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
    page.text("Calls the compiler with the options for the MPI headers, modules and library. All other options are passed to the "
              "compiler.")
    page.verbatim(output_of([bin_folder / name, "-showme:help"]))
    return end(page)


def daemon_page(name, version):
    about, text = DAEMONS[name]
    page = head(name, about, [name], version)
    page.section("DESCRIPTION")
    page.text(text, escaped=True)
    return end(page)


def parameters_page(bin_folder, version):
    page = Page("zipmpi-parameters", 7, version)
    page.section("NAME")
    page.raw("zipmpi\\-parameters \\- parameters of ZipMPI\n")
    page.section("DESCRIPTION")
    page.text("A parameter takes its value from its environment variable, then from the file named by ZIPMPI_CONFIG (lines of "
              "name = value), then from its default. `zipmpi info --params` shows the effective values. An unknown name is "
              "reported with the most similar known one.")
    page.section("PARAMETERS")
    for parameter in json.loads(output_of([bin_folder / "zipmpi", "info", "--params", "--json"])):
        page.item(f"{parameter['name']}, {parameter['variable']}",
                  f"{parameter['help']}. Default {parameter['default'] or '(empty)'}; {parameter['unit']}; for the {parameter['level']}; {parameter['scope']}.")
    return end(page)


def pages(bin_folder, version):
    files = {"man1/mpiexec.1": mpiexec_page(bin_folder, version), "man1/mpirun.1": ".so man1/mpiexec.1\n",
             "man1/zipmpi.1": zipmpi_page(bin_folder, version), "man7/zipmpi-parameters.7": parameters_page(bin_folder, version),
             "man1/mpicc.1": wrapper_page(bin_folder, "mpicc", version), "man1/mpicxx.1": ".so man1/mpicc.1\n"}
    files.update({f"man1/{name}.1": ".so man1/mpicc.1\n" for name in ("mpicc_abi", "mpicxx_abi")})
    if (bin_folder / "mpifort").exists():  # Fortran is optional
        files["man1/mpifort.1"] = wrapper_page(bin_folder, "mpifort", version)
        files.update({f"man1/{name}.1": ".so man1/mpifort.1\n" for name in ("mpif90", "mpif77", "mpifort_abi")})
    for name in DAEMONS:
        files[f"man1/{name}.1"] = daemon_page(name, version)
    return files
