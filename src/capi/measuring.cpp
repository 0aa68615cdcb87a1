// SPDX-License-Identifier: Apache-2.0
// Chooses block sizes that tell latency from bandwidth, and enough of them for a median.
#include "capi/measuring.hpp"

#include "capi/runtime.hpp"
#include "cl/calls.hpp"
#include "endpoints/file/file_endpoint.hpp"

#include <algorithm>

namespace causeway::capi {

namespace {

using transfer::operation;
using transfer::stage_sample;

constexpr std::size_t kib = 1024, mib = kib * kib;

/// The other end: a source whose bytes are whatever the staging memory holds, a target that forgets them.
class nothing final : public transfer::endpoint {
  public:
    [[nodiscard]] transfer::endpoint_traits traits() const override { return {.kind = transfer::medium::host}; }
    [[nodiscard]] std::string name() const override { return "nothing"; }
};

void add(std::vector<measured_stage>& found, operation what, const std::vector<stage_sample>& samples) {
    // Nothing, if all of it ran beside other transfers.
    const auto alone = std::count_if(samples.begin(), samples.end(), [](const auto& each) { return each.company <= 1; });
    if (alone >= 2) found.push_back({what, transfer::fit(samples)});
}

std::unique_ptr<transfer::endpoint> make_nothing() { return std::make_unique<nothing>(); }

/// Of several runs the one in the middle, of those alone and those in company.
void add_medians(const std::vector<transfer::sample_pair>& runs, std::vector<stage_sample>& into) {
    for (const bool together : {false, true}) {
        std::vector<stage_sample> alike;
        for (const auto& run : runs)
            for (const auto& each : run)
                if ((each.company > 1) == together) alike.push_back(each);
        if (alike.empty()) continue;
        const auto middle = alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2);
        std::nth_element(alike.begin(), middle, alike.end(),
                         [](const auto& one, const auto& other) { return one.seconds < other.seconds; });
        into.push_back(*middle);
    }
}

/// One block at a time, of every size that a model has from `smallest` to `largest`; several of each, in `most` bytes.
std::vector<measuring::shape> shapes(std::size_t smallest, std::size_t largest, std::size_t most) {
    std::vector<measuring::shape> made;
    for (auto block = smallest; block <= largest; block *= 4)
        made.push_back({std::min(most, std::max(64 * block, mib)), block, 1, 1});
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
    auto moving = std::make_unique<transfer::flow>(source(), target(), bytes);
    moving->use(probe);
    std::vector<std::unique_ptr<transfer::flow>> flows;
    flows.push_back(std::move(moving));
    const auto work = std::make_shared<transfer::command>(std::move(flows), std::vector<std::unique_ptr<transfer::gate>>{},
                                                          std::vector<std::shared_ptr<transfer::command>>{}, nullptr);
    {
        const std::lock_guard lock(m_process.enqueue_mutex());
        m_process.require_running();
        m_process.engine().submit(work);
    }
    if (const auto failed = work->wait()) throw transfer_error(failed.status, "measuring: " + failed.message, failed.error_number);
    probes.push_back(std::move(probe));
}

void measuring::run(const end_maker& source, const end_maker& target, std::size_t bytes, const transfer::plan& chosen,
                    seen& into) {
    const unsigned rounds = m_effort == effort::thorough ? 5 : 3;
    std::vector<std::shared_ptr<transfer::flow_probe>> probes;
    for (unsigned i = 0; i <= rounds; ++i) run_once(source, target, bytes, chosen, probes);
    probes.erase(probes.begin()); // memory was new, and pages were not there
    // What ran beside others counts only where there is nothing else.
    const auto alone = [](const auto& each) { return each->was_alone; };
    if (std::any_of(probes.begin(), probes.end(), alone))
        std::erase_if(probes, [&](const auto& each) { return !alone(each); });
    into.shared = probes.front()->shared;
    std::vector<transfer::sample_pair> sources, targets;
    for (const auto& each : probes) {
        sources.push_back(each->source);
        targets.push_back(each->target);
    }
    add_medians(sources, into.source);
    add_medians(targets, into.target);
}

measuring::seen measuring::run_all(const end_maker& source, const end_maker& target, const std::vector<shape>& shapes,
                                   const transfer::plan& like) {
    seen all;
    for (const auto& each : shapes) {
        auto chosen = like;
        chosen.strategy = "measuring";
        chosen.block_bytes = each.block_bytes;
        chosen.depth = each.depth;
        chosen.lanes = each.lanes;
        run(source, target, each.bytes, chosen, all);
    }
    return all;
}

std::vector<measured_stage> measuring::device(cl_context context, cl_device_id device) {
    const std::size_t most = (m_effort == effort::thorough ? 16 : 4) * mib;
    cl_int code = CL_SUCCESS;
    endpoints::device_place place{cl::context::share(context), device,
                                  cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE, most, nullptr, &code)),
                                  most, CL_MEM_READ_WRITE};
    cl::check(code, "creating a buffer of " + bytes_text(most) + " to measure with");
    const end_maker range = [&] { return endpoints::make_range_endpoint(m_process.devices(), place, 0); };
    auto copies = shapes(4 * kib, most / 4, most);
    copies.push_back({most, most / 16, 4, 1});
    std::vector<measured_stage> found;
    add(found, operation::copy_in, run_all(make_nothing, range, copies, {}).target);
    add(found, operation::copy_out, run_all(range, make_nothing, copies, {}).source);
    if (!cl::facts_of(device).host_memory) return found;
    const std::vector<shape> maps = {{4 * kib, most, 1, 1}, {512 * kib, most, 1, 1}, {most, most, 1, 1}};
    add(found, operation::map_in, run_all(make_nothing, range, maps, {.map_target = true}).target);
    add(found, operation::map_out, run_all(range, make_nothing, maps, {.map_source = true}).source);
    return found;
}

std::vector<measured_stage> measuring::file(int fd) {
    const std::size_t most = 32 * mib;
    const auto open = [&](endpoints::access how) {
        return end_maker([this, fd, most, how] {
            return endpoints::make_descriptor_endpoint(m_process.files(), fd, 0, most, how);
        });
    };
    const auto lanes = m_process.engine().lanes();
    auto blocks = shapes(4 * kib, 4 * mib, most);
    blocks.push_back({most, mib, 2 * lanes, lanes});
    std::vector<measured_stage> found;
    std::vector<std::shared_ptr<transfer::flow_probe>> unused;
    // Written first: then the file is there, and in the page cache.
    run_once(make_nothing, open(endpoints::access::write), most, {.strategy = "measuring", .block_bytes = 4 * mib}, unused);
    add(found, operation::write, run_all(make_nothing, open(endpoints::access::write), blocks, {}).target);
    add(found, operation::read, run_all(open(endpoints::access::read), make_nothing, blocks, {}).source);
    return found;
}

std::vector<measured_stage> measuring::rank(const end_maker& destination, const end_maker& origin, bool is_first,
                                            cl_context context, cl_device_id device) {
    const std::size_t most = 16 * mib;
    // What travels with its announcement, at most 64 KiB, takes no time of its own.
    auto blocks = shapes(256 * kib, 4 * mib, most);
    blocks.push_back({most, mib, 4, 1});
    std::vector<measured_stage> found;
    for (const bool sends : {is_first, !is_first}) {
        if (sends) {
            add(found, operation::send, run_all(make_nothing, destination, blocks, {}).target);
        } else {
            add(found, operation::receive, run_all(origin, make_nothing, blocks, {}).source);
        }
    }
    if (cl::facts_of(device).host_memory) return found;

    cl_int code = CL_SUCCESS;
    endpoints::device_place place{cl::context::share(context), device,
                                  cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE, most, nullptr, &code)),
                                  most, CL_MEM_READ_WRITE};
    cl::check(code, "creating a buffer of " + bytes_text(most) + " to measure with");
    const end_maker range = [&] { return endpoints::make_range_endpoint(m_process.devices(), place, 0); };
    blocks.back().depth = 6;
    const transfer::plan shared{.window = true, .without_window = "measuring"};
    for (const bool sends : {is_first, !is_first}) {
        const auto seen = sends ? run_all(range, destination, blocks, shared) : run_all(origin, range, blocks, shared);
        if (!sends && seen.shared) add(found, operation::window, seen.source);
    }
    return found;
}

} // namespace causeway::capi
