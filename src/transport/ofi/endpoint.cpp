// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/endpoint.hpp"

#include "os/scoped_env.hpp"
#include "os/socket.hpp"
#include "transport/ofi/provider_choice.hpp"
#include "wire/ofi_layout.hpp"

#include <bit>
#include <cstring>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace zipmpi::transport::ofi {
namespace {

constexpr std::string_view address_magic = "zipmpi ofi 1\n";
constexpr uint32_t api_version = FI_VERSION(1, 14);
constexpr long poll_interval_ns = 1'000'000; // of sleepers, where nothing else wakes them up

std::string error_text(const char* call, ssize_t status) {
    return std::string(call) + " of libfabric: " + fi_strerror(static_cast<int>(-status));
}

Posted result_of(ssize_t status) {
    if (status == 0) [[likely]]
        return Posted::yes;
    return status == -FI_EAGAIN ? Posted::try_again : Posted::failed;
}

// net.ports, as the providers over TCP read it.
struct PortSettings {
    std::string low, high;
    os::EnvSetting settings[4]{};

    explicit PortSettings(const std::string& range)
        : low(range.substr(0, range.find('-')))
        , high(range.substr(range.find('-') + 1)) {
        settings[0] = {"FI_TCP_PORT_LOW_RANGE", low.c_str()};
        settings[1] = {"FI_TCP_PORT_HIGH_RANGE", high.c_str()};
        settings[2] = {"FI_NET_PORT_LOW_RANGE", low.c_str()};
        settings[3] = {"FI_NET_PORT_HIGH_RANGE", high.c_str()};
    }
    PortSettings(const PortSettings&) = delete;
    PortSettings& operator=(const PortSettings&) = delete;
    [[nodiscard]] std::span<const os::EnvSetting> get() const {
        return low.empty() ? std::span<const os::EnvSetting>() : std::span<const os::EnvSetting>(settings);
    }
};

// What the engine uses. Memory is not registered: providers that require it of their callers are not used.
void fill_hints(fi_info& hints) {
    hints.caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
    hints.mode = FI_CONTEXT | FI_CONTEXT2;
    hints.ep_attr->type = FI_EP_RDM;
    hints.tx_attr->msg_order = FI_ORDER_SAS;
    hints.rx_attr->msg_order = FI_ORDER_SAS;
    hints.domain_attr->threading = FI_THREAD_DOMAIN;
    hints.domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints.domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints.domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints.domain_attr->av_type = FI_AV_TABLE;
    hints.domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
}

} // namespace

bool Endpoint::open(const char* devices, const char* provider, std::string& why) {
    return find_provider(devices, provider, why) && create(why);
}

bool Endpoint::find_provider(const char* devices, const char* provider, std::string& why) {
    const PortSettings ports(os::port_range());
    const os::ScopedEnv environment(ports.get());
    const std::unique_ptr<fi_info, InfoDeleter> hints(fi_allocinfo());
    if (hints == nullptr) {
        why = "out of memory";
        return false;
    }
    fill_hints(*hints);
    if (*provider != '\0') hints->fabric_attr->prov_name = strdup(provider);
    fi_info* offered = nullptr;
    const int status = fi_getinfo(api_version, nullptr, nullptr, 0, hints.get(), &offered);
    const std::unique_ptr<fi_info, InfoDeleter> all(offered);
    const fi_info* const best = status == 0 ? choose_info(offered, devices, provider) : nullptr;
    if (best == nullptr) {
        why = "libfabric has no provider " + std::string(provider) + " for the devices \"" + devices + "\"" +
              (status == 0 ? std::string() : "; " + error_text("fi_getinfo", status));
        return false;
    }
    const uint64_t tags = best->ep_attr->mem_tag_format;
    if (best->ep_attr->max_msg_size < wire::ofi_segment_bytes ||
        (tags != 0 && std::bit_width(tags) < static_cast<int>(wire::ofi_tag_bits))) {
        why = std::string("the provider ") + best->fabric_attr->prov_name + " has too short messages or tags";
        return false;
    }
    info_.reset(fi_dupinfo(best));
    return info_ != nullptr;
}

bool Endpoint::create(std::string& why) {
    fid_fabric* fabric = nullptr;
    int status = fi_fabric(info_->fabric_attr, &fabric, nullptr);
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    if (status == 0) status = fi_domain(fabric, info_.get(), &domain, nullptr);
    domain_.reset(domain);
    if (status != 0) {
        why = error_text("fi_domain", status);
        return false;
    }
    if (!open_queue(why)) return false;
    fi_av_attr table{};
    table.type = FI_AV_TABLE;
    fid_av* addresses = nullptr;
    status = fi_av_open(domain, &table, &addresses, nullptr);
    addresses_.reset(addresses);
    fid_ep* endpoint = nullptr;
    if (status == 0) status = fi_endpoint(domain, info_.get(), &endpoint, nullptr);
    endpoint_.reset(endpoint);
    if (status == 0) status = fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV);
    if (status == 0) status = fi_ep_bind(endpoint, &addresses->fid, 0);
    const size_t room = wire::ofi_message_max;
    if (status == 0)
        status = fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &room, sizeof room);
    if (status == 0) status = fi_enable(endpoint);
    if (status != 0) why = error_text("fi_endpoint", status);
    if (status == 0 && !(open_wakeup() && load_address())) {
        why = "libfabric: the address or a descriptor of the endpoint is missing";
        status = -FI_EOTHER;
    }
    return status == 0;
}

bool Endpoint::open_queue(std::string& why) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_TAGGED;
    attributes.wait_obj = FI_WAIT_FD;
    fid_cq* queue = nullptr;
    int status = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
    if (status != 0) {
        attributes.wait_obj = FI_WAIT_NONE; // sleepers poll
        status = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
    }
    queue_.reset(queue);
    if (status != 0) why = error_text("fi_cq_open", status);
    return status == 0;
}

bool Endpoint::open_wakeup() {
    if (fi_control(&queue_->fid, FI_GETWAIT, &queue_descriptor_) != 0) queue_descriptor_ = -1;
    epoll_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
    timer_ = os::Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!epoll_ || !timer_) return false;
    for (const int fd : {timer_.get(), queue_descriptor_}) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (fd >= 0 && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
    }
    return true;
}

bool Endpoint::load_address() {
    char bytes[wire::net_address_max / 2];
    size_t length = sizeof bytes;
    if (fi_getname(&endpoint_->fid, bytes, &length) != 0) return false;
    address_ = std::string(address_magic) + info_->fabric_attr->prov_name + '\n';
    address_.append(bytes, length);
    return address_.size() <= wire::net_address_max;
}

// From here on, libfabric uses no memory of its callers.
void Endpoint::close() {
    endpoint_.reset();
    addresses_.reset();
    epoll_ = os::Fd();
    queue_.reset();
    domain_.reset();
    fabric_.reset();
}

fi_addr_t Endpoint::insert(std::string_view address) {
    const std::string prefix = std::string(address_magic) + info_->fabric_attr->prov_name + '\n';
    fi_addr_t inserted = FI_ADDR_NOTAVAIL;
    if (!address.starts_with(prefix) || address.size() != address_.size()) return FI_ADDR_NOTAVAIL;
    const int count =
        fi_av_insert(addresses_.get(), address.data() + prefix.size(), 1, &inserted, 0, nullptr);
    return count == 1 ? inserted : FI_ADDR_NOTAVAIL;
}

Posted Endpoint::send(fi_addr_t to, std::span<const iovec> pieces, OperationContext& operation) {
    return result_of(
        fi_sendv(endpoint_.get(), pieces.data(), nullptr, pieces.size(), to, &operation.provider));
}

Posted Endpoint::send_tagged(fi_addr_t to, std::span<const std::byte> bytes, uint64_t tag,
                             OperationContext& operation) {
    return result_of(
        fi_tsend(endpoint_.get(), bytes.data(), bytes.size(), nullptr, to, tag, &operation.provider));
}

Posted Endpoint::receive_many(std::span<std::byte> buffer, OperationContext& operation) {
    const iovec memory{buffer.data(), buffer.size()};
    fi_msg message{};
    message.msg_iov = &memory;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = &operation.provider;
    return result_of(fi_recvmsg(endpoint_.get(), &message, FI_MULTI_RECV));
}

Posted Endpoint::receive_tagged(std::span<std::byte> bytes, uint64_t tag, OperationContext& operation) {
    return result_of(fi_trecv(endpoint_.get(), bytes.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC, tag, 0,
                              &operation.provider));
}

static OperationContext& operation_of(void* context) {
    return *reinterpret_cast<OperationContext*>(context); // its first member was passed to libfabric
}

int Endpoint::poll() {
    constexpr size_t most = 16;
    fi_cq_tagged_entry entries[most]; // NOLINT: filled as far as counted
    const ssize_t count = fi_cq_read(queue_.get(), entries, most);
    if (count == -FI_EAGAIN) [[likely]]
        return 0;
    if (count < 0) {
        report_error();
        return 1;
    }
    for (ssize_t i = 0; i < count; ++i) {
        const fi_cq_tagged_entry& e = entries[i];
        OperationContext& operation = operation_of(e.op_context);
        operation.handler->completed(operation, {e.flags, static_cast<const std::byte*>(e.buf), e.len, 0});
    }
    return static_cast<int>(count);
}

void Endpoint::report_error() {
    fi_cq_err_entry e{};
    if (fi_cq_readerr(queue_.get(), &e, 0) != 1 || e.op_context == nullptr) return;
    OperationContext& operation = operation_of(e.op_context);
    operation.handler->completed(operation, {e.flags, nullptr, 0, e.err});
}

bool Endpoint::arm(Attention attention) {
    const bool timed = attention == Attention::soon || queue_descriptor_ < 0;
    if (timed || timer_runs_) {
        itimerspec interval{};
        if (timed) interval.it_value.tv_nsec = poll_interval_ns;
        timerfd_settime(timer_.get(), 0, &interval, nullptr);
        timer_runs_ = timed;
    }
    fid* const queue = &queue_->fid;
    fid* waited[1] = {queue};
    return queue_descriptor_ < 0 || fi_trywait(fabric_.get(), waited, 1) == 0;
}

} // namespace zipmpi::transport::ofi
