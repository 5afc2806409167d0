// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Forwards the output of ranks and gateways to mpiexec and to files. While it is paused, the pipes fill up
// and the ranks block, so memory stays bounded.
#pragma once

#include "launch/noded/job_lifecycle.hpp"
#include "launch/noded/line_splitter.hpp"
#include "launch/noded/output_files.hpp"
#include "launch/noded/second_table.hpp"
#include "launch/noded/stdin_forwarder.hpp"

#include <array>

namespace zipmpi::launch {

enum class OutputStream : uint32_t { out = 0, err = 1 };

class OutputForwarder {
  public:
    OutputForwarder(const NodeJob& job, EventLoop& loop, ParentLink& parent, JobLifecycle& lifecycle,
                    const StdinForwarder& input);
    // Opens the output files of the ranks, before any of them starts: a file that cannot be created ends the
    // job early.
    bool begin(uint32_t gateways, Diagnostic& why);
    // Creates a pipe. Returns false with errno on failure.
    static bool make_pipe(os::Fd& read_end, os::Fd& write_end);
    [[nodiscard]] uint32_t pipes_per_rank() const;
    // Pipes that are added from now on do not count against the limit of open files of this process, but
    // against that of a second table. Returns false if that is not possible.
    bool hold_pipes_apart() { return second_.begin(pipe_loop_.fd()); }
    [[nodiscard]] bool holds_pipes_apart() const { return second_.exists(); }
    void add_pipe(uint32_t client, OutputStream stream, os::Fd read_end);
    void add_gateway_pipe(uint32_t client, os::Fd read_end);
    void read_all(uint32_t client, OutputStream stream); // what its pipe holds
    void close_pipes();                                  // a process outside the job holds them

    void pause();
    void resume();
    [[nodiscard]] bool is_paused() const { return paused_; }
    [[nodiscard]] uint32_t open_pipes() const { return open_pipes_; }
    void on_time(uint64_t now); // shows prompts
    [[nodiscard]] uint64_t next_time() const { return prompt_at_; }

  private:
    static constexpr size_t streams = 2;
    struct Pipe { // its read end
        os::Fd own;
        int apart = -1; // its number in second_
        explicit operator bool() const { return own || apart >= 0; }
    };
    struct ClientOutput {
        std::array<Pipe, streams> pipe;
        std::array<LineSplitter, streams> lines;
        std::array<int, streams> file{OutputFiles::none, OutputFiles::none};
    };

    bool prepare_rank(uint32_t local, Diagnostic& why);
    bool read_once(uint32_t client, size_t stream);
    ssize_t read_pipe(const Pipe& pipe, char* buffer, size_t size);
    void close_pipe(Pipe& pipe);
    void send(size_t stream, uint32_t client, std::string_view text);
    [[nodiscard]] std::string_view write_to_file(size_t stream, uint32_t client, std::string_view text);
    void flush_prompts();

    const NodeJob& job_;
    EventLoop& loop_;
    ParentLink& parent_;
    JobLifecycle& lifecycle_;
    const StdinForwarder& input_;
    EventLoop pipe_loop_; // of the pipes, served by loop_ unless paused
    EventLoop::Source source_;
    std::array<EventLoop::Source, streams> pipe_sources_;
    SecondTable second_;
    std::vector<ClientOutput> clients_; // the ranks by local index, then the gateways
    OutputFiles files_;
    int open_line_[streams] = {-1, -1}; // client that has an unfinished line on this stream
    uint32_t open_pipes_ = 0;
    bool paused_ = false;
    uint64_t prompt_at_ = 0;
};

} // namespace zipmpi::launch
