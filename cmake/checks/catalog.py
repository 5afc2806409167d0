# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names that the sources declare: params, variables, options of commands. Another form of declaration needs changes here
only."""
import re
import tomllib

from common import ROOT, own_files, relative

PARAM = re.compile(r"\bParam<[^>]+>\s+\w+\s*\{\s*\"(?P<name>[a-z0-9_]+\.[a-z0-9_]+)\"")
READ_VARIABLE = re.compile(r"\"(?P<name>ZIPMPI_[A-Z0-9_]+)=?\"|\$\{?(?P<shell>ZIPMPI_[A-Z0-9_]+)|"
                           r"\boption\(\s*(?P<option>ZIPMPI_[A-Z0-9_]+)|\bset\((?P<cmake>ZIPMPI_[A-Z0-9_]+)|"
                           r"^#define\s+(?P<macro>ZIPMPI_[A-Z0-9_]+)|(?P<definition>ZIPMPI_[A-Z0-9_]+)=[\"$\\]", re.M)
DECLARED = re.compile(r"add_(?:option|flag)\(\s*\"(?P<names>-[^\"]+)\"|add_subcommand\(\s*\"(?P<command>\w+)\"")
ARGUMENT = re.compile(r"add_argument\((?P<names>[^)]*)")
QUOTED_OPTION = re.compile(r"[\"'](--?[a-z][\w-]*)[\"']")


def sources(*suffixes, under=""):
    """(path, text) of the files of the product and its tools with these suffixes."""
    for path in own_files(*suffixes):
        if relative(path).startswith(under):
            yield path, path.read_text(encoding="utf-8")


def params():
    """Names x.y of all params."""
    return {m["name"] for path, text in sources(".cpp", ".hpp", under="src/") if "_test." not in path.name
            for m in PARAM.finditer(text)}


def param_variable(param):
    return "ZIPMPI_" + param.replace(".", "_").upper()


def variables():
    """ZIPMPI_ names in use: params, variables that programs and scripts read, options and names of the build."""
    found = {param_variable(k) for k in params()}
    for _, text in sources(".cpp", ".hpp", ".h", ".c", ".cmake", "CMakeLists.txt", ".in", ".sh", ".py", ".ci/run"):
        found |= {name for m in READ_VARIABLE.finditer(text) for name in m.groups() if name}
    return found


def made_names():
    """Prefixes of variables that the build composes: ZIPMPI_WITH_${name}."""
    return tuple({m for _, text in sources(".cmake", "CMakeLists.txt")
                  for m in re.findall(r"\b(ZIPMPI_[A-Z0-9_]+_)\$\{\w+\}", text)})


def declared(text):
    """{subcommand: options} of a program that declares them with CLI11; "" has those before any subcommand."""
    found, command = {"": {"--help", "-h"}}, ""
    for match in DECLARED.finditer(text):
        if match["command"]:
            command = match["command"]
            found[command] = {"--help", "-h"}
        else:
            found[command] |= set(match["names"].split(","))
    return found


def script_options():
    """{script: its options} of scripts in Python (argparse) and shell."""
    found = {}
    for path in own_files():
        if path.suffix not in (".py", ".sh", "") or not path.is_file() or path.suffix == "" and "." in path.name:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not text.startswith("#!"):
            continue
        names = {n for m in ARGUMENT.finditer(text) for n in QUOTED_OPTION.findall(m["names"])}
        names |= set(re.findall(r"(?<=\[)--[a-z][\w-]*|(?<==\s)--[a-z][\w-]*", text))
        found[relative(path)] = names
    return found


def words_after(form):
    """Number of words of the command line that belong to an option, from the form of its values in options.toml: "N",
    "NAME VALUE", and as one word "[=X]". For "NAME[=]VALUE" and "[RANKS]" the minimum: the next word is not an option."""
    return 0 if not form or form.startswith("[") else 1 if "[=]" in form else len(form.split())


def mpiexec_options(refused=False):
    """{option: words of its value}, every spelling that mpiexec accepts: from its table, or from its declarations.
    refused: also those that it recognizes only to suggest an alternative."""
    table = ROOT / "launch/mpiexec/options.toml"
    if table.is_file():
        groups = tomllib.loads(table.read_text(encoding="utf-8"))["group"]
        rows = [row for group in groups for row in group["options"]
                if refused or row["does"] != "refuse"]
        found = {name: words_after(row["args"]) for row in rows for name in row["names"].split()}
    else:
        found = {"--help": 0, "-h": 0}
        for _, text in sources(".cpp", under="launch/mpiexec/"):
            for match in re.finditer(r"add_(option|flag)\(\s*\"(-[^\"]+)\"", text):
                found |= dict.fromkeys(match[2].split(","), int(match[1] == "option"))
    for name in list(found):  # one or two dashes are equivalent
        found["-" + name.lstrip("-")] = found["--" + name.lstrip("-")] = found[name]
    return found


def zipmpi_options():
    """{subcommand: options} of zipmpi."""
    main = ROOT / "tools/zipmpi/main.cpp"
    found = declared(main.read_text(encoding="utf-8")) if main.is_file() else {"": set()}
    found["bench"] = {"--help"} | {n for name, names in script_options().items() if name.startswith("bench/")
                                   for n in names}
    return found
