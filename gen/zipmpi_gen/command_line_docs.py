# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Documentation of the options of mpiexec: tables of the guide, and sections of mpiexec(1).

usage: python3 -m zipmpi_gen.command_line_docs OPTIONS.toml PAGE.md [--check]
Rewrites the page between the two marks; --check fails if it is not current.
"""

import pathlib
import sys

from .command_line import FROM, documented, read

BEGIN = "<!-- Generated from launch/mpiexec/options.toml: cmake --build build/release --target update-options-page -->"
END = "<!-- End of the generated part. -->"

LISTS = (("display", "--display"), ("output", "--output"), ("runtime", "--runtime-options"))


def cell(text):
    return text.replace("|", "\\|")


def spelled(option):
    """The names with their value words."""
    extra = option.args if option.args.startswith("[=") else " " + option.args if option.args else ""
    return ", ".join(f"`{name}`" for name in option.names[:-1]) + (", " if len(option.names) > 1 else "") + \
        f"`{option.names[-1]}{extra}`"


def meaning(option):
    if option.does == "accept":
        return f"accepted, not needed: {option.help}"
    if option.does == "refuse":
        return f"**refused**: {option.help}; {option.use}"
    return option.help


def origins(option):
    return ", ".join(FROM[letter] for letter in "SOHI" if letter in option.origin)


def option_tables(table):
    for number, title in enumerate(table.groups):
        yield f"### {title}\n\n| option | of | here |\n|---|---|---|\n"
        for option in documented(table):
            if option.group == number:
                yield f"| {cell(spelled(option))} | {origins(option)} | {cell(meaning(option))} |\n"
        yield "\n"


def target(alias, table):
    """The option that an alias maps to, or its meaning if that option is hidden."""
    texts = []
    for option, when in ((alias.option, ""), (alias.yes, "if true: "), (alias.no, "if false: ")):
        if not option:
            continue
        found = table.find(option.split()[0])
        texts.append(when + (found.help.partition(": ")[2] if found.hidden else f"`{option}`"))
    return "; ".join(texts)


def alias_table(table, kind, head):
    yield f"| {head} | equivalent |\n|---|---|\n"
    for alias in (a for a in table.aliases if a.kind == kind):
        yield f"| `{alias.name}` | {cell(target(alias, table))} |\n"
    yield "\n"


def guide(table):
    text = "".join(option_tables(table))
    for kind, option in LISTS:
        text += f"Directives of Open MPI's `{option}`:\n\n" + "".join(alias_table(table, kind, "directive"))
    text += "### Parameters of Open MPI\n\nWith `--mca NAME VALUE`, or in the environment as `OMPI_MCA_NAME` and `PRTE_MCA_NAME`. " \
            "All others are accepted and ignored.\n\n"
    text += "".join(alias_table(table, "parameter", "parameter"))
    text += "### Environment variables read by mpiexec\n\nThe command line takes precedence.\n\n"
    return text + "".join(alias_table(table, "variable", "variable"))


def renewed(page, table):
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit("the marks around the generated part are missing")
    return f"{before}{BEGIN}\n\n{guide(table).rstrip()}\n\n{END}{after}"


def manual_sections(page, table):
    """All options and variables, for a roff page."""
    for number, title in enumerate(table.groups):
        page.section(title.upper())
        for option in (o for o in documented(table) if o.group == number):
            whose = origins(option)
            page.item(option.title(), meaning(option).replace("**", "") + (f" ({whose})" if whose and not option.own else ""))
    page.section("DIRECTIVES")
    for kind, option in LISTS:
        page.item(option, ", ".join(f"{a.name} ({target(a, table)})".replace("`", "") for a in table.aliases if a.kind == kind) + ".")
    page.section("ENVIRONMENT")
    for alias in (a for a in table.aliases if a.kind == "variable"):
        page.item(alias.name, "Equivalent to " + target(alias, table).replace("`", "") + ".")
    page.item("OMPI_MCA_NAME, PRTE_MCA_NAME", "Parameters of Open MPI, as set by --mca: "
              + ", ".join(a.name for a in table.aliases if a.kind == "parameter") + ".")


def main(source, path, check=""):
    path = pathlib.Path(path)
    old = path.read_text(encoding="utf-8")
    new = renewed(old, read(source))
    if check and old != new:
        raise SystemExit(f"{path} is not current: cmake --build build/release --target update-options-page")
    if old != new:
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
