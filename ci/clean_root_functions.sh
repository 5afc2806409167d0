# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# A fresh Debian 12 in a folder that is removed with the script that sources this. Status 77: not possible here.

# make_root [TEMPLATE]: sets `scratch` and `root`. By debootstrap from the mirror of this machine, or a copy of TEMPLATE.
make_root() {
    if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
        echo "clean root: needs root and debootstrap"
        exit 77
    fi
    scratch=$(mktemp -d -p /var/tmp)
    root=$scratch/root
    trap 'rm -rf --one-file-system "$scratch"' EXIT
    local mirror
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
        grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 | tr -d ' ') || true # one of the two files never exists
    [ -n "$mirror" ] || { echo "clean root: no mirror of Debian in the sources of this machine"; exit 77; }
    if [ -n "${1:-}" ]; then
        cp -a "$1" "$root"
    else
        debootstrap --variant=minbase bookworm "$root" "$mirror" >"$scratch/log" || { tail "$scratch/log"; exit 77; }
    fi
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list"
}

# inside COMMAND...: runs it in the root, with private /proc and devices that are removed with it.
inside() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork sh -c '
        mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && mount -t tmpfs tmpfs "$1/tmp" && mount --bind /dev "$1/dev" || exit 77
        shift_root=$1; shift
        exec env -i HOME=/opt TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
            chroot "$shift_root" "$@"' sh "$root" "$@"
}
