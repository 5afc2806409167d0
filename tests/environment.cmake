# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Read by ctest before it runs tests: their environment. docs/dev/sleeping.md
set(ENV{ZIPMPI_WAIT_DEMAND_WAKES} yes)
