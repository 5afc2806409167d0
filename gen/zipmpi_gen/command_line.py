# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Generates parser tables and shell completion of mpiexec from launch/mpiexec/options.toml.

usage: python3 -m zipmpi_gen.command_line OPTIONS.toml FOLDER
"""

import json
import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass

FROM = {"Z": "", "S": "MPI standard", "O": "Open MPI", "H": "MPICH", "I": "Intel MPI"}
KEYS = {"names", "args", "from", "does", "value", "help", "use", "choices"}


class TableError(Exception):
    pass


@dataclass(frozen=True)
class Option:
    names: tuple
    args: str
    origin: str
    does: str
    help: str
    group: int
    value: str | None = None
    use: str = ""
    choices: tuple = ()

    @property
    def words(self):
        """Number of value words: an enumerator of Words in option_table.hpp."""
        if self.args.startswith("[="):
            return "attached"
        if self.args.startswith("["):
            return "ranks"
        if "[=]" in self.args:
            return "pair"
        return ("none", "one", "two")[len(self.args.split())]

    @property
    def hidden(self):
        """Only the target of a setting of another launcher: not documented as an option."""
        return not self.origin

    @property
    def own(self):
        return "Z" in self.origin

    def title(self):
        """'-n N, --np N' as in help and manual."""
        extra = self.args if self.args.startswith("[=") else " " + self.args if self.args else ""
        return ", ".join(self.names) + extra


@dataclass(frozen=True)
class Alias:
    kind: str  # display, output, runtime, parameter, variable
    name: str
    option: str
    yes: str
    no: str
    what: str  # heading in the guide


@dataclass(frozen=True)
class Table:
    groups: tuple
    options: tuple
    aliases: tuple

    def find(self, name):
        return next((o for o in self.options if bare(name) in map(bare, o.names)), None)


def bare(name):
    return name.removeprefix("-").removeprefix("-")


def read_options(raw):
    for number, group in enumerate(raw["group"]):
        for row in group["options"]:
            if unknown := set(row) - KEYS:
                raise TableError(f"{row['names']}: unknown keys {sorted(unknown)}")
            yield Option(tuple(row["names"].split()), row["args"], row["from"], row["does"], row["help"], number,
                         row.get("value"), row.get("use", ""), tuple(row.get("choices", "").split()))


def read_aliases(raw):
    for table in raw["directive"]:
        for row in table["words"]:
            yield Alias(table["list"], row["word"], row["as"], "", "", "")
    for kind, heading in (("parameter", "what"), ("variable", "of")):
        for table in raw[kind]:
            for row in table["names"]:
                yield Alias(kind, row["name"], row.get("as", ""), row.get("yes", ""), row.get("no", ""), table[heading])


def check(table):
    seen = {}
    for option in table.options:
        for name in option.names:
            if bare(name) in seen:
                raise TableError(f"{name} is listed twice")
            seen[bare(name)] = option
        if set(option.origin) - set(FROM):
            raise TableError(f"{option.names[0]}: unknown origin {option.origin}")
        if (option.does == "refuse") != bool(option.use):
            raise TableError(f"{option.names[0]}: 'use' is required for refused options and not allowed for others")
    for alias in table.aliases:
        for target in (alias.option, alias.yes, alias.no):
            if target and bare(target.split()[0]) not in seen:
                raise TableError(f"{alias.name}: there is no option {target}")
    return table


def read(path):
    raw = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return check(Table(tuple(g["title"] for g in raw["group"]), tuple(read_options(raw)), tuple(read_aliases(raw))))


def c_text(text):
    return json.dumps(text, ensure_ascii=True)


def actions_inc(table):
    lines = ["// Generated from launch/mpiexec/options.toml."]
    lines += [f"bool {name}(const Use& use, Draft& draft, Diagnostic& why);" for name in sorted({o.does for o in table.options})]
    return "\n".join(lines) + "\n"


def table_inc(table):
    lines = ["// Generated from launch/mpiexec/options.toml."]
    lines.append("constexpr const char* group_titles[] = {" + ", ".join(map(c_text, table.groups)) + "};")
    lines.append("constexpr OptionRow rows[] = {")
    for o in table.options:
        value = "nullptr" if o.value is None else c_text(o.value)
        lines.append(f"    {{{c_text(' '.join(o.names))}, {c_text(o.args)}, {c_text(o.origin)}, {c_text(o.help)}, {c_text(o.use)}, "
                     f"{value}, Words::{o.words}, {o.group}, act::{o.does}}},")
    lines.append("};")
    lines.append("constexpr AliasRow aliases[] = {")
    for a in table.aliases:
        lines.append(f"    {{AliasKind::{a.kind}, {c_text(a.name)}, {c_text(a.option)}, {c_text(a.yes)}, {c_text(a.no)}}},")
    lines.append("};")
    return "\n".join(lines) + "\n"


def documented(table):
    return [o for o in table.options if not o.hidden]


def follows(option):
    """Completions offered after an option."""
    if option.choices:
        return "words"
    if re.search(r"FILE|PROGRAM|NAME\.toml", option.args):
        return "file"
    if re.fullmatch(r"DIRS?", option.args):
        return "directory"
    if option.words in ("none", "attached"):
        return "nothing"
    return "other"


def bash_completion(table):
    options = documented(table)
    names = sorted({n for o in options for n in o.names})
    cases = []
    for o in options:
        pattern = "|".join(o.names)
        kind = follows(o)
        if kind == "words" and o.words != "attached":
            cases.append(f"    {pattern}) COMPREPLY=($(compgen -W '{' '.join(o.choices)}' -- \"$cur\")); return ;;")
        elif kind == "file":
            cases.append(f"    {pattern}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;")
        elif kind == "directory":
            cases.append(f"    {pattern}) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;")
        elif kind == "other":
            cases.append(f"    {pattern}) return ;;")
    one = " ".join(n for o in options if o.words in ("one", "ranks", "pair") for n in o.names)
    two = " ".join(n for o in options if o.words == "two" for n in o.names)
    return BASH.format(names=" ".join(names), one=one, two=two, cases="\n".join(cases))


# Words up to the program name are completed as options of mpiexec; words after it as files.
BASH = r"""# Completion of mpiexec for bash. Generated from launch/mpiexec/options.toml.
_zipmpi_mpiexec() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} i=1
    local one=" {one} " two=" {two} "
    COMPREPLY=()
    while [ $i -lt "$COMP_CWORD" ]; do
        case ${{COMP_WORDS[i]}} in
        :) i=$((i + 1)); continue ;;
        -*)
            case $two in *" ${{COMP_WORDS[i]}} "*) i=$((i + 2)) ;; esac
            case $one in *" ${{COMP_WORDS[i]}} "*) i=$((i + 1)) ;; esac
            i=$((i + 1)) ;;
        *)
            while [ $i -lt "$COMP_CWORD" ] && [ "${{COMP_WORDS[i]}}" != : ]; do i=$((i + 1)); done
            if [ $i -ge "$COMP_CWORD" ]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi ;;
        esac
    done
    case $prev in
{cases}
    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W '{names}' -- "$cur")) ;;
    *) COMPREPLY=($(compgen -c -- "$cur") $(compgen -f -- "$cur")) ;;
    esac
}}
complete -o filenames -F _zipmpi_mpiexec mpiexec mpirun
"""


def zsh_word(text):
    return re.sub(r"([\[\]:'\\`])", lambda m: "'\\''" if m[1] == "'" else "\\" + m[1], text)


def zsh_action(option):
    if option.words in ("none", "attached"):
        return ""
    kind = follows(option)
    action = {"words": "(" + " ".join(c.replace(":", "\\:") for c in option.choices) + ")", "file": "_files",
              "directory": "_files -/", "other": " "}[kind]
    label = zsh_word(option.args.split()[0])
    return f":{label}:{action}" + (f":{zsh_word(option.args.split()[1])}: " if option.words == "two" else "")


def zsh_completion(table):
    lines = ["#compdef mpiexec mpirun", "# Generated from launch/mpiexec/options.toml.", "_arguments -S \\"]
    for o in documented(table):
        about = zsh_word(o.help.split(";")[0].split(". ")[0])
        lines += [f"    '*{name}[{about}]{zsh_action(o)}' \\" for name in o.names]
    lines += ["    '(-)1:program:_command_names -e' \\", "    '*::arguments:_normal'"]
    return "\n".join(lines) + "\n"


def write_if_changed(path, text):
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(source, folder):
    table = read(source)
    folder = pathlib.Path(folder)
    write_if_changed(folder / "option_actions.inc", actions_inc(table))
    write_if_changed(folder / "option_table.inc", table_inc(table))
    write_if_changed(folder / "completion/mpiexec", bash_completion(table))
    write_if_changed(folder / "completion/_mpiexec", zsh_completion(table))


if __name__ == "__main__":
    main(*sys.argv[1:])
