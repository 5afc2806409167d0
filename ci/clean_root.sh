#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/clean_root.sh FOLDER [ROOT]
# Installs the Debian packages of FOLDER on a fresh Debian 12, follows the guide's quick start there, runs the test of the packages
# and mpi4py, and removes them again: nothing may be left. As root; needs debootstrap and a mirror, taken from this machine's
# sources. An existing ROOT (made by debootstrap) is copied, not changed. Takes minutes, so it is not part of the tests. Status 77:
# not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] && compgen -G "$1/*.deb" >/dev/null ||
    { echo "usage: ci/clean_root.sh FOLDER [ROOT]; ci/package.sh builds the packages into BUILD_DIR/package"; exit 2; }
packages=$1
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "${2:-}"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
inside apt-get -q update
inside sh -c 'find /usr /etc -xdev | sort' >"$scratch/before"
inside sh -c 'apt-get -q -y install /packages/*.deb'
inside sh -c 'dpkg -s zipmpi | grep -E "^(Version|Installed-Size)"'

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
cp debian/tests/hello "$root/hello"
inside sh /hello
inside sh -c 'command -v mpirun && [ "$(readlink -f /usr/bin/mpirun)" = /usr/lib/zipmpi/bin/mpiexec ]' ||
    { echo "clean root: mpirun is not an alternative"; exit 1; }
# Open MPI keeps mpicc and mpirun where both are installed. Debian's mpi4py is built for it, and runs on zipmpi-bindings, as does
# NetPIPE, which is built for MPICH.
inside apt-get -q -y install openmpi-bin python3-mpi4py netpipe-mpich2
inside sh -c '[ "$(readlink /etc/alternatives/mpirun)" = /usr/bin/mpirun.openmpi ]' || { echo "clean root: Open MPI is not the default"; exit 1; }
sum='from mpi4py import MPI; c = MPI.COMM_WORLD; s = c.allreduce(c.rank); c.rank or print("ZipMPI" in MPI.Get_library_version(), s)'
[ "$(inside mpiexec.zipmpi -n 4 python3 -c "$sum")" = "True 6" ] || { echo "clean root: mpi4py"; exit 1; }
inside zipmpi doctor /usr/bin/NPmpich2 | grep -q 'loads .*/zipmpi/mpich/libmpich.so.12' ||
    { echo "clean root: NetPIPE would not load ZipMPI's library"; exit 1; }
inside sh -c 'cd /opt && mpiexec.zipmpi -n 2 NPmpich2 -i -u 4096 -o netpipe.out 2>&1 | grep -q "Integrity check passed"' ||
    { echo "clean root: NetPIPE"; exit 1; }
inside sh -c 'apt-get -q -y purge openmpi-bin python3-mpi4py netpipe-mpich2 libzipmpi1 libzipmpi-dev zipmpi zipmpi-bindings zipmpi-doc && apt-get -q -y autoremove --purge'
inside sh -c 'find /usr /etc -xdev | sort' >"$scratch/after"
if comm -13 "$scratch/before" "$scratch/after" | grep -i -e zipmpi -e 'bin/mpi' -e 'alternatives/mpi'; then
    echo "clean root: files are left after the removal"
    exit 1
fi
echo "clean root: the packages work, and their removal leaves nothing"
