// SPDX-License-Identifier: Apache-2.0
// Makes what was recorded anew in a context of its own.
#include "study/replay/launch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace replay {

namespace {

using nlohmann::json;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void require(cl_int code, const std::string& what) {
    if (code != CL_SUCCESS) throw std::runtime_error(what + " gives code " + std::to_string(code));
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

std::string text_of(cl_device_id device, cl_device_info what) {
    std::string text(1024, '\0');
    if (clGetDeviceInfo(device, what, text.size(), text.data(), nullptr) != CL_SUCCESS) return {};
    return text.c_str();
}

/// The recorded one, by its name and its driver's version.
cl_device_id find_device(const std::string& name, const std::string& driver) {
    cl_uint count = 0;
    (void)clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    (void)clGetPlatformIDs(count, platforms.data(), nullptr);
    for (auto* const platform : platforms) {
        cl_uint found = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found) != CL_SUCCESS) continue;
        std::vector<cl_device_id> devices(found);
        (void)clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices.data(), nullptr);
        for (auto* const device : devices)
            if (text_of(device, CL_DEVICE_NAME) == name && text_of(device, CL_DRIVER_VERSION) == driver) return device;
    }
    throw std::runtime_error("there is no device " + name + " with driver " + driver);
}

std::vector<std::byte> from_hex(const std::string& text) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

constexpr cl_mem_flags access_flags = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE;

std::array<std::size_t, 3> region_of(const json& image) {
    const auto at = [&](const char* what) { return std::max<std::size_t>(image.at(what).get<std::size_t>(), 1); };
    switch (image.at("shape").get<cl_mem_object_type>()) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return {at("width"), at("layers"), 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: return {at("width"), at("height"), at("layers")};
    default: return {at("width"), at("height"), at("depth")};
    }
}

/// The largest difference of two arrays of floating-point numbers, relative to the largest value; infinity where one is
/// no number.
template <class Real> double difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    double largest = 0, worst = 0;
    for (std::size_t at = 0; at + sizeof(Real) <= a.size(); at += sizeof(Real)) {
        Real x, y;
        std::memcpy(&x, a.data() + at, sizeof x);
        std::memcpy(&y, b.data() + at, sizeof y);
        if (std::equal(&a[at], &a[at] + sizeof x, &b[at])) {
            if (std::isfinite(x)) largest = std::max<double>(largest, std::abs(x));
            continue;
        }
        if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
        largest = std::max<double>(largest, std::abs(x));
        worst = std::max<double>(worst, std::abs(static_cast<double>(x) - static_cast<double>(y)));
    }
    return largest > 0 ? worst / largest : worst;
}

} // namespace

variant variant::from(const json& request, const json& recorded) {
    variant made;
    made.global = request.value("global", recorded.at("global").get<std::vector<std::size_t>>());
    const auto& local = request.contains("local") ? request.at("local") : recorded.at("local");
    if (!local.is_null()) made.local = local.get<std::vector<std::size_t>>();
    made.source = request.value("source", "program.cl");
    made.kernel = request.value("kernel", recorded.at("kernel").get<std::string>());
    const auto where = request.value("allocation", "as made"), how = request.value("access", "as made"),
               moves = request.value("transfer", "none");
    made.where = where == "device" ? allocation::device
                 : where == "host" ? allocation::host
                 : where == "lent" ? allocation::lent
                                   : allocation::as_made;
    made.how = how == "read-write" ? access::read_write : how == "narrow" ? access::narrow : access::as_made;
    made.moves = moves == "copy" ? transfer::copy : moves == "map" ? transfer::map : transfer::none;
    made.misaligned = request.value("misaligned", std::size_t{0});
    made.in_parts = request.value("parts", false);
    return made;
}

std::string variant::memory_key() const {
    return std::to_string(static_cast<int>(where)) + "," + std::to_string(static_cast<int>(how)) + "," +
           std::to_string(misaligned);
}

launch::launch(const std::filesystem::path& folder)
    : m_folder(folder), m_recorded(json::parse(std::ifstream(folder / "launch.json"))) {
    m_device = find_device(m_recorded.at("device"), m_recorded.at("driver"));
    if (std::getenv("CAUSEWAY_REPLAY_UNITS")) divide_device();
    auto devices = m_units;
    devices.push_back(m_device);
    cl_int code = CL_SUCCESS;
    m_context = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &code);
    require(code, "clCreateContext");
    const auto queue_of = [&](cl_device_id device) {
        auto* const queue = clCreateCommandQueue(m_context, device, CL_QUEUE_PROFILING_ENABLE, &code);
        require(code, "clCreateCommandQueue");
        return queue;
    };
    m_queue = queue_of(m_device);
    for (auto* const unit : m_units) m_unit_queues.push_back(queue_of(unit));
    for (const auto& each : m_recorded.at("objects")) {
        object made;
        made.contents = read_file(folder / std::to_string(m_objects.size()));
        made.flags = each.at("flags");
        if (each.contains("image")) made.image = each.at("image");
        m_objects.push_back(std::move(made));
    }
    for (const auto& each : m_recorded.at("arguments"))
        if (each.contains("object") && !each.at("object").is_null() && !each.at("reads_only").get<bool>())
            m_objects[each.at("object").get<std::size_t>()].reads_only = false;
}

launch::~launch() {
    m_kernels.clear();
    m_programs.clear();
    m_samplers.clear();
    for (auto* const each : m_unit_queues) clReleaseCommandQueue(each);
    clReleaseCommandQueue(m_queue);
    clReleaseContext(m_context);
    for (auto* const each : m_units) clReleaseDevice(each);
}

void launch::divide_device() {
    const cl_device_partition_property by_unit[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    require(clCreateSubDevices(m_device, by_unit, 0, nullptr, &count), "clCreateSubDevices");
    m_units.resize(count);
    require(clCreateSubDevices(m_device, by_unit, count, m_units.data(), nullptr), "clCreateSubDevices");
}

cl_program launch::program_of(const std::string& source) {
    auto& known = m_programs[source];
    if (known) return known.get();
    // The program's own is a binary where it has no source.
    const bool is_binary = !std::filesystem::exists(m_folder / source);
    const auto bytes = read_file(m_folder / (is_binary ? "program.bin" : source));
    const std::size_t size = bytes.size();
    cl_int code = CL_SUCCESS;
    owned_program made;
    if (is_binary) {
        const auto* binary = reinterpret_cast<const unsigned char*>(bytes.data());
        made.reset(clCreateProgramWithBinary(m_context, 1, &m_device, &size, &binary, nullptr, &code));
        require(code, "clCreateProgramWithBinary");
    } else {
        const auto* text = reinterpret_cast<const char*>(bytes.data());
        made.reset(clCreateProgramWithSource(m_context, 1, &text, &size, &code));
        require(code, "clCreateProgramWithSource");
    }
    const auto options = is_binary ? "" : m_recorded.at("options").get<std::string>() + " -cl-kernel-arg-info";
    if (clBuildProgram(made.get(), 0, nullptr, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
        std::string log(4096, '\0');
        (void)clGetProgramBuildInfo(made.get(), m_device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
        throw std::runtime_error("cannot build " + source + ": " + log.c_str());
    }
    known = std::move(made);
    return known.get();
}

cl_kernel launch::kernel_of(const variant& of) {
    auto& known = m_kernels[{of.source, of.kernel}];
    if (known) return known.get();
    cl_int code = CL_SUCCESS;
    known.reset(clCreateKernel(program_of(of.source), of.kernel.c_str(), &code));
    require(code, "clCreateKernel " + of.kernel);
    return known.get();
}

json launch::facts() {
    const auto recorded = variant::from(json::object(), m_recorded);
    auto* const kernel = kernel_of(recorded);
    std::size_t largest = 0, multiple = 0, required[3] = {};
    cl_ulong local_bytes = 0;
    (void)clGetKernelWorkGroupInfo(kernel, m_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof largest, &largest, nullptr);
    (void)clGetKernelWorkGroupInfo(kernel, m_device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                   &multiple, nullptr);
    (void)clGetKernelWorkGroupInfo(kernel, m_device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required,
                                   nullptr);
    (void)clGetKernelWorkGroupInfo(kernel, m_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                                   nullptr);
    std::size_t limits[3] = {1, 1, 1};
    (void)clGetDeviceInfo(m_device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof limits, limits, nullptr);
    cl_uint units = 0;
    (void)clGetDeviceInfo(m_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
    json names = json::array();
    const auto& arguments = m_recorded.at("arguments");
    for (cl_uint i = 0; i < arguments.size(); ++i) {
        char name[128] = "", type[128] = "";
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr);
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr);
        names.push_back(name);
        if (arguments[i].contains("object") && !arguments[i].at("object").is_null())
            m_objects[arguments[i].at("object").get<std::size_t>()].element = type;
    }
    return {{"largest_group", largest},
            {"multiple", multiple},
            {"required", {required[0], required[1], required[2]}},
            {"local_bytes", local_bytes},
            {"limits", {limits[0], limits[1], limits[2]}},
            {"units", units},
            {"names", names}};
}

owned_memory launch::make(const object& of, cl_mem_flags flags, void* host) const {
    cl_int code = CL_SUCCESS;
    if (!of.image) {
        owned_memory made(clCreateBuffer(m_context, flags, of.contents.size(), host, &code));
        require(code, "clCreateBuffer");
        return made;
    }
    const auto& facts = *of.image;
    const cl_image_format format{facts.at("order").get<cl_channel_order>(), facts.at("type").get<cl_channel_type>()};
    cl_image_desc shape{};
    shape.image_type = facts.at("shape");
    shape.image_width = facts.at("width");
    shape.image_height = facts.at("height");
    shape.image_depth = facts.at("depth");
    shape.image_array_size = facts.at("layers");
    owned_memory made(clCreateImage(m_context, flags, &format, &shape, host, &code));
    require(code, "clCreateImage");
    return made;
}

void launch::set_arguments(cl_kernel kernel, const std::vector<owned_memory>& memory) {
    cl_uint index = 0;
    m_samplers.clear();
    for (const auto& each : m_recorded.at("arguments")) {
        cl_int code = CL_SUCCESS;
        if (each.contains("value")) {
            const auto bytes = from_hex(each.at("value"));
            code = clSetKernelArg(kernel, index, bytes.size(), bytes.data());
        } else if (each.contains("local")) {
            code = clSetKernelArg(kernel, index, each.at("local").get<std::size_t>(), nullptr);
        } else if (each.contains("sampler")) {
            const auto& facts = each.at("sampler");
            auto* const sampler = clCreateSampler(m_context, facts[0].get<cl_bool>(),
                                                  facts[1].get<cl_addressing_mode>(), facts[2].get<cl_filter_mode>(),
                                                  &code);
            require(code, "clCreateSampler");
            m_samplers.emplace_back(sampler);
            code = clSetKernelArg(kernel, index, sizeof sampler, &sampler);
        } else {
            auto* const raw = each.at("object").is_null() ? nullptr
                                                          : memory[each.at("object").get<std::size_t>()].get();
            code = clSetKernelArg(kernel, index, sizeof raw, &raw);
        }
        require(code, "clSetKernelArg " + std::to_string(index));
        ++index;
    }
}

launch::memory_set launch::make_set(const variant& of) const {
    constexpr std::size_t page = 4096;
    memory_set made;
    for (const auto& each : m_objects) {
        auto access = each.flags & access_flags;
        if (of.how == variant::access::read_write) access = CL_MEM_READ_WRITE;
        if (of.how == variant::access::narrow)
            access = !each.changes && each.reads_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
        auto flags = access;
        void* host = nullptr;
        const bool was_lent = (each.flags & CL_MEM_USE_HOST_PTR) != 0,
                   was_host = (each.flags & CL_MEM_ALLOC_HOST_PTR) != 0;
        const bool is_lent = of.where == variant::allocation::lent ||
                             (of.where == variant::allocation::as_made && was_lent);
        if (is_lent && !each.image) {
            const auto bytes = (each.contents.size() + page - 1) / page * page + page;
            made.lent.emplace_back(static_cast<std::byte*>(std::aligned_alloc(page, bytes)), &std::free);
            host = made.lent.back().get() + of.misaligned;
            std::memcpy(host, each.contents.data(), each.contents.size());
            flags |= CL_MEM_USE_HOST_PTR;
        } else if (of.where == variant::allocation::host || (of.where == variant::allocation::as_made && was_host)) {
            flags |= CL_MEM_ALLOC_HOST_PTR;
        }
        made.memory.push_back(make(each, flags, host));
    }
    return made;
}

void launch::restore(const memory_set& set, bool all) {
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        const auto& of = m_objects[i];
        if (!all && !of.changes) continue;
        if (!of.image) {
            require(clEnqueueWriteBuffer(m_queue, set.memory[i].get(), CL_TRUE, 0, of.contents.size(),
                                         of.contents.data(), 0, nullptr, nullptr),
                    "clEnqueueWriteBuffer");
        } else {
            const auto region = region_of(*of.image);
            const std::size_t origin[3] = {};
            require(clEnqueueWriteImage(m_queue, set.memory[i].get(), CL_TRUE, origin, region.data(), 0, 0,
                                        of.contents.data(), 0, nullptr, nullptr),
                    "clEnqueueWriteImage");
        }
    }
}

void launch::enqueue(cl_kernel kernel, const variant& of, cl_event* event) {
    if (of.in_parts) return enqueue_parts(kernel, of, event);
    const auto offset = m_recorded.at("offset").get<std::vector<std::size_t>>();
    require(clEnqueueNDRangeKernel(m_queue, kernel, static_cast<cl_uint>(of.global.size()), offset.data(),
                                   of.global.data(), of.local.empty() ? nullptr : of.local.data(), 0, nullptr, event),
            "clEnqueueNDRangeKernel");
}

/// The last dimension with groups for all units is divided. The event is that of the first part.
void launch::enqueue_parts(cl_kernel kernel, const variant& of, cl_event* event) {
    const auto local_of = [&](std::size_t dimension) { return of.local.empty() ? 1 : of.local[dimension]; };
    const auto units = m_unit_queues.size();
    auto divided = of.global.size();
    while (divided > 0 && of.global[divided - 1] / local_of(divided - 1) < units) --divided;
    if (divided == 0 || units == 0) throw std::runtime_error("there are fewer work-groups than compute units");
    --divided;
    auto offset = m_recorded.at("offset").get<std::vector<std::size_t>>();
    offset.resize(of.global.size());
    const auto groups = of.global[divided] / local_of(divided);
    for (std::size_t unit = 0, done = 0; unit < units; ++unit) {
        const auto until = groups * (unit + 1) / units;
        auto global = of.global;
        global[divided] = (until - done) * local_of(divided);
        if (unit + 1 == units) global[divided] = of.global[divided] - done * local_of(divided);
        require(clEnqueueNDRangeKernel(m_unit_queues[unit], kernel, static_cast<cl_uint>(global.size()), offset.data(),
                                       global.data(), of.local.empty() ? nullptr : of.local.data(), 0, nullptr,
                                       unit == 0 ? event : nullptr),
                "clEnqueueNDRangeKernel");
        clFlush(m_unit_queues[unit]);
        offset[divided] += global[divided];
        done = until;
    }
}

void launch::finish() {
    for (auto* const each : m_unit_queues) require(clFinish(each), "clFinish");
    require(clFinish(m_queue), "clFinish");
}

/// What a program does that has its data in arrays of its own, or in mapped memory.
void launch::move(const memory_set& set, variant::transfer how, bool is_in) {
    static std::vector<std::byte> own;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        auto& of = m_objects[i];
        if (of.image || (!is_in && !of.changes)) continue;
        auto* const memory = set.memory[i].get();
        cl_int code = CL_SUCCESS;
        if (how == variant::transfer::map) {
            void* const at = clEnqueueMapBuffer(m_queue, memory, CL_TRUE, is_in ? CL_MAP_WRITE : CL_MAP_READ, 0,
                                                of.contents.size(), 0, nullptr, nullptr, &code);
            require(code, "clEnqueueMapBuffer");
            require(clEnqueueUnmapMemObject(m_queue, memory, at, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
        } else if (is_in) {
            require(clEnqueueWriteBuffer(m_queue, memory, CL_TRUE, 0, of.contents.size(), of.contents.data(), 0,
                                         nullptr, nullptr),
                    "write");
        } else {
            own.resize(std::max(own.size(), of.contents.size()));
            require(
                clEnqueueReadBuffer(m_queue, memory, CL_TRUE, 0, of.contents.size(), own.data(), 0, nullptr, nullptr),
                "read");
        }
    }
}

times launch::run(cl_kernel kernel, const memory_set& set, const variant& of) {
    restore(set, false);
    cl_event event = nullptr;
    times told;
    const auto begin = now();
    if (of.moves != variant::transfer::none) move(set, of.moves, true);
    enqueue(kernel, of, &event);
    finish();
    if (of.moves != variant::transfer::none) {
        move(set, of.moves, false);
        require(clFinish(m_queue), "clFinish");
    }
    told.whole = now() - begin;
    cl_ulong from = 0, to = 0;
    (void)clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, nullptr);
    (void)clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, nullptr);
    told.by_event = static_cast<double>(to - from) / 1e9;
    clReleaseEvent(event);
    return told;
}

std::vector<std::vector<std::byte>> launch::run_guarded(const variant& of, bool& is_intact) {
    auto* const kernel = kernel_of(of);
    std::vector<guarded_memory> guarded;
    std::vector<owned_memory> memory;
    guarded.reserve(m_objects.size());
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        const auto& each = m_objects[i];
        guarded.emplace_back(each.contents.size(), static_cast<int>(i));
        std::memcpy(guarded.back().begin(), each.contents.data(), each.contents.size());
        // The memory of an image is unknown.
        const auto flags = (each.flags & access_flags) | (each.image ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR);
        memory.push_back(make(each, flags, guarded.back().begin()));
    }
    set_arguments(kernel, memory);
    enqueue(kernel, of, nullptr);
    finish();
    std::vector<std::vector<std::byte>> after;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        const auto& each = m_objects[i];
        std::vector<std::byte> bytes(each.contents.size());
        if (!each.image) {
            require(clEnqueueReadBuffer(m_queue, memory[i].get(), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                                        nullptr),
                    "read");
        } else {
            const auto region = region_of(*each.image);
            const std::size_t origin[3] = {};
            require(clEnqueueReadImage(m_queue, memory[i].get(), CL_TRUE, origin, region.data(), 0, 0, bytes.data(), 0,
                                       nullptr, nullptr),
                    "read");
        }
        after.push_back(std::move(bytes));
    }
    memory.clear(); // before what they use goes
    is_intact = std::all_of(guarded.begin(), guarded.end(),
                            [](const guarded_memory& each) { return each.is_intact(); });
    return after;
}

json launch::refer() {
    const auto recorded = variant::from(json::object(), m_recorded);
    bool is_intact = true;
    m_reference = run_guarded(recorded, is_intact);
    const auto begin = now();
    const auto again = run_guarded(recorded, is_intact);
    const auto lasted = now() - begin;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        auto& of = m_objects[i];
        of.changes = m_reference[i] != of.contents || again[i] != of.contents || !of.reads_only;
        if (m_reference[i] != of.contents) ++changed;
    }
    return {{"intact", is_intact}, {"repeats", again == m_reference}, {"changed", changed}, {"seconds", lasted}};
}

json launch::disturb() {
    const auto recorded = variant::from(json::object(), m_recorded);
    std::size_t disturbed = 0, unclear = 0;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        auto& of = m_objects[i];
        if (of.reads_only || m_reference[i] != of.contents) continue;
        // The sign of a floating-point number, but only the last bit of others: they may be indices.
        const bool is_double = of.element.starts_with("double"), is_float = of.element.starts_with("float") || of.image;
        const std::size_t width = is_double ? 8 : 4;
        const auto before = of.contents;
        for (std::size_t at = 0; at + width <= of.contents.size(); at += width) {
            if (is_double || is_float)
                of.contents[at + width - 1] ^= std::byte{0x80};
            else
                of.contents[at] ^= std::byte{1};
        }
        // Elements that are as before the launch were not written: they keep what was there.
        bool is_intact = true;
        auto after = run_guarded(recorded, is_intact);
        for (std::size_t at = 0; at + width <= before.size(); at += width)
            if (std::equal(&of.contents[at], &of.contents[at] + width, &after[i][at]))
                std::copy_n(&before[at], width, &of.contents[at]);
        if (after != m_reference && of.contents != before) after = run_guarded(recorded, is_intact);
        if (after == m_reference && of.contents != before) {
            ++disturbed;
        } else {
            of.contents = before;
            ++unclear;
        }
    }
    return {{"disturbed", disturbed}, {"unclear", unclear}};
}

json launch::check(const variant& of) {
    bool is_intact = true;
    const auto after = run_guarded(of, is_intact);
    double worst = 0;
    std::size_t first_object = 0;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        if (after[i] == m_reference[i]) continue;
        const auto& element = m_objects[i].element;
        const double here = element.starts_with("double")  ? difference<double>(after[i], m_reference[i])
                            : element.starts_with("float") ? difference<float>(after[i], m_reference[i])
                                                           : INFINITY;
        if (here > worst) {
            worst = here;
            first_object = i;
        }
    }
    constexpr double rounding = 1e-5;
    return {{"outcome", !is_intact          ? "overrun"
                        : worst == 0        ? "same"
                        : worst <= rounding ? "rounding"
                                            : "different"},
            {"worst", std::isfinite(worst) ? json(worst) : json()},
            {"object", first_object}};
}

json launch::confirm() {
    const auto recorded = variant::from(json::object(), m_recorded);
    constexpr double longest = 0.5, longest_in_all = 2;
    const auto begin = now();
    for (int i = 0; m_repeats && i < 60 && (i == 0 || now() - begin < longest); ++i) {
        if (m_confirming_seconds + now() - begin > longest_in_all) break;
        bool is_intact = true;
        m_repeats = run_guarded(recorded, is_intact) == m_reference;
    }
    m_confirming_seconds += now() - begin;
    return {{"repeats", m_repeats}};
}

std::filesystem::path launch::kept(std::size_t object) const {
    return m_folder / ("reference-" + std::to_string(object));
}

json launch::keep() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < m_objects.size(); ++i) {
        if (m_reference[i] == read_file(m_folder / std::to_string(i))) continue;
        std::ofstream file(kept(i), std::ios::binary);
        file.write(reinterpret_cast<const char*>(m_reference[i].data()),
                   static_cast<std::streamsize>(m_reference[i].size()));
        file.close();
        if (!file) throw std::runtime_error("cannot write " + kept(i).string());
        ++count;
    }
    return {{"kept", count}};
}

json launch::adopt() {
    for (std::size_t i = 0; i < m_objects.size(); ++i)
        m_reference[i] = read_file(std::filesystem::exists(kept(i)) ? kept(i) : m_folder / std::to_string(i));
    return {{"adopted", true}};
}

json launch::time(const std::vector<variant>& all, unsigned least, unsigned most, double seconds, bool all_count) {
    std::map<std::string, memory_set> sets;
    json told = json::array();
    for (const auto& each : all) {
        told.push_back({{"whole", json::array()}, {"event", json::array()}});
        const auto [found, is_new] = sets.try_emplace(each.memory_key());
        if (!is_new) continue;
        found->second = make_set(each);
        restore(found->second, true);
    }
    const auto begin = now();
    // The first round warms up what each of them needs, and counts only if it is the only one or all do.
    for (unsigned round = 0; round <= most && (round <= least || now() - begin < seconds); ++round)
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& set = sets.at(all[i].memory_key());
            auto* const kernel = kernel_of(all[i]);
            set_arguments(kernel, set.memory);
            const auto lasted = run(kernel, set, all[i]);
            if (round == 1 && !all_count) told[i] = {{"whole", json::array()}, {"event", json::array()}};
            told[i]["whole"].push_back(lasted.whole);
            told[i]["event"].push_back(lasted.by_event);
        }
    return told;
}

} // namespace replay
