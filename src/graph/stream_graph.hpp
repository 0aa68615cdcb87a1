// SPDX-License-Identifier: Apache-2.0
// A stream graph: described, compiled and executed.
#pragma once

#include "graph/balance.hpp"
#include "graph/run.hpp"

#include <mutex>

namespace causeway::graph {

/// Whether copies and kernels of a device go through separate queues.
enum class overlap { where_it_pays, always, never };

/// Describe it, then initialize(), then execute() any number of times. One thread at a time, except where a function
/// says any thread. All throw transfer_error; the texts name nodes.
class stream_graph {
  public:
    /// Kernels run on this device unless they say otherwise.
    stream_graph(cl::context context, cl_device_id device) { (void)memory_space_of(std::move(context), device); }
    stream_graph(const stream_graph&) = delete;
    stream_graph& operator=(const stream_graph&) = delete;

    /// The index of a device, which is added at its first use.
    [[nodiscard]] memory_space memory_space_of(cl::context context, cl_device_id device);

    void add_kernel(const std::string& name, kernel_code code, memory_space where);
    /// Before initialize(). A later value for the same argument replaces an earlier one.
    void set_argument(const std::string& kernel, kernel_code::argument given);
    void add_function(const std::string& name, host_function function);
    void add_input(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes, stream_end end);
    void add_output(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes, stream_end end);
    /// The memory of a stream is page-locked, so that staging would only cost time.
    void use_page_locked(const std::string& stream);
    /// Sets where, in a file given by descriptor, a stream begins in later runs. Not during a run.
    void set_file_offset(const std::string& stream, std::int64_t offset);
    /// Sizes that the edge leaves at 0 become those of its source's smallest firing, else of its target's.
    void connect(const std::string& source, const std::string& target, edge made);

    /// Compiles, allocates and binds; call once. If `timed`, runs measure the cost of tokens, and later runs may use
    /// other token sizes where those are automatic.
    void initialize(overlap wanted = overlap::where_it_pays, bool timed = false);
    /// Before initialize(): later runs are timed, and record every firing in `to`.
    void record(std::shared_ptr<transfer::recorder> to, std::string name);
    void execute();
    /// Any thread, while another executes: ends the run after the periods that have begun. Refused at any other time.
    void stop();

    /// For stream ends that move tokens asynchronously.
    [[nodiscard]] std::shared_ptr<doorbell> bell() const { return m_bell; }

    /// After initialize().
    [[nodiscard]] std::size_t token_bytes(const std::string& stream) const;
    /// Any thread.
    [[nodiscard]] std::uint64_t token_count(const std::string& stream);
    [[nodiscard]] std::string explain() const;
    [[nodiscard]] std::string to_dot() const;

  private:
    /// Chooses queues and batches; returns the predicted seconds of a run.
    double plan(overlap wanted);
    [[nodiscard]] bool overlap_pays();
    /// Compiles with as many spare buffers as pay for their memory and fit.
    [[nodiscard]] pipeline compile_with_slack() const;
    /// Compiles and allocates for the chosen batches.
    void build();
    /// Where batches are automatic, chooses them again from a run's measurements.
    void learn();
    /// Output bytes of a kernel's smallest firing; 0 if unknown.
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
