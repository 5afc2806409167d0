#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names in pages and comments exist: parameters (x.y and ZIPMPI_X_Y), options of mpiexec, of zipmpi and of scripts, files and
folders of the repository, commits in its history. In pages only code is checked, inline or in a block; paths and commits also
in plain text. Tables of claims (CLAIMS) name a path in each row, and the classes named there are defined in one of its files."""
import fnmatch
import re
import shlex
import subprocess
import sys

import catalog
import markdown
from common import ROOT, Findings, own_files, relative

VARIABLE = re.compile(r"\bZIPMPI_[A-Z0-9_]+\b(?!\*|\.\.\.)")
DOTTED = re.compile(r"(?<![\w./-])(?P<group>[a-z0-9]+)\.(?P<name>[a-z0-9_]+)(?![\w./(-])")
PATH_ENDINGS = ("hpp", "cpp", "py", "sh", "md", "cmake", "tsv", "supp")
FILE = re.compile(r"(?<![\w./$<>{}*-])(?P<path>(?:[\w*-]+/)*[\w*-]+\.(?:" + "|".join(PATH_ENDINGS) + r"))(?![\w*/(-]|\.\w)")
STEM = re.compile(r"(?:[\w-]+/)*[\w-]+\.\*")
COMMENTS = {"//": re.compile(r"//(?P<text>.*)|/\*(?P<block>.*)"), "#": re.compile(r"(?<![$\w])#(?P<text>.*)(?P<block>)")}
MPIEXEC = re.compile(r"(?<![\w./-])(?:mpiexec|mpirun)(?= |$)")
ZIPMPI = re.compile(r"(?<![\w./-])zipmpi(?: (?P<command>[a-z]+))?(?= |$)")
# Abbreviated or not, with letters and digits; after "commit" also of digits only.
COMMIT = re.compile(r"(?<![\w./#-])(?:(?=[0-9]*[a-f])(?=[a-f]*[0-9])|(?<=[Cc]ommit ))(?P<id>[0-9a-f]{7,40})(?![\w/-]|\.\w)")
ENDS_COMMAND = re.compile(r"\s#|[|;&<>()`]|\\$")

# Foreign names that look like ZipMPI's: files that readers create, or of other projects.
EXTERNAL_FILES = {"report.md", "test_io.py", "test_file.py", "demo/futures/test_futures.py", "src/mpi/romio/test"}
EXTERNAL_OPTIONS = {"--enable-strictmpi", "--enable-new-dtags", "--cap-add", "--static", "--target"}
# Commits of programs that pages report on.
EXTERNAL_COMMITS = {"019aa2f", "5fcf0ba", "6a79bf6575", "8b0cdf1", "d25ce45", "d2b9a19", "f89d643"}
PLACEHOLDERS = {"ZIPMPI_NAME", "ZIPMPI_X_Y"}
# Names in checks_test.py are in the repository that it creates; the changelog names what was replaced.
MADE_UP = {"cmake/checks/checks_test.py", "CHANGELOG.md"}
# In these tables options of other programs are in the columns before the last one, their settings anywhere.
ABOUT_OTHER_MPIS = {"docs/guide/migrating.md"}

# Pages with tables whose column "code" must have a path.
CLAIMS = {"docs/design/seeds.md"}
CLASS = re.compile(r"`([A-Z]\w*[a-z]\w*)`")


def history():
    """The ids of HEAD and its ancestors, one per line; empty if they are not all known: a shallow clone, or no commit yet."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], check=False, capture_output=True, text=True).stdout

    return "" if git("rev-parse", "--is-shallow-repository").strip() != "false" else git("rev-list", "HEAD", "--")


class Names:
    def __init__(self):
        self.commits = "\n" + history()
        self.params = catalog.params()
        self.groups = {k.split(".")[0] for k in self.params}
        self.variables = catalog.variables()
        self.mpiexec = catalog.mpiexec_options()
        self.zipmpi = catalog.zipmpi_options()
        self.scripts = catalog.script_options()
        self.made_names = catalog.made_names()
        self.options = set(catalog.mpiexec_options(refused=True)).union(*self.zipmpi.values(), *self.scripts.values())
        self.files = [relative(p) for p in own_files()]
        self.tops = {name.split("/")[0] for name in self.files if "/" in name} - {".ci"}
        self.in_tree = re.compile(r"(?<![\w./$<>{}*-])(?:" + "|".join(sorted(map(re.escape, self.tops))) +
                                  r")/[\w./*{},-]*[\w/*}]")
        self.generated = {m for _, text in catalog.sources("CMakeLists.txt")
                          for m in re.findall(r"_GEN_DIR\}/(?:\w+/)*(\w+\.\w+)", text)}
        self.texts = "\n".join(p.read_text(encoding="utf-8") for p in own_files(".cpp", ".hpp", ".py", ".cmake", ".toml"))


def is_file(names, path, beside):
    """A file or folder, from the root, from the folder of the page, or at the end of a path; a product of a file (a program,
    x.sh of x.sh.in, a generated header); or a decision by its number: docs/decisions/0018."""
    whole = path.rstrip("/")
    if any((base / whole).exists() for base in (ROOT, beside)) or whole.rsplit("/", 1)[-1] in names.generated:
        return True
    if whole.startswith("docs/decisions/") and list(ROOT.glob(whole + "_*.md")):
        return True
    if "." not in whole and "*" not in whole:
        return any(name.startswith(whole + ".") for name in names.files)
    return any(fnmatch.fnmatch(name, pattern) for name in names.files for pattern in (whole, "*/" + whole, "*/" + whole + ".in"))


def expanded(path):
    """Expands a/{b,c}.d to two files."""
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    return [whole for part in match[1].split(",") for whole in expanded(path[:match.start()] + part + path[match.end():])]


def check_paths(findings, names, path, number, text):
    found = {m["path"] for m in FILE.finditer(text)} | set(names.in_tree.findall(text))
    for named in sorted(found - EXTERNAL_FILES):
        for one in expanded(named):
            placeholder = re.search(r"(?:^|/)x\.\w+$", one) or one.split("/")[0].isupper()
            if not placeholder and not is_file(names, one, path.parent):
                findings.error(path, number, f"{one} is not a file or folder of the repository")


def check_variables(findings, names, path, number, text):
    for name in VARIABLE.findall(text):
        if name not in names.variables and not name.startswith(names.made_names) and name not in PLACEHOLDERS:
            findings.error(path, number, f"{name} is not a parameter, and nothing reads it")


def check_params(findings, names, path, number, text):
    for match in DOTTED.finditer(text):
        if match["group"] not in names.groups or match["name"] in PATH_ENDINGS + ("c", "h", "toml", "matrix", "svg"):
            continue
        # Performance variables are named like parameters.
        if match.group() not in names.params and f'"{match.group()}"' not in names.texts:
            findings.error(path, number, f"{match.group()} is not a parameter")


def check_commits(findings, names, path, number, text):
    if names.commits.strip():
        for commit in sorted({m["id"] for m in COMMIT.finditer(text)} - EXTERNAL_COMMITS):
            if "\n" + commit not in names.commits:
                findings.error(path, number, f"{commit} is not a commit of this history")


def words_of(text):
    text = ENDS_COMMAND.split(text, maxsplit=1)[0]
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def check_mpiexec(findings, names, path, number, text):
    """Options of mpiexec up to the name of the program, and again after each ':'."""
    for start in MPIEXEC.finditer(text):
        values, in_program = 0, False
        for word in words_of(text[start.end():]):
            name = word.split("=")[0]
            if word == ":":
                in_program = False
            elif values > 0 or in_program:
                values -= 1
            elif not word.startswith("-"):
                in_program = word != "..."
            elif name not in names.mpiexec and not re.fullmatch(r"-n\d+", name):
                findings.error(path, number, f"mpiexec has no option {name}")
            else:
                values = names.mpiexec.get(name, 0) if "=" not in word else 0


def check_zipmpi(findings, names, path, number, text):
    for start in ZIPMPI.finditer(text):
        command = start["command"] or ""
        if command not in names.zipmpi:
            continue
        for word in words_of(text[start.end():]):
            word = word.rstrip("'\"")
            if word.startswith("--") and word.split("=")[0] not in names.zipmpi[command] | names.zipmpi[""]:
                findings.error(path, number, f"zipmpi {command} has no option {word}")


def check_option(findings, names, path, number, text):
    """`--option` alone."""
    name = re.split(r"[ =]", text, maxsplit=1)[0]
    if re.fullmatch(r"--[a-z][a-z-]+", name) and name not in names.options | EXTERNAL_OPTIONS:
        findings.error(path, number, f"no command has the option {name}")


def check_page(findings, names, path, text):
    for number, line, _ in markdown.lines(text):
        check_paths(findings, names, path, number, line)
        check_variables(findings, names, path, number, line)
        check_commits(findings, names, path, number, line)
    for number, piece in markdown.code(own_columns(path, text)):
        if path.name == "README.md" and STEM.fullmatch(piece) and not is_file(names, piece, path.parent):
            findings.error(path, number, f"there are no files {piece}")
        check_params(findings, names, path, number, piece)
        check_mpiexec(findings, names, path, number, piece)
        check_zipmpi(findings, names, path, number, piece)
        check_option(findings, names, path, number, piece)
    if relative(path) in CLAIMS:
        check_claims(findings, names, path, text)


def check_claims(findings, names, path, text):
    column = None
    for number, line, fenced in markdown.lines(text):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if fenced or not line.startswith("|"):
            column = None
        elif column is None:
            column = cells.index("code") if "code" in cells else -1
        elif column >= 0 and not set(line) <= set("|-: "):
            paths = names.in_tree.findall(cells[column])
            if not paths:
                findings.error(path, number, "this row names no path in the column of code")
            texts = "".join((ROOT / p).read_text(encoding="utf-8") for p in paths if (ROOT / p).is_file())
            for name in CLASS.findall(cells[column]):
                if not re.search(rf"\b(?:class|struct) {name}\b", texts):
                    findings.error(path, number, f"{name} is not defined in a file that this row names")


def own_columns(path, text):
    if relative(path) not in ABOUT_OTHER_MPIS:
        return text
    return "\n".join(line.rsplit("|", 2)[-2] if line.startswith("|") else line for line in text.splitlines())


def check_source(findings, names, path, text):
    comment = COMMENTS["//" if path.suffix in (".hpp", ".cpp", ".c", ".h") else "#"]
    for number, line in enumerate(text.splitlines(), 1):
        match = comment.search(line)
        if match:
            said = match["text"] or match["block"] or ""
            check_paths(findings, names, path, number, said)
            check_variables(findings, names, path, number, said)


def main():
    findings, names = Findings("references"), Names()
    files = own_files(".md", ".hpp", ".cpp", ".c", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")
    for path in files:
        text = path.read_text(encoding="utf-8") if relative(path) not in MADE_UP else ""
        (check_page if path.suffix == ".md" else check_source)(findings, names, path, text)
    findings.finish(f"{len(files)} files, {len(names.params)} params, {len(names.options)} options")


if __name__ == "__main__":
    sys.exit(main())
