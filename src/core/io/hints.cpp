// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/hints.hpp"

#include <charconv>

namespace zipmpi::core::io {
namespace {

constexpr int64_t default_buffer_bytes = 16 << 20;
constexpr unsigned default_permissions = 0666; // less the umask

// Keys kept as given, so that an application can read them back. Of these only file_perm has an effect
// (permissions_of()).
constexpr const char* preserved_keys[] = {"access_style", "cb_block_size",   "chunked",      "chunked_item",
                                          "chunked_size", "file_perm",       "io_node_list", "nb_proc",
                                          "num_io_nodes", "striping_factor", "striping_unit"};

bool parse_number(const std::string& text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

void apply_number(File& file, const Hints& info_hints, const char* key, int64_t& value) {
    const std::string* const text = info_hints.find(key);
    int64_t number = 0;
    if (text != nullptr && parse_number(*text, number) && number > 0) value = number;
    file.hints.set(key, std::to_string(value));
}

void apply_switch(File& file, const Hints& info_hints, const char* key, IoHints::Buffering& value) {
    using enum IoHints::Buffering;
    const std::string* const text = info_hints.find(key);
    if (text != nullptr && (*text == "enable" || *text == "true")) value = always;
    if (text != nullptr && (*text == "disable" || *text == "false")) value = never;
    if (text != nullptr && *text == "automatic") value = automatic;
    file.hints.set(key, value == always ? "enable" : value == never ? "disable" : "automatic");
}

// The standard has one key for both directions.
void apply_buffering(const Hints& info_hints, IoHints& io_hints) {
    const std::string* const text = info_hints.find("collective_buffering");
    if (text == nullptr) return;
    const auto value = *text == "false" ? IoHints::Buffering::never : IoHints::Buffering::automatic;
    io_hints.reads = io_hints.writes = value;
}

} // namespace

void apply_hints(File& file, Info* info) {
    static const Hints none;
    const Hints& info_hints = info != nullptr ? hints_of(*info) : none;
    IoHints& t = file.io_hints;
    if (t.buffer_bytes == 0) t.buffer_bytes = default_buffer_bytes;
    apply_number(file, info_hints, "cb_buffer_size", t.buffer_bytes);
    apply_number(file, info_hints, "cb_nodes", t.aggregators);
    apply_buffering(info_hints, t);
    apply_switch(file, info_hints, "romio_cb_read", t.reads);
    apply_switch(file, info_hints, "romio_cb_write", t.writes);
    const bool never = t.reads == IoHints::Buffering::never && t.writes == IoHints::Buffering::never;
    file.hints.set("collective_buffering", never ? "false" : "true");
    for (const char* const key : preserved_keys)
        if (const std::string* const text = info_hints.find(key)) file.hints.set(key, *text);
}

unsigned permissions_of(Info* info) {
    const std::string* const text = info != nullptr ? hints_of(*info).find("file_perm") : nullptr;
    unsigned value = 0;
    if (text == nullptr) return default_permissions;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, 8);
    return error == std::errc() && end == text->data() + text->size() ? value & 07777 : default_permissions;
}

} // namespace zipmpi::core::io
