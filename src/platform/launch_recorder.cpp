// SPDX-License-Identifier: Apache-2.0
// One folder for each launch: launch.json, and a file for each buffer and image.
#include "platform/launch_recorder.hpp"

#include "base/whole_file.hpp"
#include "platform/boundary.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"
#include "platform/program.hpp"
#include "platform/queue.hpp"
#include "platform/settings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

namespace causeway::platform {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// More than that would take a program's machine away from it.
constexpr std::size_t most_bytes = std::size_t{2} << 30;

std::string driver_text(const _cl_device_id& device, cl_device_info name) {
    std::string text(1024, '\0');
    (void)ask_device(device, name, text.size(), text.data(), nullptr);
    return text.c_str();
}

/// By which a replay loads the driver, wherever it was looked for.
std::string library_of(const driver& of) {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(of.calls->clGetDeviceIDs), &found) == 0 || found.dli_fname == nullptr)
        throw std::runtime_error("its driver is in no library");
    return found.dli_fname;
}

void write(const fs::path& path, const void* bytes, std::size_t size) {
    if (!write_file(path, {static_cast<const char*>(bytes), size}))
        throw std::runtime_error("cannot write " + path.string());
}

std::string hex(const std::vector<std::byte>& bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const auto each : bytes) {
        text += digits[std::to_integer<unsigned>(each) >> 4];
        text += digits[std::to_integer<unsigned>(each) & 15];
    }
    return text;
}

void require_code(cl_int code, const char* what) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + " gives code " + std::to_string(code));
}

/// Waits until nothing of the queue runs and the launch could begin. Throws where that may take for ever.
void wait_for_turn(const command_shape& shape) {
    for (cl_uint i = 0; i < shape.waits && shape.wait_list != nullptr; ++i) {
        auto* const event = shape.wait_list[i];
        if (event == nullptr || !event->is(kind::event)) return; // the launch will be refused
        if (event->is_users() && !event->over())
            throw std::runtime_error("it waits for an event of the program itself");
    }
    if (shape.queue->waiting_count.load() != 0)
        throw std::runtime_error("commands before it wait for an event of the program itself");
    if (shape.waits != 0 && shape.wait_list != nullptr)
        require_code(entry::clWaitForEvents(shape.waits, shape.wait_list), "clWaitForEvents");
    require_code(entry::clFinish(shape.queue), "clFinish");
}

json image_facts_of(const _cl_mem& image) {
    const auto& shape = image.image.shape;
    return {{"order", image.image.format.image_channel_order},
            {"type", image.image.format.image_channel_data_type},
            {"shape", shape.image_type},
            {"width", shape.image_width},
            {"height", shape.image_height},
            {"depth", shape.image_depth},
            {"layers", shape.image_array_size},
            {"pixel_bytes", image.image.pixel_bytes}};
}

std::vector<std::byte> contents_of(_cl_command_queue& queue, _cl_mem& object) {
    std::vector<std::byte> bytes;
    if (!object.is_image()) {
        bytes.resize(object.size);
        require_code(
            entry::clEnqueueReadBuffer(&queue, &object, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr),
            "reading a buffer of it");
        return bytes;
    }
    const auto region = whole_region(object);
    const std::array<size_t, 3> origin{};
    bytes.resize(region[0] * region[1] * region[2] * object.image.pixel_bytes);
    require_code(entry::clEnqueueReadImage(&queue, &object, CL_TRUE, origin.data(), region.data(), 0, 0, bytes.data(),
                                           0, nullptr, nullptr),
                 "reading an image of it");
    return bytes;
}

/// Two parts of a buffer share nothing if they lie apart.
bool share_memory(_cl_mem& one, _cl_mem& other) {
    if (&one.root() != &other.root()) return false;
    const bool are_parts = one.parent && other.parent && !one.is_image() && !other.is_image();
    return !are_parts || (one.offset < other.offset + other.size && other.offset < one.offset + one.size);
}

/// The objects of one launch, each once; those that share memory cannot be copied apart.
class objects {
  public:
    objects(_cl_command_queue& queue, fs::path folder) : m_queue(queue), m_folder(std::move(folder)) {}

    std::size_t number_of(_cl_mem& object) {
        if (const auto known = m_numbers.find(&object); known != m_numbers.end()) return known->second;
        for (const auto& [other, number] : m_numbers)
            if (share_memory(*other, object)) throw std::runtime_error("two of its arguments share memory");
        m_bytes += object.size;
        if (m_bytes > most_bytes) throw std::runtime_error("its buffers have more than 2 GiB");
        const auto number = m_numbers.size();
        const auto bytes = contents_of(m_queue, object);
        write(m_folder / std::to_string(number), bytes.data(), bytes.size());
        json told{{"bytes", bytes.size()},
                  {"flags", object.flags},
                  {"host_ptr", reinterpret_cast<std::uintptr_t>(object.host_ptr)}};
        if (object.is_image()) told["image"] = image_facts_of(object);
        list.push_back(std::move(told));
        m_numbers.emplace(&object, number);
        return number;
    }

    json list = json::array();

  private:
    _cl_command_queue& m_queue;
    fs::path m_folder;
    std::map<_cl_mem*, std::size_t> m_numbers;
    std::size_t m_bytes = 0;
};

json argument_of(const kernel_argument& argument, const argument_facts& facts, objects& used) {
    switch (argument.what) {
    case kernel_argument::sort::value: return {{"value", hex(argument.value)}};
    case kernel_argument::sort::local: return {{"local", argument.local_bytes}};
    case kernel_argument::sort::memory:
        if (argument.memory == nullptr) return {{"object", nullptr}};
        return {{"object", used.number_of(*argument.memory)}, {"reads_only", facts.how == access::read}};
    case kernel_argument::sort::sampler:
        return {{"sampler", {argument.sampler->normalised, argument.sampler->addressing, argument.sampler->filter}}};
    case kernel_argument::sort::unset: break;
    }
    throw std::runtime_error("an argument is not set");
}

json arguments_of(_cl_kernel& kernel, objects& used) {
    // Reading takes the locks of kernels' queues: what is set is copied first.
    std::vector<std::pair<kernel_argument, argument_facts>> set;
    {
        const std::lock_guard lock(kernel.mutex);
        for (cl_uint i = 0; i < kernel.argument_count(); ++i) set.emplace_back(kernel.argument(i), kernel.facts(i));
    }
    json told = json::array();
    for (const auto& [argument, facts] : set) told.push_back(argument_of(argument, facts, used));
    return told;
}

template <class Sizes> json list_of(const Sizes& sizes, cl_uint dimensions) {
    return std::vector<size_t>(sizes.begin(), sizes.begin() + dimensions);
}

} // namespace

launch_recorder* launch_recorder::of_process() {
    static launch_recorder* const one = observer::hears_calls() && !settings().text(option::study_launches).empty()
                                            ? new launch_recorder
                                            : nullptr;
    return one;
}

launch_recorder::launch_recorder() {
    std::istringstream file(read_file(settings().text(option::study_launches)).value_or(""));
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        wanted one;
        words >> one.kernel >> one.left >> one.dimensions;
        if (!words || one.dimensions < 1 || one.dimensions > 3 || one.left < 1) {
            std::fprintf(stderr, "causeway: a line of %s names no launch: %s\n",
                         settings().text(option::study_launches).c_str(), line.c_str());
            continue;
        }
        for (cl_uint i = 0; i < one.dimensions; ++i) words >> one.global[i];
        for (cl_uint i = 0; i < one.dimensions; ++i) words >> one.local[i];
        m_wanted.push_back(one);
    }
}

void launch_recorder::enqueues(api_call, const command_shape& shape) {
    if (shape.kernel == nullptr || !shape.kernel->is(kind::kernel) || shape.queue == nullptr ||
        !shape.queue->is(kind::queue))
        return;
    {
        const std::lock_guard lock(m_mutex);
        const auto same = [&](const std::array<size_t, 3>& a, const std::array<size_t, 3>& b) {
            return std::equal(a.begin(), a.begin() + shape.dimensions, b.begin());
        };
        const auto found = std::find_if(m_wanted.begin(), m_wanted.end(), [&](const wanted& one) {
            return one.dimensions == shape.dimensions && one.kernel == shape.kernel->name &&
                   same(one.global, shape.global) && same(one.local, shape.local);
        });
        if (found == m_wanted.end() || --found->left != 0) return;
        m_wanted.erase(found);
    }
    try {
        record(shape);
    } catch (const refusal& refused) {
        std::fprintf(stderr, "causeway: a launch of %s cannot be recorded: code %d\n", shape.kernel->name.c_str(),
                     refused.code);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway: a launch of %s cannot be recorded: %s\n", shape.kernel->name.c_str(),
                     error.what());
    }
}

namespace {

/// What the driver has of a program without source: one that came as a binary, or was linked.
std::vector<unsigned char> binary_of(_cl_program& program, const _cl_device_id& device) {
    for (auto& part : program.parts) {
        const auto at = std::find(part.devices.begin(), part.devices.end(), &device);
        if (!part.raw || at == part.devices.end()) continue;
        std::vector<size_t> sizes(part.devices.size());
        check(part.raw.calls().clGetProgramInfo(part.raw.raw(), CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t),
                                                sizes.data(), nullptr));
        std::vector<std::vector<unsigned char>> all;
        for (const auto size : sizes) all.emplace_back(size);
        std::vector<unsigned char*> targets;
        for (auto& each : all) targets.push_back(each.data());
        check(part.raw.calls().clGetProgramInfo(part.raw.raw(), CL_PROGRAM_BINARIES,
                                                targets.size() * sizeof(unsigned char*), targets.data(), nullptr));
        auto& own = all[static_cast<size_t>(at - part.devices.begin())];
        if (!own.empty()) return std::move(own);
    }
    throw std::runtime_error("its program has no source, and its driver no binary");
}

} // namespace

void launch_recorder::record(const command_shape& shape) {
    auto& kernel = *shape.kernel;
    wait_for_turn(shape);
    const auto number = [&] {
        const std::lock_guard lock(m_mutex);
        return m_recorded++;
    }();
    const auto folder = fs::path(settings().text(option::study)) /
                        (std::to_string(::getpid()) + "-" + std::to_string(number));
    fs::create_directories(folder);
    objects used(*shape.queue, folder);
    const auto& device = *shape.queue->device;
    json told{{"kernel", kernel.name},
              {"dimensions", shape.dimensions},
              {"offset", list_of(shape.offset, shape.dimensions)},
              {"global", list_of(shape.global, shape.dimensions)},
              {"local", shape.local[0] == 0 ? json() : list_of(shape.local, shape.dimensions)},
              {"options", kernel.program->options},
              {"device", driver_text(device, CL_DEVICE_NAME)},
              {"driver", driver_text(device, CL_DRIVER_VERSION)},
              {"library", library_of(device.driver)}};
    told["arguments"] = arguments_of(kernel, used);
    told["objects"] = used.list;
    if (kernel.program->source.empty()) {
        const auto binary = binary_of(*kernel.program, device);
        write(folder / "program.bin", binary.data(), binary.size());
    } else {
        write(folder / "program.cl", kernel.program->source.data(), kernel.program->source.size());
    }
    const auto text = told.dump(1, ' ', false, json::error_handler_t::replace);
    write(folder / "launch.json", text.data(), text.size());
}

} // namespace causeway::platform
