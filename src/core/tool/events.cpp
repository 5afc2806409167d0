// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Registrations of events, and their delivery to callbacks.
//
// The engine raises an event with its lock held, so callbacks must not call MPI: their context is
// mpi_restricted, or thread_safe if the process has several threads in MPI. Callbacks for weaker requirements
// are not called; the event counts as dropped.
//
// Locks: functions of the interface hold its lock and then take `mutex`; delivery holds the engine's lock and
// then takes `mutex`. A callback may only read its event, which takes no lock.
#include "core/tool/events.hpp"

#include "core/runtime.hpp"
#include "core/runtime_state.hpp"
#include "core/tool/registry.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <cstring>
#include <mutex>
#include <utility>

namespace zipmpi::core::tool {

struct EventInstance {
    const proto::Event& event;
    int64_t time;
};

struct EventRegistration {
    proto::EventType type{};
    std::array<EventCallback, safety_levels> callbacks; // by CallbackSafety
    DroppedHandler on_dropped;
    int64_t dropped = 0; // and not reported

    // The callback with the weakest requirements that suffice; null: none.
    [[nodiscard]] const EventCallback* callback_for(CallbackSafety context) const {
        for (auto level = static_cast<size_t>(context); level < callbacks.size(); ++level)
            if (callbacks[level].function != nullptr) return &callbacks[level];
        return nullptr;
    }
    [[nodiscard]] bool has_callback() const { return callback_for(CallbackSafety::none) != nullptr; }

    [[nodiscard]] void* user_data() const {
        const EventCallback* const callback = callback_for(CallbackSafety::none);
        return callback != nullptr ? callback->user_data : nullptr;
    }
    void report_dropped(CallbackSafety context) {
        if (dropped == 0 || on_dropped.function == nullptr) return;
        on_dropped.call(on_dropped.function, std::exchange(dropped, 0), this, context, user_data());
    }
    void deliver(const EventInstance& instance, CallbackSafety context) {
        const EventCallback* const callback = callback_for(context);
        if (callback == nullptr) {
            if (has_callback()) ++dropped;
            return;
        }
        report_dropped(context);
        callback->call(*callback, &instance, this, context);
    }
};

namespace {

struct Registrations {
    std::mutex mutex;
    Registry<EventRegistration> all;
};

// Never destroyed, as the lock of the interface.
Registrations& registrations() {
    static auto* const list = new Registrations;
    return *list;
}

thread_local const EventInstance* delivered = nullptr; // to a callback that runs in this thread

void deliver(const proto::Event& event) {
    if (delivered != nullptr) return; // a callback has called MPI, which it must not
    Registrations& list = registrations();
    const std::lock_guard guard(list.mutex);
    const auto context = progress_engine().engine_lock().is_needed() ? CallbackSafety::thread_safe
                                                                     : CallbackSafety::mpi_restricted;
    const EventInstance instance{event, ticks()};
    delivered = &instance;
    list.all.for_each([&](EventRegistration& r) {
        if (r.type == event.type) r.deliver(instance, context);
    });
    delivered = nullptr;
}

// With the mutex held.
void update_listening(const Registrations& list) {
    uint32_t types = 0;
    list.all.for_each([&](const EventRegistration& r) {
        if (r.has_callback()) types |= proto::EventSink::bit(r.type);
    });
    if (Runtime* const e = runtime(); e != nullptr) e->progress_engine->events().listen(types, deliver);
}

ToolErr no_registration() {
    return set_error(ToolErr::invalid_handle, "the event registration is not valid");
}

// Calls `use` with a valid registration and the mutex held.
template <class Use>
ToolErr with(EventRegistration* handle, const Use& use) {
    Registrations& list = registrations();
    const std::lock_guard guard(list.mutex);
    if (!list.all.has(handle)) return no_registration();
    use(list, *handle);
    return ToolErr::success;
}

ToolErr no_instance() {
    return set_error(ToolErr::invalid_handle,
                     "the event instance is not valid: it exists during its callback only");
}

} // namespace

void listen_to_events() {
    Registrations& list = registrations();
    const std::lock_guard guard(list.mutex);
    update_listening(list);
}

ToolErr open_event(int index, EventRegistration*& handle) {
    Registrations& list = registrations();
    const std::lock_guard guard(list.mutex);
    auto registration = std::make_unique<EventRegistration>();
    registration->type = static_cast<proto::EventType>(index);
    handle = list.all.add(std::move(registration));
    return ToolErr::success;
}

ToolErr check_event(EventRegistration* handle) {
    return with(handle, [](Registrations&, EventRegistration&) {});
}

// The handler may call the interface, so it is called without the mutex; no event is delivered meanwhile.
ToolErr close_event(EventRegistration* handle) {
    int64_t dropped = 0;
    void* user_data = nullptr;
    const ToolErr e = with(handle, [&](Registrations& list, EventRegistration& r) {
        const int64_t missed = std::exchange(r.dropped, 0);
        if (r.on_dropped.function != nullptr) dropped = missed;
        user_data = r.user_data();
        r.callbacks = {};
        update_listening(list);
    });
    if (e != ToolErr::success) return e;
    if (dropped > 0)
        handle->on_dropped.call(handle->on_dropped.function, dropped, handle, CallbackSafety::none,
                                user_data);
    return with(handle, [](Registrations& list, EventRegistration& r) { list.all.remove(&r); });
}

ToolErr set_event_callback(EventRegistration* handle, CallbackSafety safety, const EventCallback& callback) {
    return with(handle, [&](Registrations& list, EventRegistration& r) {
        r.callbacks[static_cast<size_t>(safety)] = callback;
        update_listening(list);
    });
}

ToolErr set_dropped_handler(EventRegistration* handle, const DroppedHandler& handler) {
    return with(handle, [&](Registrations&, EventRegistration& r) { r.on_dropped = handler; });
}

void close_all_events() {
    Registrations& list = registrations();
    const std::lock_guard guard(list.mutex);
    list.all.clear();
    update_listening(list);
}

bool in_event_callback() { return delivered != nullptr; }

ToolErr refuse_in_callback() {
    return set_error(ToolErr::not_accessible, "a callback of an event may only read the event");
}

ToolErr read_event(const EventInstance* instance, int element, void* buffer) {
    if (instance == nullptr || instance != delivered) return no_instance();
    const int elements = event_entry(instance->event.type).elements;
    if (element < 0 || element >= elements)
        return set_error(ToolErr::invalid_index, "element %d is out of range: the event has %d", element,
                         elements);
    std::memcpy(buffer, &instance->event.elements[static_cast<size_t>(element)], sizeof(int64_t));
    return ToolErr::success;
}

ToolErr copy_event(const EventInstance* instance, void* buffer) {
    if (instance == nullptr || instance != delivered) return no_instance();
    const auto elements = static_cast<size_t>(event_entry(instance->event.type).elements);
    std::memcpy(buffer, instance->event.elements.data(), elements * sizeof(int64_t));
    return ToolErr::success;
}

ToolErr time_of_event(const EventInstance* instance, int64_t& time) {
    if (instance == nullptr || instance != delivered) return no_instance();
    time = instance->time;
    return ToolErr::success;
}

} // namespace zipmpi::core::tool
