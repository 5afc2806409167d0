/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A library without content, for programs that name it among those they need. */
typedef int zipmpi_companion;
