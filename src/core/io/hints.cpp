// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/hints.hpp"

#include <charconv>

namespace zipmpi::core::io {
namespace {

constexpr int64_t preset_buffer_bytes = 16 << 20;
constexpr unsigned preset_permissions = 0666; // less the umask

// Reserved by the standard, and what others call the same. Those that say nothing to us are kept, so that a
// program finds them again.
constexpr const char* kept[] = {"access_style", "cb_block_size",   "chunked",      "chunked_item",
                                "chunked_size", "file_perm",       "io_node_list", "nb_proc",
                                "num_io_nodes", "striping_factor", "striping_unit"};

bool number_in(const std::string& text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

void take_number(File& file, const Hints& given, const char* key, int64_t& value) {
    const std::string* const text = given.find(key);
    int64_t number = 0;
    if (text != nullptr && number_in(*text, number) && number > 0) value = number;
    file.hints.set(key, std::to_string(value));
}

void take_switch(File& file, const Hints& given, const char* key, Tuning::Buffering& value) {
    using enum Tuning::Buffering;
    const std::string* const text = given.find(key);
    if (text != nullptr && (*text == "enable" || *text == "true")) value = always;
    if (text != nullptr && (*text == "disable" || *text == "false")) value = never;
    if (text != nullptr && *text == "automatic") value = automatic;
    file.hints.set(key, value == always ? "enable" : value == never ? "disable" : "automatic");
}

// The standard has one word for both directions.
void take_buffering(const Hints& given, Tuning& tuning) {
    const std::string* const text = given.find("collective_buffering");
    if (text == nullptr) return;
    const auto value = *text == "false" ? Tuning::Buffering::never : Tuning::Buffering::automatic;
    tuning.reads = tuning.writes = value;
}

} // namespace

void take_hints(File& file, Info* info) {
    static const Hints none;
    const Hints& given = info != nullptr ? hints_of(*info) : none;
    Tuning& t = file.tuning;
    if (t.buffer_bytes == 0) t.buffer_bytes = preset_buffer_bytes;
    take_number(file, given, "cb_buffer_size", t.buffer_bytes);
    take_number(file, given, "cb_nodes", t.aggregators);
    take_buffering(given, t);
    take_switch(file, given, "romio_cb_read", t.reads);
    take_switch(file, given, "romio_cb_write", t.writes);
    const bool never = t.reads == Tuning::Buffering::never && t.writes == Tuning::Buffering::never;
    file.hints.set("collective_buffering", never ? "false" : "true");
    for (const char* const key : kept)
        if (const std::string* const text = given.find(key)) file.hints.set(key, *text);
}

unsigned permissions_of(Info* info) {
    const std::string* const text = info != nullptr ? hints_of(*info).find("file_perm") : nullptr;
    unsigned value = 0;
    if (text == nullptr) return preset_permissions;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, 8);
    return error == std::errc() && end == text->data() + text->size() ? value & 07777 : preset_permissions;
}

} // namespace zipmpi::core::io
