// SPDX-License-Identifier: Apache-2.0
// Replays a recorded launch on the driver itself, without the platform.
#pragma once

#include "study/replay/guarded_memory.hpp"

#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#undef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace replay {

/// Owns a reference of OpenCL.
template <class Handle, cl_int (*Release)(Handle)> using owned = std::unique_ptr<
    std::remove_pointer_t<Handle>, std::integral_constant<decltype(Release), Release>>;
using owned_memory = owned<cl_mem, clReleaseMemObject>;
using owned_kernel = owned<cl_kernel, clReleaseKernel>;
using owned_program = owned<cl_program, clReleaseProgram>;
using owned_sampler = owned<cl_sampler, clReleaseSampler>;

/// How a launch is replayed. What a request leaves out is as recorded.
struct variant {
    std::vector<std::size_t> global, local; ///< local is empty where the driver chooses
    std::string source, kernel;             ///< of another program's file and kernel; empty: as recorded
    enum class allocation { as_made, device, host, lent } where = allocation::as_made;
    enum class access { as_made, read_write, narrow } how = access::as_made;
    enum class transfer { none, copy, map } moves = transfer::none;
    std::size_t misaligned = 0; ///< bytes from a page boundary to the start of lent memory
    bool in_parts = false;      ///< each compute unit gets a part of the work-groups

    static variant from(const nlohmann::json& request, const nlohmann::json& recorded);
    /// Variants with the same buffers.
    [[nodiscard]] std::string memory_key() const;
};

struct object {
    std::vector<std::byte> contents; ///< before the launch
    cl_mem_flags flags = 0;
    std::optional<nlohmann::json> image;
    bool reads_only = true; ///< all arguments that take it are read only
    bool changes = false;   ///< the launch has changed it, or may: it is not reads_only
    std::string element;    ///< "float" and the like
};

/// Seconds of one repetition: from the enqueue to the end, and by the event's profiling times.
struct times {
    double whole = 0, by_event = 0;
};

class launch {
  public:
    /// Throws std::runtime_error.
    explicit launch(const std::filesystem::path& folder);
    ~launch();

    /// Facts of the launch that need no run.
    [[nodiscard]] nlohmann::json facts();
    /// Runs the launch as recorded, in guarded memory. Its results are the reference for variants.
    [[nodiscard]] nlohmann::json refer();
    /// Changes the contents of objects in which the launch writes what is there already: otherwise check() would not
    /// notice a variant that writes nothing. Returns the number of such objects, and of objects that the launch leaves
    /// alone.
    [[nodiscard]] nlohmann::json disturb();
    /// Runs a variant in guarded memory and compares it with the reference.
    [[nodiscard]] nlohmann::json check(const variant& of);
    /// Runs the launch as recorded several times more: whether it still gives what it gave first.
    [[nodiscard]] nlohmann::json confirm();
    /// Writes the reference into the folder, for a process with other settings of the driver.
    [[nodiscard]] nlohmann::json keep() const;
    /// Reads the reference that another process wrote there.
    [[nodiscard]] nlohmann::json adopt();
    /// Runs all variants in turn for `seconds`, at least `least` times and at most `most` times after the first.
    [[nodiscard]] nlohmann::json time(const std::vector<variant>& all, unsigned least, unsigned most, double seconds,
                                      bool all_count);

  private:
    struct memory_set {
        std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> lent; ///< declared first: freed after `memory`,
                                                                            ///< which uses it
        std::vector<owned_memory> memory;
    };

    cl_program program_of(const std::string& source);
    cl_kernel kernel_of(const variant& of);
    void set_arguments(cl_kernel kernel, const std::vector<owned_memory>& memory);
    owned_memory make(const object& of, cl_mem_flags flags, void* host) const;
    memory_set make_set(const variant& of) const;
    void restore(const memory_set& set, bool all);
    void divide_device();
    void enqueue(cl_kernel kernel, const variant& of, cl_event* event);
    void enqueue_parts(cl_kernel kernel, const variant& of, cl_event* event);
    void finish();
    void move(const memory_set& set, variant::transfer how, bool is_in);
    times run(cl_kernel kernel, const memory_set& set, const variant& of);
    [[nodiscard]] std::filesystem::path kept(std::size_t object) const;
    /// The contents of all objects after the launch.
    std::vector<std::vector<std::byte>> run_guarded(const variant& of, bool& is_intact);

    std::filesystem::path m_folder;
    nlohmann::json m_recorded;
    std::vector<object> m_objects;
    std::vector<owned_sampler> m_samplers;
    cl_device_id m_device = nullptr;
    std::vector<cl_device_id> m_units; ///< sub-devices of one compute unit, if CAUSEWAY_REPLAY_UNITS is set
    cl_context m_context = nullptr;
    cl_command_queue m_queue = nullptr;
    std::vector<cl_command_queue> m_unit_queues;
    std::map<std::string, owned_program> m_programs;
    std::map<std::pair<std::string, std::string>, owned_kernel> m_kernels;
    std::vector<std::vector<std::byte>> m_reference;
    bool m_repeats = true; ///< whether each run as recorded gave the reference
    double m_confirming_seconds = 0; ///< spent in confirm() so far
};

} // namespace replay
