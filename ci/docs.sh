#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/docs.sh [FOLDER]
# Builds the documentation as a site in FOLDER (default build/site) that needs no server: the pages by Sphinx, with search, and
# the internal interfaces by Doxygen below api/. Sphinx warnings are errors: a page in no toctree, a link that leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$(realpath -m "${1:-build/site}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$site"
mkdir -p "$site"
cp -r --parents docs ./*.md LICENSE bench/README.md "$work"
mv "$work/docs/site/conf.py" "$work"
mv "$work/docs/site/index.md.in" "$work/index.md"
rm -r "$work/docs/site"
export ZIPMPI_VERSION
ZIPMPI_VERSION=$(sed -n 's/^project(ZipMPI VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
sphinx-build -q -W --keep-going -b html "$work" "$site"
rm -rf "$site/.doctrees"
(cat docs/site/Doxyfile && echo "PROJECT_NUMBER = $ZIPMPI_VERSION" && echo "OUTPUT_DIRECTORY = $site/api") | doxygen -
[ -f "$site/search.html" ] && [ -f "$site/searchindex.js" ] && [ -f "$site/api/index.html" ]
echo "site: $(find "$site" -name '*.html' | wc -l) pages in $site"
