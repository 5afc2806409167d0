#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Inside the virtual machine: a network of two interfaces with an RDMA device on each, then the tests. The devices of
# rdma_rxe work in the first network namespace only; so both interfaces are in it, and routing rules send packets
# between them over the wire although both addresses are local.
export PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run PYTHONDONTWRITEBYTECODE=1
readonly results=/run/results
# shellcheck disable=SC1091
. $results/environment # variables set by the host

make_network() {
    local i other
    ip link set lo up
    ip link add v1 type veth peer name v2
    for i in 1 2; do
        ip addr add 10.98.0.$i/32 dev v$i
        ip link set v$i mtu 9000 up
        for setting in accept_local=1 rp_filter=0 arp_ignore=1 arp_announce=2; do
            echo ${setting#*=} >/proc/sys/net/ipv4/conf/v$i/${setting%=*}
        done
    done
    echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
    ip rule add pref 100 table local
    ip rule del pref 0
    for i in 1 2; do
        other=$((3 - i))
        ip rule add pref 1$i iif v$i table local
        ip rule add pref 2$i from 10.98.0.$i to 10.98.0.$other table 20$i
        ip route add 10.98.0.$other dev v$i table 20$i
        rdma link add rxe$i type rxe netdev v$i
    done
}

make_network
ulimit -l unlimited
echo "$(cut -d' ' -f1 /proc/uptime) s: $(rdma link show | wc -l) RDMA devices"
# shellcheck disable=SC2154 # from the environment
"${tests[@]}"
echo $? >$results/status
echo "$(cut -d' ' -f1 /proc/uptime) s: done"
