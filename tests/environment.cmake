# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Environment of the tests: ctest reads this file before it runs them. docs/dev/sleeping.md
set(ENV{ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP} yes)
