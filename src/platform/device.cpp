// SPDX-License-Identifier: Apache-2.0
// The list of devices and what they say of themselves: the drivers' words, but for what only this platform knows.
#include "platform/device.hpp"

#include "base/whole_file.hpp"
#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/entry_points.hpp"
#include "platform/identity.hpp"
#include "platform/settings.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace causeway::platform {

namespace {

std::string text_of(const _cl_device_id& device, cl_device_info name) {
    size_t size = 0;
    if (ask_device(device, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    check(ask_device(device, name, size, text.data(), nullptr));
    return text.c_str();
}

std::vector<_cl_device_id*> find_own_devices() {
    const device_filter filter(settings().text(option::devices));
    // Devices point to their drivers, and live as long as the process.
    static auto& drivers = *new std::vector<driver>(load_drivers(filter));
    for (auto& each : drivers) each.rank = cluster::of_process().rank();
    std::vector<_cl_device_id*> found;
    for (const auto& from : drivers) {
        cl_uint count = 0;
        if (from.calls->clGetDeviceIDs(from.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
        std::vector<cl_device_id> raws(count);
        if (from.calls->clGetDeviceIDs(from.platform, CL_DEVICE_TYPE_ALL, count, raws.data(), nullptr) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count; ++i) {
            auto made = ref<_cl_device_id>::adopt(new _cl_device_id(from, raws[i]));
            if (filter.passes(from.name, i, ask<cl_device_type>(*made, CL_DEVICE_TYPE))) found.push_back(made.give());
        }
    }
    return found;
}

/// Extensions that are of the language of kernels alone, or whose calls all go through the table. Others have calls of
/// their own, which would be given objects of this platform.
bool is_kept(std::string_view extension) {
    constexpr std::array<std::string_view, 27> kept = {"cl_khr_global_int32_base_atomics",
                                                       "cl_khr_global_int32_extended_atomics",
                                                       "cl_khr_local_int32_base_atomics",
                                                       "cl_khr_local_int32_extended_atomics",
                                                       "cl_khr_int64_base_atomics",
                                                       "cl_khr_int64_extended_atomics",
                                                       "cl_khr_byte_addressable_store",
                                                       "cl_khr_fp64",
                                                       "cl_khr_fp16",
                                                       "cl_khr_3d_image_writes",
                                                       "cl_khr_spir",
                                                       "cl_khr_il_program",
                                                       "cl_khr_depth_images",
                                                       "cl_khr_image2d_from_buffer",
                                                       "cl_khr_expect_assume",
                                                       "cl_khr_extended_bit_ops",
                                                       "cl_khr_integer_dot_product",
                                                       "cl_khr_subgroups",
                                                       "cl_khr_subgroup_ballot",
                                                       "cl_khr_subgroup_shuffle",
                                                       "cl_khr_subgroup_shuffle_relative",
                                                       "cl_khr_subgroup_extended_types",
                                                       "cl_khr_subgroup_non_uniform_arithmetic",
                                                       "cl_khr_subgroup_non_uniform_vote",
                                                       "cl_khr_select_fprounding_mode",
                                                       "cl_nv_pragma_unroll",
                                                       "cl_nv_compiler_options"};
    return std::find(kept.begin(), kept.end(), extension) != kept.end();
}

std::string own_extensions(const std::string& theirs) {
    std::string ours = "cl_khr_icd";
    for (std::size_t at = 0; at < theirs.size();) {
        const auto end = std::min(theirs.find(' ', at), theirs.size());
        const auto word = std::string_view(theirs).substr(at, end - at);
        if (is_kept(word)) (ours += ' ') += word;
        at = end + 1;
    }
    return ours;
}

/// Empty where the driver is of OpenCL 1 or 2.
std::vector<cl_name_version> versions_of(const _cl_device_id& device, cl_device_info name) {
    size_t size = 0;
    if (ask_device(device, name, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::vector<cl_name_version> list(size / sizeof(cl_name_version));
    if (size != 0) check(ask_device(device, name, size, list.data(), nullptr));
    return list;
}

/// The same as the list of names.
std::vector<cl_name_version> own_extension_versions(const _cl_device_id& device) {
    auto list = versions_of(device, CL_DEVICE_EXTENSIONS_WITH_VERSION);
    std::erase_if(list, [](const cl_name_version& one) { return !is_kept(one.name); });
    list.insert(list.begin(), {CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"});
    return list;
}

/// Of the language of kernels; none above the version of the platform.
std::vector<cl_name_version> own_versions(const _cl_device_id& device) {
    auto list = versions_of(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS);
    std::erase_if(list, [](const cl_name_version& one) { return one.version > CL_MAKE_VERSION(1, 2, 0); });
    if (list.empty()) list.push_back({CL_MAKE_VERSION(1, 2, 0), "OpenCL C"});
    return list;
}

cl_int device_info(_cl_device_id& device, cl_device_info name, const answer& to) {
    switch (name) {
    case CL_DEVICE_PLATFORM: return to(static_cast<cl_platform_id>(&the_platform()));
    case CL_DEVICE_PARENT_DEVICE: return to(static_cast<cl_device_id>(device.parent.get()));
    case CL_DEVICE_REFERENCE_COUNT: return to(device.parent ? device.references() : cl_uint{1});
    case CL_DEVICE_VERSION: return to.text("OpenCL 1.2 Causeway, " + text_of(device, CL_DEVICE_VERSION));
    case CL_DEVICE_OPENCL_C_VERSION: return to.text("OpenCL C 1.2 ");
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS: return to.list(std::span<const cl_name_version>(own_versions(device)));
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return to.list(std::span<const cl_name_version>(own_extension_versions(device)));
    case CL_DEVICE_EXTENSIONS: return to.text(own_extensions(text_of(device, CL_DEVICE_EXTENSIONS)));
    // What OpenCL 2 and 3 ask, and this platform does not have.
    case CL_DEVICE_NUMERIC_VERSION: return to(CL_MAKE_VERSION(1, 2, 0));
    case CL_DEVICE_SVM_CAPABILITIES: return to(cl_device_svm_capabilities{0});
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES: return to(cl_command_queue_properties{0});
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE: return to(cl_uint{0});
    case CL_DEVICE_PIPE_SUPPORT: return to(cl_bool{CL_FALSE});
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES: return to(cl_device_device_enqueue_capabilities{0});
    // Queues of drivers can be asked for properties that the platform's cannot keep, as a size on the device.
    case CL_DEVICE_QUEUE_PROPERTIES:
        return to(ask<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES) &
                  static_cast<cl_command_queue_properties>(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                           CL_QUEUE_PROFILING_ENABLE));
    default:
        return to.from([&](size_t size, void* value, size_t* size_ret) {
            return ask_device(device, name, size, value, size_ret);
        });
    }
}

/// Numbers and texts, one after the other.
void put(std::string& to, std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    to.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}
void put(std::string& to, std::uint32_t number) { to.append(reinterpret_cast<const char*>(&number), sizeof number); }
std::uint32_t take_number(std::string_view& from) {
    std::uint32_t number = 0;
    std::memcpy(&number, from.data(), sizeof number);
    from.remove_prefix(sizeof number);
    return number;
}
std::string take_text(std::string_view& from) {
    const auto size = take_number(from);
    std::string text(from.substr(0, size));
    from.remove_prefix(size);
    return text;
}

/// What a device of a cluster can be asked, wherever it is: OpenCL's own questions, and those of the vendors whose
/// drivers we know.
constexpr std::array questions = {std::pair{0x1000U, 0x1080U}, std::pair{0x4000U, 0x4040U}};
constexpr size_t longest_answer = 65536;

bool is_known_question(cl_device_info name) {
    return std::any_of(questions.begin(), questions.end(),
                       [&](const auto& range) { return range.first <= name && name < range.second; });
}

/// All that a device answers, for the other ranks.
std::string answers_of(const _cl_device_id& device) {
    std::string answers;
    std::uint32_t count = 0;
    for (const auto& [begin, end] : questions)
        for (auto name = begin; name < end; ++name) {
            size_t size = 0;
            if (ask_device(device, name, 0, nullptr, &size) != CL_SUCCESS || size > longest_answer) continue;
            std::string value(size, '\0');
            if (ask_device(device, name, size, value.data(), nullptr) != CL_SUCCESS) continue;
            put(answers, name);
            put(answers, value);
            ++count;
        }
    std::string whole;
    put(whole, count);
    return whole + answers;
}

void take_answers(std::string_view from, _cl_device_id& device) {
    for (auto left = take_number(from); left != 0; --left) {
        const auto what = take_number(from);
        device.answers[what] = take_text(from);
    }
}

/// What ranks have in common that find each other's builds: node, driver and device. Empty where a driver keeps none.
std::string build_key(const std::vector<_cl_device_id*>& own) {
    if (own.empty() || !own.front()->driver.quirks.keeps_builds) return {};
    const auto boot = first_line_of("/proc/sys/kernel/random/boot_id"); // another one on each node
    const auto& device = *own.front();
    std::string key = boot;
    for (const auto& text : {device.driver.name, text_of(device, CL_DRIVER_VERSION), text_of(device, CL_DEVICE_NAME)})
        key += '\n' + text;
    return boot.empty() ? boot : key;
}

/// The first rank of each key is the one that builds.
cluster::build_turns turns_of(const cluster& job, const std::vector<std::string>& keys) {
    cluster::build_turns turns;
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
        const auto same = std::find(keys.begin(), keys.end(), keys[rank]);
        const bool is_later = !keys[rank].empty() && same - keys.begin() != static_cast<std::ptrdiff_t>(rank);
        turns.any_is_later = turns.any_is_later || is_later;
        if (static_cast<int>(rank) == job.rank()) turns.is_later = is_later;
    }
    return turns;
}

/// The devices of all ranks, by rank: this one's are `own`, the others' have no driver here.
std::vector<_cl_device_id*> devices_of_all_ranks(cluster& job, const std::vector<_cl_device_id*>& own) {
    std::string mine;
    put(mine, build_key(own));
    put(mine, static_cast<std::uint32_t>(own.size()));
    for (const auto* device : own) {
        put(mine, device->driver.name);
        put(mine, answers_of(*device));
    }
    std::vector<_cl_device_id*> all;
    const auto blobs = job.gather(mine);
    std::vector<std::string> keys;
    for (int rank = 0; rank < job.ranks(); ++rank) {
        std::string_view blob = blobs[static_cast<std::size_t>(rank)];
        keys.push_back(take_text(blob));
        if (rank == job.rank()) {
            all.insert(all.end(), own.begin(), own.end());
            continue;
        }
        const driver* from = nullptr;
        for (auto left = take_number(blob); left != 0; --left) {
            const auto name = take_text(blob);
            if (from == nullptr || from->name != name) from = new driver{.name = name, .rank = rank}; // lives on
            auto made = ref<_cl_device_id>::adopt(new _cl_device_id(*from, nullptr));
            take_answers(take_text(blob), *made);
            all.push_back(made.give());
        }
    }
    job.turns = turns_of(job, keys);
    return all;
}

std::vector<_cl_device_id*> find_devices() {
    auto own = find_own_devices();
    auto& job = cluster::of_process();
    if (job.is_alone()) return own;
    job.choose_devices(own);
    auto all = devices_of_all_ranks(job, own);
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->made_by = i + 1; // by no call
    return all;
}

} // namespace

cl_int ask_device(const _cl_device_id& device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    if (!cluster::of_process().is_alone() && !is_known_question(name)) return CL_INVALID_VALUE; // as on other ranks
    if (device.raw != nullptr) return device.driver.calls->clGetDeviceInfo(device.raw, name, size, value, size_ret);
    const auto found = device.answers.find(name);
    if (found == device.answers.end()) return CL_INVALID_VALUE;
    return answer(size, value, size_ret).bytes(found->second.data(), found->second.size());
}

std::span<_cl_device_id* const> all_devices() {
    static const auto& found = *new std::vector<_cl_device_id*>(find_devices());
    return found;
}

namespace {

/// The parts that the driver makes of a device of this rank.
std::vector<ref<_cl_device_id>> make_parts(_cl_device_id& whole, const cl_device_partition_property* properties,
                                           cl_uint room) {
    std::vector<cl_device_id> raws(room);
    cl_uint made = 0;
    check(whole.driver.calls->clCreateSubDevices(whole.raw, properties, room, raws.data(), &made));
    std::vector<ref<_cl_device_id>> parts;
    for (cl_uint i = 0; i < std::min(made, room); ++i)
        parts.push_back(ref<_cl_device_id>::adopt(new _cl_device_id(whole, raws[i])));
    return parts;
}

/// The same on every rank: the device's own makes them and says what they are like. Collective.
std::vector<ref<_cl_device_id>> make_parts_everywhere(cluster& job, _cl_device_id& whole,
                                                      const cl_device_partition_property* properties, cl_uint room) {
    std::vector<ref<_cl_device_id>> parts;
    struct {
        cl_int code = CL_SUCCESS;
        cl_uint count = 0;
        size_t size = 0;
    } found;
    std::string blob;
    const int owner = whole.driver.rank;
    if (owner == job.rank()) {
        found.code = guard([&] {
            parts = make_parts(whole, properties, room);
            for (const auto& one : parts) put(blob, answers_of(*one));
            return CL_SUCCESS;
        });
        found.count = static_cast<cl_uint>(parts.size());
        found.size = blob.size();
    }
    found = job.from(owner, found);
    check(found.code);
    blob.resize(found.size);
    job.calls().broadcast(owner, blob.data(), blob.size());
    std::string_view rest = blob;
    while (parts.size() < found.count) {
        parts.push_back(ref<_cl_device_id>::adopt(new _cl_device_id(whole, nullptr)));
        take_answers(take_text(rest), *parts.back());
    }
    return parts;
}

/// One property with its values: a list of counts ends with a zero as well, behind which nothing matters, or is.
void note_properties(const cl_device_partition_property* list) {
    static_assert(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END == 0);
    if (list == nullptr) return;
    for (; *list != 0; ++list) note(static_cast<std::uint64_t>(*list));
}

/// How many there would be.
cl_uint count_parts(_cl_device_id& whole, const cl_device_partition_property* properties) {
    struct {
        cl_int code = CL_SUCCESS;
        cl_uint count = 0;
    } found;
    if (whole.raw != nullptr)
        found.code = whole.driver.calls->clCreateSubDevices(whole.raw, properties, 0, nullptr, &found.count);
    found = cluster::of_process().from(whole.driver.rank, found);
    check(found.code);
    return found.count;
}

} // namespace

namespace entry {

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices,
                                  cl_uint* found) {
    return guard([&]() -> cl_int {
        if (platform != nullptr) (void)checked(platform, CL_INVALID_PLATFORM);
        constexpr cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                         CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
        require(type == CL_DEVICE_TYPE_ALL || ((type & known) != 0 && (type & ~known) == 0), CL_INVALID_DEVICE_TYPE);
        require((devices != nullptr || found != nullptr) && (devices == nullptr || count != 0), CL_INVALID_VALUE);
        std::vector<_cl_device_id*> fitting;
        for (auto* const device : all_devices())
            if (type == CL_DEVICE_TYPE_ALL || (ask<cl_device_type>(*device, CL_DEVICE_TYPE) & type &
                                               ~static_cast<cl_device_type>(CL_DEVICE_TYPE_DEFAULT)) != 0)
                fitting.push_back(device);
        // The platform has one default device: its first.
        if ((type != CL_DEVICE_TYPE_ALL && (type & CL_DEVICE_TYPE_DEFAULT) != 0) && !all_devices().empty() &&
            std::find(fitting.begin(), fitting.end(), all_devices().front()) == fitting.end())
            fitting.insert(fitting.begin(), all_devices().front());
        require(!fitting.empty(), CL_DEVICE_NOT_FOUND);
        if (devices != nullptr) std::copy_n(fitting.begin(), std::min<std::size_t>(count, fitting.size()), devices);
        if (found != nullptr) *found = static_cast<cl_uint>(fitting.size());
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                                   size_t* size_ret) {
    return guard([&] { return device_info(checked(device, CL_INVALID_DEVICE), name, {size, value, size_ret}); });
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id whole, const cl_device_partition_property* properties, cl_uint count,
                                      cl_device_id* parts, cl_uint* found) {
    return guard([&]() -> cl_int {
        auto& device = checked(whole, CL_INVALID_DEVICE);
        note_properties(properties);
        require(parts == nullptr || count != 0, CL_INVALID_VALUE); // drivers take it for a question
        require(device.raw != nullptr || !cluster::of_process().is_dry_run(), CL_DEVICE_PARTITION_FAILED); // nobody
                                                                                                           // makes them
                                                                                                           // there
        if (parts == nullptr) {
            const auto made = count_parts(device, properties);
            if (found != nullptr) *found = made;
            return CL_SUCCESS;
        }
        auto& job = cluster::of_process();
        auto made = job.is_alone() ? make_parts(device, properties, count)
                                   : make_parts_everywhere(job, device, properties, count);
        if (found != nullptr) *found = static_cast<cl_uint>(made.size());
        for (size_t i = 0; i < made.size(); ++i) {
            name_one_of(*made[i], i);
            parts[i] = made[i].give();
        }
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clCreateSubDevicesEXT(cl_device_id, const cl_device_partition_property_ext*, cl_uint, cl_device_id*,
                                         cl_uint*) {
    return CL_INVALID_OPERATION; // the extension that became clCreateSubDevices; not announced
}

// Whole devices live for ever: their references are not counted.
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
    if (device == nullptr || !device->is(kind::device)) return CL_INVALID_DEVICE;
    return device->parent ? retain(device, CL_INVALID_DEVICE) : CL_SUCCESS;
}
cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
    if (device == nullptr || !device->is(kind::device)) return CL_INVALID_DEVICE;
    return device->parent ? release(device, CL_INVALID_DEVICE) : CL_SUCCESS;
}
cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) { return entry::clRetainDevice(device); }
cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) { return entry::clReleaseDevice(device); }

} // namespace entry
} // namespace causeway::platform
