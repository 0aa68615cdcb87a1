// SPDX-License-Identifier: Apache-2.0
// The search with chunks that come from the file by commands: what plain does, with events instead of waiting.
#include "smith_waterman/problem.hpp"

#include "common/program.hpp"

#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

#include <array>
#include <stdexcept>

namespace smith_waterman {

namespace {

// communication begin
/// Chunks on their way: the file that they come from must stay open until they are there, also when the search fails.
struct loads {
    ~loads() {
        for (const apps::event& event : events)
            if (cl_event loading = event.get()) clWaitForEvents(1, &loading);
    }
    std::array<apps::event, problem::slots> events;
};
// communication end

class causeway : public searcher {
  public:
    explicit causeway(problem& problem)
        : m_problem(problem), m_load_queue(apps::create_out_of_order_queue(problem.context(), problem.queue())) {}

    void run() override {
        const database& database = m_problem.database();
        const std::size_t chunks = database.chunks().size();
        std::array<apps::event, problem::slots> searched;
        // communication begin
        const apps::file file = apps::open_file(database.path(), "rb");
        loads loaded;
        // communication end
        for (std::size_t chunk = 0; chunk < chunks + problem::slots; ++chunk) {
            const int slot = int(chunk % problem::slots);
            if (chunk >= problem::slots && chunk - problem::slots < chunks) {
                // communication begin
                wait_for_load(loaded.events[std::size_t(slot)].get());
                // communication end
                apps::wait_for({searched[std::size_t(slot)].get()}, "searching a chunk");
                m_problem.collect(chunk - problem::slots, slot);
            }
            if (chunk >= chunks) continue;
            // communication begin
            cl_event event = nullptr;
            apps::check(clEnqueueWriteBufferFromStdioFile(m_load_queue.get(), m_problem.chunk_in(slot), CL_FALSE, 0,
                                                          database.chunk_size(), file.get(), 0, nullptr, &event),
                        "clEnqueueWriteBufferFromStdioFile");
            loaded.events[std::size_t(slot)].reset(event);
            // PoCL 3.1 never ends what is enqueued behind an event that has failed by then.
            cl_int status = CL_COMPLETE;
            apps::check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                        "clGetEventInfo");
            if (status < 0) wait_for_load(event);
            // communication end
            searched[std::size_t(slot)] = m_problem.enqueue_search(chunk, slot, {event});
        }
    }

  private:
    // communication begin
    static void wait_for_load(cl_event loaded) {
        if (clWaitForEvents(1, &loaded) == CL_SUCCESS) return;
        std::array<char, 512> why{};
        apps::check(clGetTransferInfo(loaded, CL_TRANSFER_ERROR_MESSAGE, why.size(), why.data(), nullptr),
                    "clGetTransferInfo");
        throw std::runtime_error(why.data());
    }
    // communication end

    problem& m_problem;
    // In order, a load would wait for a marker behind the one before, which NVIDIA shows only when the kernel that
    // waited for that one is over.
    apps::queue m_load_queue;
};

} // namespace

std::unique_ptr<searcher> make_causeway(problem& problem) { return std::make_unique<causeway>(problem); }

} // namespace smith_waterman
