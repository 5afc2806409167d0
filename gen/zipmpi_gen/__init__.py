# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Generates the header, the C entry points, bindings and manual pages from the tables of spec/."""
