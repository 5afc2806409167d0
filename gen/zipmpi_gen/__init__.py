# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Turns the tables of spec/ into the header, the C entry points and what goes with them."""
