#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/clean_root.sh PACKAGE.deb [ROOT]
# Installs the Debian package on a fresh Debian 12 and follows the guide's quick start there. As root; needs debootstrap and a
# mirror, taken from this machine's sources. An existing ROOT (made by debootstrap) is copied, not changed.
# Takes minutes, so it is not part of the tests. Status 77: not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] && [ -f "$1" ] || { echo "usage: ci/clean_root.sh PACKAGE.deb [ROOT]; ci/package.sh builds the package"; exit 2; }
package=$1
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "${2:-}"
cp "$package" "$root/zipmpi.deb"
inside apt-get -q update
inside apt-get -q -y install /zipmpi.deb
inside dpkg -s zipmpi | grep -E '^(Version|Installed-Size)'

# The page as a script: its files, its commands, and then the expected lines of output.
TEST_BIN=/usr/lib/zipmpi/bin python3 -B - "$root" <<'SCRIPT'
import re
import sys
sys.path.insert(0, "tests/docs")
from test_guide import blocks, commands_of
script, wanted = "set -ex\nexport PATH=/usr/lib/zipmpi/bin:$PATH\nmkdir -p /opt/first && cd /opt/first\n", ""
for kind, _, text in blocks("quick_start.md"):
    name = re.match(r"/\* (\w+\.c)\b", text)
    if kind == "c" and name:
        script += f"cat >{name[1]} <<'END_OF_FILE'\n{text}END_OF_FILE\n"
    elif kind == "sh":
        script += "\n".join(commands_of(text)) + "\n"
    elif kind == "text":
        wanted += text
with open(sys.argv[1] + "/follow.sh", "w") as f:
    f.write(script)
with open(sys.argv[1] + "/wanted", "w") as f:
    f.write(wanted)
SCRIPT
inside sh /follow.sh >"$scratch/printed" || { cat "$scratch/printed"; echo "clean root: the page does not work"; exit 1; }
while read -r line; do
    grep -qxF -- "$line" "$scratch/printed" || { echo "clean root: not printed: $line"; exit 1; }
done <"$root/wanted"
inside sh -c '[ -f /usr/lib/zipmpi/share/man/man3/MPI_Send.3 ] && [ -f /usr/lib/zipmpi/share/man/man1/mpiexec.1 ]' ||
    { echo "clean root: no manual pages"; exit 1; }
echo "clean root: the first page of the guide works after apt-get install of $(basename "$package")"
