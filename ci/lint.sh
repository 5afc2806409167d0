#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/lint.sh [--fix]
# All checks of the sources that need no build; under a minute. --fix formats them first.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

own() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

cpp_sources() { own '*.cpp' '*.hpp' '*.c' ':!include/mpi.h'; }
if [ "${1:-}" = --fix ]; then cpp_sources | xargs -0r clang-format -i; fi
cpp_sources | xargs -0r clang-format --dry-run --Werror || failed=1
echo "format: done"
for check in class_size layers length one_definition texts options pages references wording; do
    python3 -B cmake/checks/$check.py || failed=1
done
python3 -B ci/readme_commands.py || failed=1
python3 -B docs/performance/draw_charts.py --check || failed=1
python3 -B cmake/checks/checks_test.py --quiet || failed=1
while IFS= read -r -d '' script; do
    bash -n "$script" || failed=1
done < <(own '*.sh' '.ci/run')
own '*.sh' '.ci/run' | xargs -0r shellcheck --severity=warning --external-sources || failed=1
echo "shell: done"
own '*.py' | xargs -0r python3 -c 'import ast, sys
for name in sys.argv[1:]: ast.parse(open(name, encoding="utf-8").read(), name)' || failed=1
echo "python: done"
exit $failed
