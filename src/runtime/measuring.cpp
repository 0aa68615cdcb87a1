// SPDX-License-Identifier: Apache-2.0
// Chooses block sizes that tell latency from bandwidth, and enough of them for a median.
#include "runtime/measuring.hpp"

#include "runtime/enqueue.hpp"
#include "runtime/runtime.hpp"
#include "cl/calls.hpp"
#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/host/host_endpoint.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

namespace causeway::core {

namespace {

using transfer::operation;
using transfer::stage_sample;

constexpr std::size_t kib = 1024, mib = kib * kib;
constexpr std::size_t many = 128, few = 32;

/// The other end: a source of zeros, a target that forgets. The source writes to the memory as a real one does: what
/// was never written to is no memory yet, and read from nowhere in no time.
class nothing final : public transfer::endpoint {
  public:
    void read(std::size_t, transfer::block_reference block, transfer::step& done) override {
        std::memset(block.data(), 0, block.size());
        done.finish({block.size(), {}});
    }
    [[nodiscard]] transfer::endpoint_traits traits() const override { return {.kind = transfer::medium::host}; }
    [[nodiscard]] std::string name() const override { return "nothing"; }
};

void add(std::vector<measured_stage>& found, operation what, const std::vector<stage_sample>& samples) {
    // Nothing, if all of it ran beside other transfers.
    const auto is_alone = [](const stage_sample& each) { return each.company <= 1; };
    if (std::count_if(samples.begin(), samples.end(), is_alone) >= 2)
        found.push_back({what, transfer::fit(what, samples)});
}

std::unique_ptr<transfer::endpoint> make_nothing() { return std::make_unique<nothing>(); }

/// Transfers with one block in flight, for each of the model's block sizes from `smallest` to `largest`: `count` blocks
/// each, but at most `most` bytes. So many blocks exceed a processor's caches, as those of a large transfer do.
std::vector<measuring::shape> shapes(std::size_t smallest, std::size_t largest, std::size_t most, std::size_t count) {
    std::vector<measuring::shape> made;
    for (auto block = smallest; block <= largest; block *= 4)
        made.push_back({std::min(most, count * block), block, 1, 1});
    return made;
}

} // namespace

measuring::measuring(runtime& process, effort how, std::function<bool()> may_go_on)
    : m_process(process), m_effort(how), m_may_go_on(std::move(may_go_on)) {}

void measuring::run_once(const end_maker& source, const end_maker& target, std::size_t bytes,
                         const transfer::plan& chosen, std::vector<std::shared_ptr<transfer::flow_probe>>& probes) {
    if (!m_may_go_on()) throw transfer_error(status::cancelled, "measuring was given up");
    auto probe = std::make_shared<transfer::flow_probe>();
    probe->chosen = chosen;
    auto flows = one_flow(source(), target(), bytes);
    flows.front()->use(probe);
    const auto work = std::make_shared<transfer::command>(std::move(flows), nullptr);
    m_process.submit(work, uses_mpi::no);
    if (auto failed = work->wait()) {
        failed.message = "measuring: " + failed.message;
        throw transfer_error(failed);
    }
    probes.push_back(std::move(probe));
}

void measuring::run(const end_maker& source, const end_maker& target, std::size_t bytes, const transfer::plan& chosen,
                    seen& into) {
    using clock = std::chrono::steady_clock;
    const bool is_thorough = m_effort == effort::thorough;
    const auto budget = std::chrono::milliseconds(is_thorough ? 50 : 5);
    std::vector<std::shared_ptr<transfer::flow_probe>> probes;
    const auto begun = clock::now();
    const auto first_bytes = m_is_paired ? bytes : std::min(bytes, chosen.block_bytes);
    run_once(source, target, first_bytes, chosen, probes); // memory was new, and pages were not there
    probes.clear();
    unsigned rounds = m_is_paired ? 5 : is_thorough ? 12 : 4;
    if (!m_is_paired) {
        // Of a slow stage fewer blocks tell as much.
        const auto affordable = static_cast<std::size_t>(budget / std::max(clock::now() - begun, clock::duration(1)));
        bytes = std::min(bytes, std::max<std::size_t>(affordable, 4 * chosen.depth) * chosen.block_bytes);
    }
    const auto until = begun + budget;
    do {
        run_once(source, target, bytes, chosen, probes);
    } while (--rounds > 0 && (m_is_paired || clock::now() < until));
    // What ran beside others counts only where there is nothing else.
    const auto alone = [](const auto& each) { return each->was_alone; };
    if (std::any_of(probes.begin(), probes.end(), alone))
        std::erase_if(probes, [&](const auto& each) { return !alone(each); });
    into.shared = probes.front()->shared;
    into.linked = probes.back()->linked;
    std::vector<transfer::sample_pair> sources, targets;
    for (const auto& each : probes) {
        sources.push_back(each->source);
        targets.push_back(each->target);
    }
    transfer::add_typical(sources, chosen.depth > 1, into.source);
    transfer::add_typical(targets, chosen.depth > 1, into.target);
}

measuring::seen measuring::run_all(const end_maker& source, const end_maker& target, const std::vector<shape>& shapes,
                                   const transfer::plan& like) {
    seen all;
    for (const auto& each : shapes) {
        auto chosen = like;
        chosen.strategy = transfer::measuring_strategy;
        chosen.block_bytes = each.block_bytes;
        chosen.depth = each.depth;
        chosen.io_threads = each.io_threads;
        chosen.handed = std::min(each.depth, each.io_threads + std::max(each.io_threads / 2, 1U));
        chosen.piece_bytes = each.block_bytes;
        run(source, target, each.bytes, chosen, all);
    }
    return all;
}

std::vector<measured_stage> measuring::device(cl_context context, cl_device_id device) {
    const std::size_t most = (m_effort == effort::thorough ? 16 : 4) * mib;
    const std::size_t there = m_effort == effort::thorough ? 64 * mib : most; // for the link
    cl_int code = CL_SUCCESS;
    endpoints::buffer_location location{
        cl::context::share(context), device,
        cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE, there, nullptr, &code)), there, CL_MEM_READ_WRITE};
    cl::check(code, "creating a buffer of " + bytes_text(there) + " to measure with");
    const end_maker range = [&] { return endpoints::make_range_endpoint(m_process.devices(), location, 0); };
    auto copies = shapes(4 * kib, most / 4, most, m_effort == effort::thorough ? many : few);
    for (const auto block : {64 * kib, most / 16}) copies.push_back({most, block, 4, 1});
    std::vector<measured_stage> found;
    add(found, operation::copy_in, run_all(make_nothing, range, copies, {}).target);
    add(found, operation::copy_out, run_all(range, make_nothing, copies, {}).source);
    if (m_effort == effort::thorough) link(location, found);
    if (!cl::facts_of(device).host_memory) return found;
    const std::vector<shape> maps = {{4 * kib, most, 1, 1}, {512 * kib, most, 1, 1}, {most, most, 1, 1}};
    add(found, operation::map_in, run_all(make_nothing, range, maps, {.map_target = true}).target);
    add(found, operation::map_out, run_all(range, make_nothing, maps, {.map_source = true}).source);
    return found;
}

std::vector<measuring::shape> measuring::link_shapes() {
    const std::size_t most = 64 * mib;
    auto blocks = shapes(256 * kib, 16 * mib, most, few);
    for (const auto block : {mib, 16 * mib}) blocks.push_back({most, block, 4, 1});
    return blocks;
}

bool measuring::reaches_others(cl_device_id device, cl_device_id other) {
    m_process.bridges().await(device);
    return m_process.require_answer("asking for direct links", [&windows = m_process.windows(), device, other] {
        auto* const bridge = windows.bridge();
        const auto from = cl::facts_of(device).uuid;
        if (bridge == nullptr || !bridge->has(from)) return false;
        if (other == nullptr) return true;
        const auto to = cl::facts_of(other).uuid;
        return bridge->has(to) && bridge->reaches(from, to);
    });
}

void measuring::link(const endpoints::buffer_location& source, std::vector<measured_stage>& found) {
    cl_platform_id platform = nullptr;
    std::array<cl_device_id, 64> devices{};
    cl_uint count = 0;
    if (clGetDeviceInfo(source.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, cl_uint(devices.size()), devices.data(), &count) != CL_SUCCESS)
        return;
    for (auto* const other : std::span(devices).first(std::min<std::size_t>(count, devices.size()))) {
        if (!reaches_others(source.device, other)) continue;
        try {
            if (link(source, other, found)) return;
        } catch (const transfer_error& failed) {
            if (failed.code() == status::cancelled) throw; // else what is wrong with that one is not this one's
        }
    }
}

bool measuring::link(const endpoints::buffer_location& source, cl_device_id other, std::vector<measured_stage>& found) {
    cl_int code = CL_SUCCESS;
    endpoints::buffer_location target{.device = other, .buffer_bytes = source.buffer_bytes, .flags = CL_MEM_READ_WRITE};
    target.context = cl::context::adopt(clCreateContext(nullptr, 1, &other, nullptr, nullptr, &code));
    if (code == CL_SUCCESS)
        target.buffer = cl::buffer::adopt(
            clCreateBuffer(target.context.get(), CL_MEM_READ_WRITE, target.buffer_bytes, nullptr, &code));
    cl::check(code, "creating a buffer of " + bytes_text(target.buffer_bytes) + " to measure with");
    const end_maker out = [&] { return endpoints::make_range_endpoint(m_process.devices(), source, 0); };
    const end_maker in = [&] { return endpoints::make_range_endpoint(m_process.devices(), target, 0); };
    const auto seen = run_all(out, in, link_shapes(), {.window = true, .device_window = true});
    if (!seen.linked) return false;
    add(found, operation::link, seen.source);
    add(found, operation::link_in, seen.target);
    return true;
}

std::vector<measured_stage> measuring::file(int fd) {
    constexpr std::size_t most = 32 * mib;
    const auto open = [&](endpoints::access how) {
        return end_maker(
            [this, fd, how] { return endpoints::make_descriptor_endpoint(m_process.files(), fd, 0, most, how); });
    };
    const auto blocks = [&](const end_maker& file) {
        auto made = shapes(4 * kib, 4 * mib, most, many);
        const auto io_threads = std::min(m_process.engine().io_threads(), file()->traits().most_io_threads);
        for (const auto block : {128 * kib, mib}) made.push_back({most, block, 2 * io_threads, io_threads});
        return made;
    };
    const auto written = open(endpoints::access::write), read = open(endpoints::access::read);
    std::vector<measured_stage> found;
    std::vector<std::shared_ptr<transfer::flow_probe>> unused;
    // Written first: then the file is there, and in the page cache.
    const transfer::plan filling{.strategy = transfer::measuring_strategy, .block_bytes = 4 * mib};
    run_once(make_nothing, written, most, filling, unused);
    add(found, operation::write, run_all(make_nothing, written, blocks(written), {}).target);
    add(found, operation::read, run_all(read, make_nothing, blocks(read), {}).source);
    return found;
}

std::vector<measured_stage> measuring::rank(const end_maker& destination, const end_maker& origin, bool is_first,
                                            cl_context context, cl_device_id device) {
    const std::size_t most = 16 * mib;
    m_is_paired = true;
    // What travels with its announcement, at most 64 KiB, takes no time of its own.
    auto blocks = shapes(256 * kib, 4 * mib, most, few);
    for (const auto block : {128 * kib, mib}) blocks.push_back({most, block, 4, 1});
    std::vector<measured_stage> found;
    for (const bool sends : {is_first, !is_first}) {
        if (sends) {
            add(found, operation::send, run_all(make_nothing, destination, blocks, {}).target);
        } else {
            add(found, operation::receive, run_all(origin, make_nothing, blocks, {}).source);
        }
    }
    // What follows needs both ranks.
    cl_int code = CL_SUCCESS;
    const std::size_t there = 64 * mib; // for the link
    endpoints::buffer_location location{cl::context::share(context), device, {}, there, CL_MEM_READ_WRITE};
    constexpr std::byte takes_part{1}, has_links{2};
    std::byte own{0}, other{0};
    location.buffer = cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE, there, nullptr, &code));
    if (location.buffer) own |= takes_part;
    if (location.buffer && !cl::facts_of(device).host_memory && reaches_others(device)) own |= has_links;
    const end_maker own_word = [&] { return endpoints::make_host_endpoint(&own); };
    const end_maker other_word = [&] { return endpoints::make_host_endpoint(&other); };
    const transfer::plan word{.strategy = transfer::measuring_strategy, .block_bytes = 1};
    std::vector<std::shared_ptr<transfer::flow_probe>> unused;
    for (const bool sends : {is_first, !is_first}) {
        if (sends) {
            run_once(own_word, destination, 1, word, unused);
        } else {
            run_once(origin, other_word, 1, word, unused);
        }
    }
    const auto both = own & other;
    if ((both & takes_part) == std::byte{0}) return found;

    const end_maker range = [&] { return endpoints::make_range_endpoint(m_process.devices(), location, 0); };
    for (auto& each : blocks)
        if (each.depth > 1) each.depth = 6;
    const transfer::plan shared{.window = true, .without_window = transfer::measuring_strategy};
    for (const bool sends : {is_first, !is_first}) {
        const auto seen = sends ? run_all(range, destination, blocks, shared) : run_all(origin, range, blocks, shared);
        if (!sends && seen.shared) add(found, operation::window, seen.source);
    }
    if ((both & has_links) == std::byte{0}) return found;
    const transfer::plan linked{.window = true, .device_window = true, .without_window = transfer::measuring_strategy};
    for (const bool sends : {is_first, !is_first}) {
        const auto seen = sends ? run_all(range, destination, link_shapes(), linked)
                                : run_all(origin, range, link_shapes(), linked);
        if (!sends && seen.linked) add(found, operation::link, seen.source);
    }
    return found;
}

} // namespace causeway::core
