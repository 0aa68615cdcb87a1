// SPDX-License-Identifier: Apache-2.0
// The loop over functions and calls, and the expectations that all scenarios share.
#include "faults/every_call.hpp"

#include "support/events.hpp"

#include <causeway/causeway.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace faults {

void PrintTo(const ending& shown, std::ostream* out) {
    *out << shown.code() << " (error " << shown.error_number << ", of MPI " << shown.mpi_error << ", " << shown.moved
         << " bytes moved" << (shown.withdrawn ? ", withdrawn" : "") << "): " << shown.message;
}

namespace {

/// Polling makes any number of calls; beyond these they are all alike.
constexpr unsigned most_calls = 40;

std::mutex step_mutex; // guards step_text
std::string step_text = "start";

/// What a run must not leave more of than there was.
struct possessions {
    std::vector<std::size_t> references; // of contexts: each queue, buffer and event has one
    std::size_t descriptors = 0;
    std::size_t own_threads = 0, other_threads = 0;
};

std::ostream& operator<<(std::ostream& out, const possessions& shown) {
    out << shown.descriptors << " descriptors, " << shown.own_threads << " threads of the library, "
        << shown.other_threads << " others, references of contexts:";
    for (const auto count : shown.references) out << ' ' << count;
    return out;
}

/// The engine, as many file workers as there are I/O threads, and a worker for a stream.
constexpr std::size_t most_own_threads = 1 + 8 + 1;

possessions take_stock(const scenario& run) {
    possessions found;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(thread.path() / "comm"), name);
        ++(name.starts_with("causeway") ? found.own_threads : found.other_threads);
    }
    // Not sockets: the library keeps one to each rank that it watches.
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
        if (!std::filesystem::read_symlink(each, gone).string().starts_with("socket:")) ++found.descriptors;
    for (const auto context : run.contexts()) {
        cl_uint count = 0;
        clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
        found.references.push_back(count);
    }
    return found;
}

ending end_of(started& command, bool withdrawn) {
    ending result;
    result.refused = command.refused;
    result.message = command.message;
    result.withdrawn = withdrawn;
    if (command.refused != CL_SUCCESS) {
        EXPECT_EQ(command.event.get(), nullptr) << "a refused call gave an event";
        return result;
    }
    result.status = support::await(command.event.get());
    if (result.status > CL_COMPLETE) {
        ADD_FAILURE() << "no end after " << support::patience.count() << " s, status " << result.status << ", moved "
                      << support::bytes_moved(command.event);
        static_cast<void>(clCancelTransfer(command.event.get()));
        result.status = support::await(command.event.get());
        if (result.status > CL_COMPLETE) ADD_FAILURE() << "and it cannot be cancelled";
    }
    result.moved = support::bytes_moved(command.event);
    result.error_number = support::transfer_errno(command.event);
    result.mpi_error = support::transfer_info<int>(command.event, CL_TRANSFER_MPI_ERROR_CLASS);
    result.message = support::transfer_text(command.event, CL_TRANSFER_ERROR_MESSAGE);
    return result;
}

/// What a failed call of `failed` may turn into at the command that made it.
std::vector<cl_int> right_codes(const fault_point& failed) {
    static const std::map<std::string, std::vector<cl_int>> told_otherwise = {
        {"clGetCommandQueueInfo", {CL_INVALID_COMMAND_QUEUE}},
        {"clGetMemObjectInfo", {CL_INVALID_MEM_OBJECT}},
        {"clGetEventInfo",
         {CL_INVALID_EVENT_WAIT_LIST, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES}},
        {"clWaitForEvents", {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST}},
        {"aligned_alloc", {CL_OUT_OF_HOST_MEMORY}},
        // Refusals: the call looks at the file first.
        {"fcntl64", {CL_INVALID_VALUE, CL_OUT_OF_RESOURCES}},
        {"open64", {CL_INVALID_VALUE}},
        {"lseek64", {CL_INVALID_VALUE}},
        {"fstat64", {CL_INVALID_VALUE, CL_TRANSFER_IO_ERROR}},
        {"PMPI_Query_thread", {CL_INVALID_OPERATION}},
        {"PMPI_Comm_size", {CL_INVALID_VALUE}},
        {"PMPI_Comm_test_inter", {CL_INVALID_VALUE}},
        {"PMPI_Comm_group", {CL_INVALID_VALUE}},
        {"PMPI_Group_size", {CL_INVALID_VALUE}},
        {"PMPI_Group_translate_ranks", {CL_INVALID_VALUE}},
        {"PMPI_Comm_get_attr", {CL_INVALID_VALUE, CL_INVALID_OPERATION, CL_TRANSFER_PEER_FAILED}},
        {"PMPI_Comm_set_attr", {CL_INVALID_VALUE, CL_INVALID_OPERATION}},
    };
    const auto found = told_otherwise.find(failed.name);
    if (found != told_otherwise.end()) return found->second;
    switch (failed.from) {
    case layer::opencl: return {failed.code};
    case layer::mpi: return {CL_TRANSFER_PEER_FAILED};
    case layer::system: break;
    }
    return {CL_TRANSFER_IO_ERROR};
}

/// True if a command ended with a right code of its own.
bool check_codes(const std::vector<ending>& endings, const fault_point& failed, bool has_messages) {
    const auto right = right_codes(failed);
    bool cause_told = false;
    for (const auto& each : endings) {
        if (each.succeeded() || each.cancelled()) continue;
        EXPECT_NE(each.message, "") << "code " << each.code();
        // Of two transfers of one message, one meets the failing call.
        const bool peer_only = each.code() == CL_TRANSFER_PEER_FAILED && each.mpi_error != failed.code;
        if (!peer_only && std::find(right.begin(), right.end(), each.code()) != right.end()) {
            cause_told = true;
            if (each.code() == CL_TRANSFER_IO_ERROR) {
                EXPECT_EQ(each.error_number, failed.code) << each.message;
            }
        } else {
            EXPECT_TRUE(has_messages && each.code() == CL_TRANSFER_PEER_FAILED)
                << "code " << each.code() << ": " << each.message;
        }
    }
    return cause_told;
}

/// Called only when the library has let go of what it keeps, which takes it up to trim_time even if it keeps nothing.
bool makes_what_is_kept(const fault_point& which) {
    const std::string_view name = which.name;
    return name == "clCreateCommandQueue" || name == "clCreateBuffer" || name == "clEnqueueMapBuffer" ||
           name == "aligned_alloc";
}
constexpr std::chrono::milliseconds trim_time{40};

/// One that has started hears of a failure before it is cancelled. Where that failure is not known but its cause lies,
/// it is given time for it, as another rank may have heard first. One behind others that never end does not start.
void withdraw(const support::event_handle& transfer, bool may_not_know_yet) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds longest{1000}, to_hear{200};
    auto until = clock::now() + longest;
    bool has_started = false;
    while (clock::now() < until) {
        const auto status = support::transfer_info<cl_int>(transfer, CL_TRANSFER_STATUS);
        if (status <= CL_COMPLETE || (status == CL_RUNNING && !may_not_know_yet)) break;
        if (status == CL_RUNNING && !std::exchange(has_started, true)) until = clock::now() + to_hear;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    static_cast<void>(clCancelTransfer(transfer.get()));
}

enum class verdict { missed, hit, broken };

/// Failed expectations of the current test so far.
int failures() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

class run_of_scenario {
  public:
    run_of_scenario(scenario& run, team& together) : m_run(run), m_team(together) {}

    /// True if the call failed.
    bool once(fault_point* failing, unsigned nth, unsigned count = 1) {
        m_run.reset();
        if (m_least.empty()) m_least = take_stock(m_run).references; // the first run starts threads that stay
        static_cast<void>(m_team.any(false));
        arm(m_team.leads() ? failing : nullptr, nth, count);
        auto commands = m_run.start();
        bool failed_here = std::any_of(commands.begin(), commands.end(),
                                       [](const auto& each) { return each.refused != CL_SUCCESS; });
        bool hopeless = m_team.any(failed_here);
        std::vector<ending> endings(commands.size());
        // A message that was never announced is none: its receive waits for another one, and has to be cancelled.
        for (const bool waits_for_message : {false, true}) {
            for (std::size_t i = 0; i < commands.size(); ++i) {
                if (commands[i].waits_for_message != waits_for_message) continue;
                const bool withdrawn = hopeless && commands[i].refused == CL_SUCCESS;
                if (withdrawn) withdraw(commands[i].event, m_team.leads() && !failed_here);
                endings[i] = end_of(commands[i], withdrawn);
                failed_here |= !endings[i].succeeded();
            }
            hopeless = m_team.any(failed_here);
        }
        commands.clear();
        for (const auto queue : m_run.queues()) EXPECT_EQ(clFinish(queue), CL_SUCCESS);

        const bool hit = disarm();
        const bool some_hit = m_team.any(hit);

        if (some_hit) {
            const bool told = check_codes(endings, *failing, m_run.has_messages());
            const bool failed = std::any_of(endings.begin(), endings.end(),
                                            [](const auto& each) { return !each.succeeded() && !each.cancelled(); });
            const bool anybody_told = m_team.any(told);
            const bool anybody_failed = m_team.any(failed);
            EXPECT_EQ(anybody_told, anybody_failed)
                << "nobody was told the cause, but: " << testing::PrintToString(endings);
        } else {
            for (const auto& each : endings) EXPECT_TRUE(each.succeeded()) << each.code() << ": " << each.message;
        }
        m_run.check(endings, some_hit ? failing : nullptr);
        return some_hit;
    }

    /// Nothing leaks: everything gets as few as it was. The library looks for events that it alone still holds only now
    /// and then, and one look may see what is just about to go.
    void check_stock() {
        possessions now;
        const bool settled = support::eventually([&] {
            m_run.touch();
            now = take_stock(m_run);
            m_least_descriptors = std::min(m_least_descriptors, now.descriptors);
            m_least_threads = std::min(m_least_threads, now.other_threads);
            bool as_few = true;
            for (std::size_t i = 0; i < m_least.size(); ++i) as_few &= now.references[i] <= m_least[i];
            return as_few && now.descriptors == m_least_descriptors && now.other_threads == m_least_threads &&
                   now.own_threads <= most_own_threads;
        });
        EXPECT_TRUE(settled) << "least: " << m_least_descriptors << " descriptors, " << m_least_threads
                             << " other threads, references of contexts: " << testing::PrintToString(m_least)
                             << "; now: " << now;
    }

  private:
    scenario& m_run;
    team& m_team;
    std::vector<std::size_t> m_least; // references of contexts, before the first run
    std::size_t m_least_descriptors = std::numeric_limits<std::size_t>::max();
    std::size_t m_least_threads = std::numeric_limits<std::size_t>::max();
};

} // namespace

void fail_every_call(scenario& run, team& together) {
    run_of_scenario one(run, together);
    enter_step("without a fault");
    std::vector<fault_point*> called;
    // Counted in the second run, as the first may meet what happens only once; but it may find something kept.
    for (const bool is_first : {true, false}) {
        static_cast<void>(one.once(nullptr, 0));
        for (auto* const each : all_points())
            if (together.any(together.leads() && each->calls > 0) && (!is_first || makes_what_is_kept(*each)) &&
                std::find(called.begin(), called.end(), each) == called.end())
                called.push_back(each);
    }
    // A map that OpenCL refuses to end stays, and with it what it belongs to: it comes when all else is looked at.
    const auto leaking = std::stable_partition(called.begin(), called.end(), [](const auto* each) {
        return std::string_view(each->name) != "clEnqueueUnmapMemObject";
    });
    one.check_stock();

    const auto fail = [&](fault_point* failing, unsigned nth, unsigned count) {
        auto step = "call " + std::to_string(nth) + " of " + failing->name + " fails";
        if (count == all_that_follow)
            step += ", and all that follow";
        else if (count > 1)
            step += ", and those up to " + std::to_string(nth + count - 1);
        SCOPED_TRACE(step);
        enter_step(step);
        const auto failures_before = failures();
        const bool hit = one.once(failing, nth, count);
        const bool broken = together.any(failures() > failures_before);
        return broken ? verdict::broken : hit ? verdict::hit : verdict::missed;
    };
    const auto fail_call = [&](fault_point* failing, unsigned nth, unsigned count) {
        auto result = fail(failing, nth, count);
        const auto end = std::chrono::steady_clock::now() + trim_time;
        while (result == verdict::missed && makes_what_is_kept(*failing) &&
               together.any(together.leads() && std::chrono::steady_clock::now() < end))
            result = fail(failing, nth, count);
        return result == verdict::hit;
    };
    for (auto each = called.begin(); each != called.end(); ++each) {
        auto* const failing = *each;
        for (const auto count : run.runs_of_failures(*failing))
            for (unsigned nth = 0; nth < most_calls; ++nth)
                if (!fail_call(failing, nth, count)) break;
        // Ranks that cannot speak to one another at all cannot tell one another so.
        if (failing->from != layer::mpi) static_cast<void>(fail(failing, 0, all_that_follow));
        const auto step = std::string("without a fault, after all failures of ") + failing->name;
        SCOPED_TRACE(step);
        enter_step(step);
        static_cast<void>(one.once(nullptr, 0));
        if (each + 1 == leaking) one.check_stock();
    }
}

void fail_every_call(scenario& run) {
    team alone;
    fail_every_call(run, alone);
}

void enter_step(std::string text) {
    const std::lock_guard lock(step_mutex);
    step_text = std::move(text);
}

std::string current_step() {
    const std::lock_guard lock(step_mutex);
    return step_text;
}

} // namespace faults
