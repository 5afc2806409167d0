#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests on RDMA without hardware for it: boots Debian's kernel in QEMU, creates two devices of rdma_rxe (RoCE in
# software), and runs the programs of tests/mpi between two hosts there, by verbs. For function, not performance:
# everything is emulated.
#
#   ci/softroce.sh                        the tests of tests/rdma
#   ci/softroce.sh brief                  a sample of them, for 240 s at most
#   ci/softroce.sh COMMAND [ARGUMENT..]   any command inside, with the RDMA devices rxe1 and rxe2
#
# The build is build/release, or the folder named by BUILD; the kernel is kept next to it. ACCEL names the accelerator of
# QEMU; without it KVM is used if a guest boots with it, else TCG. Needs no privileges if the packages of
# ci/softroce/packages.txt are installed. Exits with 0 if all tests passed, with 77 and a sentence if packages or
# kernel cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
readonly SKIP=77
readonly PROBE_LIMIT=15 # seconds to boot and end a guest with KVM; some hosts offer a KVM that never gets there
readonly MODULES=(virtio_pci 9pnet_virtio 9p veth virtio_rng crc32_generic crc32c_generic rdma_rxe ib_uverbs rdma_ucm)
build=$(readlink -f "${BUILD:-build/release}")
work=$build.softroce # not inside the build: installed files there would use its modules

skip() {
    echo "softroce.sh: skipped: $*"
    exit $SKIP
}

# From the folder of packages that apt keeps, or by download; the last one of several revisions. The folder gets its name when
# it is complete.
get_kernel() {
    local package version revisions
    compgen -G "$work/kernel/boot/vmlinuz-*" >/dev/null && return
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
    [ -n "$package" ] || return 1
    version=${package#linux-image-}
    rm -rf "$work/kernel" "$work/kernel.new" "$work/download"
    mkdir -p "$work/kernel.new" "$work/download"
    cp "/var/cache/apt/archives/$package"_*.deb "$work/download/" 2>/dev/null ||
        (cd "$work/download" && timeout 120 apt-get download -qq "$package" 2>/dev/null) || return 1
    mapfile -t revisions < <(printf '%s\n' "$work/download/$package"_*.deb | sort -V)
    dpkg --fsys-tarfile "${revisions[-1]}" | tar -C "$work/kernel.new" -x ./boot "./lib/modules/$version" &&
        depmod -b "$work/kernel.new" "$version" && mv "$work/kernel.new" "$work/kernel" && rm -r "$work/download"
}

# busybox, the modules in load order, and the init process.
make_initramfs() {
    local tree=$work/initramfs version name file
    version=$(ls "$work/kernel/lib/modules")
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,proc,sys,dev,root,modules}
    cp "$(command -v busybox)" "$tree/bin/busybox"
    for name in sh mount mkdir insmod sed chroot sync poweroff; do ln -s busybox "$tree/bin/$name"; done
    cp ci/softroce/init "$tree/init"
    : >"$tree/modules/list"
    for name in "${MODULES[@]}"; do
        modprobe -d "$work/kernel" -S "$version" --show-depends --ignore-install "$name" | awk '/^insmod/ { print $2 }' |
            while read -r file; do
                [ -e "$tree/modules/$(basename "$file")" ] && continue
                cp "$file" "$tree/modules/"
                basename "$file" >>"$tree/modules/list"
            done
    done
    (cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs.gz"
}

# The guest reads its command and paths from a file.
prepare_job() {
    rm -rf "$work/prefix" "$work/results"
    mkdir -p "$work/results"
    cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
    declare -p tests >"$work/results/environment"
    cat >>"$work/results/environment" <<EOF
cd "$PWD"
export PATH="$work/prefix/bin:\$PATH" LD_LIBRARY_PATH="$work/prefix/lib"
export TEST_MPIEXEC="$work/prefix/bin/mpiexec" TEST_MPI_FOLDER="$build/tests/mpi" CLUSTER_TOOL="$build/tests/multinode/host"
export ZIPMPI_LAUNCH_HEARTBEAT_TIMEOUT_MS=60000 # an emulated machine is slow
export TEST_SECONDS=300 TEST_ROUNDS=${ROUNDS:-8}
EOF
}

# boot ACCELERATOR SECONDS JOB: a guest that runs the job, a script, or ends at once without one.
boot() {
    local kernel cpu=max
    kernel=$(ls "$work"/kernel/boot/vmlinuz-*)
    [ "$1" = tcg ] || cpu=host
    timeout -k 5 "$2" qemu-system-x86_64 -accel "$1" -cpu $cpu -m 2048 -smp 2 -nographic -no-reboot -nodefaults -nic none \
        -serial stdio -kernel "$kernel" -initrd "$work/initramfs.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=reliable random.trust_cpu=on job=$3" \
        -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=$work/results,mount_tag=results,security_model=none" -device virtio-rng-pci </dev/null &
    machine=$!
    trap 'kill $machine; exit 130' INT TERM
    wait $machine
}

# A KVM that exists may still not boot, so a guest that ends at once tells; its init process says that it got there.
choose_accelerator() {
    [ -w /dev/kvm ] && boot kvm $PROBE_LIMIT "" >"$work/probe.log" 2>&1 && grep -q 'softroce: up' "$work/probe.log" &&
        echo kvm && return
    echo tcg
}

tests=(python3 -B tests/rdma/test_rdma.py)
limit=900 # seconds for everything inside
if [ "${1:-}" = brief ]; then
    tests+=(brief)
    limit=240
elif [ $# -gt 0 ]; then
    tests=("$@")
fi
limit=${LIMIT:-$limit}
[ -x "$build/bin/mpiexec" ] || { echo "softroce.sh: no build in $build"; exit 1; }
ci/install_packages.sh ci/softroce/packages.txt || skip "a package of ci/softroce/packages.txt cannot be installed"
get_kernel || skip "the package of Debian's kernel is neither in /var/cache/apt/archives nor available for download"
make_initramfs
prepare_job
accelerator=${ACCEL:-$(choose_accelerator)}
echo "softroce.sh: accelerator $accelerator"
ended=0
boot "$accelerator" "$limit" "$PWD/ci/softroce/guest.sh" || ended=$?
case $ended in
0) ;;
124 | 137) echo "softroce.sh: the virtual machine did not end within $limit s" ;; # statuses of timeout
*) echo "softroce.sh: QEMU failed with status $ended" ;;
esac
status=$(cat "$work/results/status" 2>/dev/null || echo 1)
echo "softroce.sh: status $status, $SECONDS s"
exit "$status"
