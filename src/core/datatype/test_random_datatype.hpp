// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random datatypes for tests, built by the MPI constructors, each with a model that lists the displacement of
// every byte.
#pragma once

#include "core/api/datatype.hpp"
#include "core/datatype/derived.hpp"
#include "core/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <vector>

namespace zipmpi::core {

inline constexpr size_t max_bytes = 1200;
inline constexpr int64_t max_reach = 100000;

// The typemap of the standard by brute force: every byte, and the bounds set by MPI_Type_create_resized.
struct Model {
    std::vector<int64_t> bytes;    // displacement of each, in packed order
    std::vector<int64_t> elements; // packed offset after each basic element
    std::optional<int64_t> lower_bound;
    std::optional<int64_t> upper_bound;
    int64_t low = 0; // lower bound, padding included
    int64_t high = 0;
    bool any = false;
    int64_t alignment = 1;

    [[nodiscard]] int64_t lower() const { return lower_bound.value_or(low); }
    [[nodiscard]] int64_t upper() const { return upper_bound.value_or(high); }
    [[nodiscard]] int64_t extent() const { return upper() - lower(); }

    void add(const Model& m, int64_t at) {
        for (const int64_t e : m.elements) elements.push_back(static_cast<int64_t>(bytes.size()) + e);
        for (const int64_t b : m.bytes) bytes.push_back(b + at);
        if (!m.any) return;
        if (m.lower_bound) lower_bound = std::min(lower_bound.value_or(INT64_MAX), at + *m.lower_bound);
        if (m.upper_bound) upper_bound = std::max(upper_bound.value_or(INT64_MIN), at + *m.upper_bound);
        low = any ? std::min(low, at + m.lower()) : at + m.lower();
        high = any ? std::max(high, at + m.upper()) : at + m.upper();
        any = true;
        alignment = std::max(alignment, m.alignment);
    }
    void add_row(const Model& m, int64_t at, int64_t count) {
        for (int64_t i = 0; i < count; ++i) add(m, at + i * m.extent());
    }
};

struct Sample {
    TypeShare type;
    Model model;
};

// Count arrays as int or MPI_Count, independent of what the constructor stores.
struct CountList {
    std::vector<int64_t> wide;
    std::vector<int32_t> narrow;
    [[nodiscard]] CountArray array(bool use_wide) {
        narrow.assign(wide.begin(), wide.end());
        return use_wide ? CountArray{wide.data(), true} : CountArray{narrow.data(), false};
    }
};

class TypeGenerator {
  public:
    explicit TypeGenerator(uint64_t seed)
        : random_(seed) {}
    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }
    bool maybe() { return pick(0, 1) == 0; }

    Sample make(int depth) {
        for (;;) {
            Sample s = depth == 0 ? basic() : derived(depth);
            const int64_t reach = std::max(std::abs(s.model.lower()), std::abs(s.model.upper()));
            if (s.model.bytes.size() <= max_bytes && reach <= max_reach) return s;
            --depth; // too large: use a simpler type
        }
    }

  private:
    Sample basic() {
        static constexpr TypeId ids[] = {TypeId::CHAR,       TypeId::SHORT,     TypeId::INT,
                                         TypeId::DOUBLE,     TypeId::FLOAT_INT, TypeId::C_DOUBLE_COMPLEX,
                                         TypeId::DOUBLE_INT, TypeId::SHORT_INT, TypeId::LONG_DOUBLE_INT};
        Datatype& type = builtin_type(ids[pick(0, 8)]);
        Model m;
        const auto put = [&m](int64_t at, int64_t n) {
            for (int64_t i = 0; i < n; ++i) m.bytes.push_back(at + i);
            m.elements.push_back(static_cast<int64_t>(m.bytes.size()));
        };
        switch (type.id) {
        case TypeId::FLOAT_INT:
            put(0, 4), put(4, 4);
            break;
        case TypeId::DOUBLE_INT:
            put(0, 8), put(8, 4);
            break;
        case TypeId::SHORT_INT:
            put(0, 2), put(4, 4);
            break;
        case TypeId::LONG_DOUBLE_INT:
            put(0, 16), put(16, 4);
            break;
        default:
            put(0, type.size);
        }
        m.any = true;
        m.high = type.extent;
        m.alignment = type.alignment;
        return {share(type), std::move(m)};
    }

    Sample derived(int depth) {
        switch (pick(0, 6)) {
        case 0:
            return vector(make(depth - 1));
        case 1:
            return indexed(make(depth - 1));
        case 2:
            return structure(depth);
        case 3:
            return subarray(make(depth - 1));
        case 4:
            return darray(make(depth - 1));
        case 5:
            return resized(make(depth - 1));
        default:
            return contiguous(make(depth - 1));
        }
    }

    static Sample finish(Err e, Datatype* const& type, Model model) {
        EXPECT_EQ(e, Err::success);
        return {TypeShare(type), std::move(model)};
    }

    // Number of repetitions allowed for a sample of this size.
    int64_t some(const Sample& s, int64_t max_count) {
        const auto limit = static_cast<int64_t>(max_bytes / std::max<size_t>(1, s.model.bytes.size()));
        return pick(0, std::clamp<int64_t>(limit, 1, max_count));
    }

    Sample contiguous(const Sample& old) {
        Datatype* type = nullptr;
        Model m;
        if (pick(0, 3) == 0) {
            m.add(old.model, 0);
            return finish(type_dup(*old.type, type), type, std::move(m));
        }
        const int64_t count = some(old, 6);
        m.add_row(old.model, 0, count);
        return finish(type_contiguous(count, *old.type, type, maybe()), type, std::move(m));
    }

    Sample vector(const Sample& old) {
        const int64_t count = some(old, 7);
        const int64_t block = some(old, 4);
        const bool in_bytes = maybe();
        const int64_t stride = in_bytes ? pick(-100, 200) : pick(-3, 6);
        Model m;
        for (int64_t i = 0; i < count && m.bytes.size() <= max_bytes; ++i)
            m.add_row(old.model, i * stride * (in_bytes ? 1 : old.model.extent()), block);
        Datatype* type = nullptr;
        const Err e = in_bytes ? type_create_hvector(count, block, stride, *old.type, type, maybe())
                               : type_vector(count, block, stride, *old.type, type, maybe());
        return finish(e, type, std::move(m));
    }

    Sample indexed(const Sample& old) {
        const int64_t count = pick(0, 3) == 0 ? some(old, 30) : some(old, 6);
        const bool in_bytes = maybe();
        const bool equal = maybe();
        const int64_t block = some(old, 3);
        CountList blocks;
        CountList displs;
        Model m;
        for (int64_t i = 0; i < count; ++i) {
            blocks.wide.push_back(equal ? block : some(old, 3));
            displs.wide.push_back(in_bytes ? pick(-200, 400) : pick(-5, 30));
            if (m.bytes.size() <= max_bytes)
                m.add_row(old.model, displs.wide.back() * (in_bytes ? 1 : old.model.extent()),
                          blocks.wide.back());
        }
        Datatype* type = nullptr;
        const bool wide = maybe();
        const CountArray b = blocks.array(wide);
        const CountArray p = displs.array(in_bytes || wide);
        Err e;
        if (equal)
            e = in_bytes ? type_create_hindexed_block(count, block, p, *old.type, type, wide)
                         : type_create_indexed_block(count, block, p, *old.type, type, wide);
        else
            e = in_bytes ? type_create_hindexed(count, b, p, *old.type, type, wide)
                         : type_indexed(count, b, p, *old.type, type, wide);
        return finish(e, type, std::move(m));
    }

    Sample structure(int depth) {
        std::vector<Sample> members;
        std::vector<Datatype*> types;
        CountList blocks;
        CountList displs;
        Model m;
        const int64_t count = pick(0, 4);
        for (int64_t i = 0; i < count; ++i) {
            members.push_back(make(static_cast<int>(pick(0, depth - 1))));
            types.push_back(members.back().type.get());
            blocks.wide.push_back(some(members.back(), 3));
            displs.wide.push_back(maybe() && i > 0 ? m.upper() : pick(-100, 300));
            m.add_row(members.back().model, displs.wide.back(), blocks.wide.back());
        }
        if (m.any && !m.upper_bound) {
            while ((m.upper() - m.lower()) % m.alignment != 0) ++m.high;
        }
        Datatype* type = nullptr;
        const Err e =
            type_create_struct(count, blocks.array(maybe()), displs.array(true), types.data(), type, maybe());
        return finish(e, type, std::move(m));
    }

    // Elements of an array selected by `takes`, in memory order.
    template <class Takes>
    static Model array(const Model& old, const std::vector<int64_t>& sizes, bool fortran,
                       const Takes& contains) {
        std::vector<int64_t> at(sizes.size(), 0);
        int64_t total = 1;
        for (const int64_t s : sizes) total *= s;
        Model m;
        for (int64_t i = 0; i < total && m.bytes.size() <= max_bytes; ++i) {
            int64_t rest = i;
            for (size_t k = 0; k < sizes.size(); ++k) {
                const size_t d = fortran ? k : sizes.size() - 1 - k;
                at[d] = rest % sizes[d];
                rest /= sizes[d];
            }
            if (contains(at)) m.add(old, i * old.extent());
        }
        m.any = true;
        m.lower_bound = 0;
        m.upper_bound = total * old.extent();
        m.alignment = std::max(m.alignment, old.alignment);
        return m;
    }

    Sample subarray(const Sample& old) {
        CountList sizes;
        CountList subsizes;
        CountList starts;
        const int64_t dims = pick(1, 3);
        for (int64_t i = 0; i < dims; ++i) {
            sizes.wide.push_back(pick(1, 5));
            subsizes.wide.push_back(pick(1, sizes.wide.back()));
            starts.wide.push_back(pick(0, sizes.wide.back() - subsizes.wide.back()));
        }
        const bool fortran = maybe();
        Model m = array(old.model, sizes.wide, fortran, [&](const std::vector<int64_t>& at) {
            for (size_t d = 0; d < at.size(); ++d)
                if (at[d] < starts.wide[d] || at[d] >= starts.wide[d] + subsizes.wide[d]) return false;
            return true;
        });
        Datatype* type = nullptr;
        const bool wide = maybe();
        const Err e = type_create_subarray(dims, sizes.array(wide), subsizes.array(wide), starts.array(wide),
                                           fortran ? order_fortran : order_c, *old.type, type, wide);
        return finish(e, type, std::move(m));
    }

    Sample darray(const Sample& old) {
        CountList sizes;
        std::vector<int> how;
        std::vector<int> arguments;
        std::vector<int> psizes;
        int size = 1;
        const int64_t dims = pick(1, 3);
        for (int64_t i = 0; i < dims; ++i) {
            sizes.wide.push_back(pick(1, 7));
            how.push_back(static_cast<int>(pick(distribute_none, distribute_cyclic)));
            psizes.push_back(how.back() == distribute_none ? 1 : static_cast<int>(pick(1, 3)));
            const int least = how.back() == distribute_block
                                  ? static_cast<int>((sizes.wide.back() + psizes.back() - 1) / psizes.back())
                                  : 1;
            arguments.push_back(maybe() ? distribute_default : static_cast<int>(pick(least, least + 2)));
            size *= psizes.back();
        }
        const int rank = static_cast<int>(pick(0, size - 1));
        const bool fortran = maybe();
        const auto is_local = [&](const std::vector<int64_t>& at) {
            int64_t left = rank;
            int64_t processes = size;
            for (size_t d = 0; d < at.size(); ++d) {
                processes /= psizes[d];
                const int64_t coordinate = left / processes;
                left %= processes;
                int64_t block = arguments[d];
                if (arguments[d] == distribute_default)
                    block = how[d] == distribute_block ? (sizes.wide[d] + psizes[d] - 1) / psizes[d] : 1;
                if (how[d] != distribute_none && at[d] / block % psizes[d] != coordinate) return false;
            }
            return true;
        };
        Model m = array(old.model, sizes.wide, fortran, is_local);
        Datatype* type = nullptr;
        const Err e =
            type_create_darray(size, rank, dims, sizes.array(maybe()), how.data(), arguments.data(),
                               psizes.data(), fortran ? order_fortran : order_c, *old.type, type, maybe());
        return finish(e, type, std::move(m));
    }

    Sample resized(const Sample& old) {
        const int64_t lower = pick(-50, 50);
        const int64_t extent = pick(-20, 200);
        Model m;
        m.add(old.model, 0);
        m.any = true;
        m.lower_bound = lower;
        m.upper_bound = lower + extent;
        Datatype* type = nullptr;
        return finish(type_create_resized(*old.type, lower, extent, type, maybe()), type, std::move(m));
    }

    std::mt19937_64 random_;
};

} // namespace zipmpi::core
