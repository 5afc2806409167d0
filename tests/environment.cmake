# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Environment of the tests: ctest reads this file before it runs them. docs/dev/sleeping.md
# Tests run concurrently: what waiting ranks do must not depend on the other tests.
set(ENV{ZIPMPI_LAUNCH_COUNT_OTHER_JOBS} no)
set(ENV{ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP} yes)
