#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/install_packages.sh [LIST...]
# Installs the missing Debian packages of the lists; default: those for building and for testing.
# Needs root only if any is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
lists=("$@")
[ $# -gt 0 ] || lists=(ci/packages_build.txt ci/packages_test.txt)

missing=()
while read -r package; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "${lists[@]}")

if [ ${#missing[@]} -eq 0 ]; then
    echo "packages: all installed"
    exit 0
fi
echo "packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
