// SPDX-License-Identifier: Apache-2.0
// The loop over functions and calls, and the expectations that all scenarios share.
#include "faults/every_call.hpp"

#include "support/events.hpp"

#include <causeway/causeway.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace faults {

namespace {

/// Polling makes any number of calls; beyond these they are all alike.
constexpr unsigned most_calls = 40;

std::mutex step_mutex; // guards step_text
std::string step_text = "start";

void enter_step(std::string text) {
    const std::lock_guard lock(step_mutex);
    step_text = std::move(text);
}

/// What must be as many after a run as before.
struct possessions {
    std::vector<cl_uint> context_references;
    std::size_t descriptors = 0;
    std::size_t threads = 0; // without the library's file workers, which stay once they are started

    bool operator==(const possessions&) const = default;
};

std::ostream& operator<<(std::ostream& out, const possessions& shown) {
    out << shown.descriptors << " descriptors, " << shown.threads << " threads, context references";
    for (const auto count : shown.context_references) out << ' ' << count;
    return out;
}

std::size_t entries_of(const char* folder) {
    const std::filesystem::directory_iterator all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t file_workers() {
    std::size_t count = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(thread.path() / "comm"), name);
        count += name == "causeway-file" ? 1 : 0;
    }
    return count;
}

possessions take_stock(const scenario& run) {
    possessions found;
    for (const auto context : run.contexts()) {
        cl_uint count = 0;
        clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
        found.context_references.push_back(count);
    }
    found.descriptors = entries_of("/proc/self/fd");
    found.threads = entries_of("/proc/self/task") - file_workers();
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
        if (each.succeeded() || each.withdrawn) continue;
        EXPECT_NE(each.message, "") << "code " << each.code();
        if (std::find(right.begin(), right.end(), each.code()) != right.end()) {
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

/// Failed expectations of the current test so far.
int failures() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

class run_of_scenario {
  public:
    run_of_scenario(scenario& run, team& together) : m_run(run), m_team(together) {}

    /// True if the call failed.
    bool once(fault_point* failing, unsigned nth) {
        m_run.reset();
        const auto before = take_stock(m_run);
        static_cast<void>(m_team.any(false));
        arm(m_team.leads() ? failing : nullptr, nth);
        auto commands = m_run.start();
        const bool refused = std::any_of(commands.begin(), commands.end(),
                                         [](const auto& each) { return each.refused != CL_SUCCESS; });
        const bool withdrawn = m_team.any(refused);
        std::vector<ending> endings;
        if (withdrawn) {
            for (const auto& each : commands)
                if (each.event.get() != nullptr) static_cast<void>(clCancelTransfer(each.event.get()));
        }
        for (auto& each : commands) endings.push_back(end_of(each, withdrawn && each.refused == CL_SUCCESS));
        commands.clear();
        for (const auto queue : m_run.queues()) EXPECT_EQ(clFinish(queue), CL_SUCCESS);

        possessions after;
        const bool nothing_leaks = support::eventually([&] {
            m_run.touch();
            after = take_stock(m_run);
            return !m_warm || after == before;
        });
        EXPECT_TRUE(nothing_leaks) << "before: " << before << "; after: " << after;
        m_warm = true;
        const bool hit = disarm();
        const bool some_hit = m_team.any(hit);

        if (some_hit) {
            const bool told = check_codes(endings, *failing, m_run.has_messages());
            const bool failed = std::any_of(endings.begin(), endings.end(), [](const auto& each) {
                return !each.succeeded() && !each.withdrawn;
            });
            const bool anybody_told = m_team.any(told);
            const bool anybody_failed = m_team.any(failed);
            EXPECT_EQ(anybody_told, anybody_failed) << "nobody was told the cause";
        } else {
            for (const auto& each : endings) EXPECT_TRUE(each.succeeded()) << each.code() << ": " << each.message;
        }
        m_run.check(endings, some_hit ? failing : nullptr);
        return some_hit;
    }

  private:
    scenario& m_run;
    team& m_team;
    bool m_warm = false; // the first run starts threads that stay
};

} // namespace

void fail_every_call(scenario& run, team& together) {
    run_of_scenario one(run, together);
    enter_step("without a fault");
    static_cast<void>(one.once(nullptr, 0));
    // Counted in a second run: the first may meet what happens only once in a process.
    static_cast<void>(one.once(nullptr, 0));
    std::vector<fault_point*> called;
    for (auto* const each : all_points())
        if (together.any(together.leads() && each->calls > 0)) called.push_back(each);

    for (auto* const failing : called) {
        for (unsigned nth = 0; nth < most_calls; ++nth) {
            const auto step = "call " + std::to_string(nth) + " of " + failing->name + " fails";
            SCOPED_TRACE(step);
            enter_step(step);
            const auto failures_before = failures();
            const bool hit = one.once(failing, nth);
            enter_step("after: " + step);
            SCOPED_TRACE("afterwards, without a fault");
            static_cast<void>(one.once(nullptr, 0));
            const bool broken = together.any(failures() > failures_before);
            if (!hit || broken) break;
        }
    }
}

void fail_every_call(scenario& run) {
    team alone;
    fail_every_call(run, alone);
}

std::string current_step() {
    const std::lock_guard lock(step_mutex);
    return step_text;
}

} // namespace faults
