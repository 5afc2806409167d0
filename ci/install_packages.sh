#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/install_packages.sh [LIST]
# Installs the Debian packages of the list (ci/packages.txt) that are missing. Needs root only if any is.
set -euo pipefail
cd "$(dirname "$0")/.."
list=${1:-ci/packages.txt}

missing=()
while read -r package; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$list")

if [ ${#missing[@]} -eq 0 ]; then
    echo "packages: all are there"
    exit 0
fi
echo "packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
