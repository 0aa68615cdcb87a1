// SPDX-License-Identifier: Apache-2.0
// A stream graph from its first node to its last token.
#pragma once

#include "graph/balance.hpp"
#include "graph/run.hpp"

#include <mutex>

namespace causeway::graph {

/// Whether copies and kernels of a device go through separate queues.
enum class overlap { where_it_pays, always, never };

/// Described first, then initialised, then executed any number of times. Threads may not share one, but for stop().
/// All throw transfer_error; the texts name nodes.
class stream_graph {
  public:
    /// Kernels run on this device unless they say otherwise.
    stream_graph(cl::context context, cl_device_id device) { (void)memory_space_of(std::move(context), device); }
    stream_graph(const stream_graph&) = delete;
    stream_graph& operator=(const stream_graph&) = delete;

    /// The number of a device, which is added when it is named first.
    [[nodiscard]] memory_space memory_space_of(cl::context context, cl_device_id device);

    void add_kernel(const std::string& name, kernel_code code, memory_space where);
    /// Before initialize(). A later value for the same argument replaces an earlier one.
    void set_argument(const std::string& kernel, kernel_code::argument given);
    void add_function(const std::string& name, host_function function);
    void add_input(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes, stream_end end);
    void add_output(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes, stream_end end);
    /// The memory of a stream is page-locked, so that staging would only cost time.
    void use_page_locked(const std::string& stream);
    /// Where in its file, given by descriptor, a stream begins in the runs to come. Not while one is under way.
    void set_file_offset(const std::string& stream, std::int64_t offset);
    /// An edge without sizes has those of the smallest work of its source, or else of its target.
    void connect(const std::string& source, const std::string& target, edge made);

    /// Compiles, allocates and binds; once. With `timed`, runs measure what tokens cost, and later runs may take others
    /// where their size is left to the library.
    void initialize(overlap wanted = overlap::where_it_pays, bool timed = false);
    /// Before initialize(): tells `to` of every firing, in runs whose commands are timed for that.
    void record(std::shared_ptr<transfer::recorder> to, std::string name);
    void execute();
    /// Any thread, while another executes: ends the run after the periods that have begun. Refused at any other time.
    void stop();

    /// For ends of streams that move tokens by themselves.
    [[nodiscard]] std::shared_ptr<doorbell> bell() const { return m_bell; }

    /// After initialize().
    [[nodiscard]] std::size_t token_bytes(const std::string& stream) const;
    /// Any thread.
    [[nodiscard]] std::uint64_t token_count(const std::string& stream);
    [[nodiscard]] std::string explain() const;
    [[nodiscard]] std::string to_dot() const;

  private:
    /// Decides on queues and batches; the time that a run should take.
    double plan(overlap wanted);
    [[nodiscard]] bool overlap_pays();
    /// With as many spare buffers as are worth their memory and fit.
    [[nodiscard]] pipeline compile_with_slack() const;
    /// Compiles and makes everything for tokens of so many smallest ones.
    void build();
    /// Where batches are left to the library: those that fit what a run has measured.
    void learn();
    /// What the smallest work of a kernel gives; 0 if nothing says it.
    [[nodiscard]] std::size_t item_bytes(std::size_t kernel) const;
    [[nodiscard]] bool has_automatic() const;
    /// Takes the next smaller batch of the island that has the largest; false if all are 1.
    [[nodiscard]] bool take_smaller(const balance& balanced);
    void require_open() const;
    void require_initialized() const;
    void check_ends() const;
    void add(node added, kernel_code code, host_function function, stream_end end);
    [[nodiscard]] std::vector<device_limits> limits() const;

    description m_smallest; // as its author describes it
    description m_described; // with the batches that were chosen
    std::vector<std::uint64_t> m_batches;
    bool m_timed = false;
    std::shared_ptr<transfer::recorder> m_recorder;
    std::string m_name; // in the timeline
    std::vector<device> m_devices;
    std::vector<kernel_code> m_kernels; // by node
    std::vector<host_function> m_functions; // by node
    std::vector<stream_end> m_streams; // by node
    std::shared_ptr<doorbell> m_bell = std::make_shared<doorbell>();
    pipeline m_compiled;
    rings m_memory;
    std::unique_ptr<work_parts> m_parts;
    std::mutex m_run_mutex; // guards what follows, not what the run does
    std::unique_ptr<run> m_run;
    bool m_executing = false;
    bool m_stop_asked = false; // since it executes
};

} // namespace causeway::graph
