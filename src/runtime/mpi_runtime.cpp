// SPDX-License-Identifier: Apache-2.0
// Adds MPI to the engine with the first transfer that needs it, and takes it out before MPI ends.
#include "runtime/mpi_runtime.hpp"

#include "base/launch.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace causeway::core {

namespace {

constexpr auto longest_call = std::chrono::seconds(1);

std::atomic<bool> mpi_is_used{false};

} // namespace

mpi_runtime& mpi_runtime::instance() {
    static auto& one = *new mpi_runtime; // as the runtime
    return one;
}

mpi_runtime::mpi_runtime()
    : m_process(runtime::instance()), m_messenger(process_options(), m_port, comm::shared_segment::open,
                                                  comm::peer_liveness::node(), &m_process.windows()) {
    m_process.engine().call([this] {
        if (auto* const timeline = m_process.timeline()) m_messenger.record(timeline->engine_recorder());
        m_process.engine().add(m_messenger);
        m_process.engine().add(m_heap_waits);
        m_process.after_letting_go([this] { m_messenger.devices().retire(); });
    });
}

void mpi_runtime::use_mpi() {
    {
        const std::lock_guard lock(m_mutex);
        if (m_ended) throw transfer_error(status::invalid_operation, "MPI is being finalised");
        if (std::exchange(m_used, true)) return;
    }
    mpi_is_used = true;
    m_port.at_finalize([this] { at_finalize(); });
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    m_process.know_rank(rank, ranks);
    if (ranks == 1 && launch::ranks() > 1)
        warn_once("the launcher has started " + std::to_string(launch::ranks()) +
                  " ranks, but for MPI this is the only one: "
                  "the launcher and the library that the program is linked with (" +
                  std::string(m_port.library()) +
                  ") are of different MPIs; start it with that library's mpirun, or by causeway run; srun is told the "
                  "kind of MPI by --mpi (srun --mpi=list)");
    const auto key = comm::socket_key::make();
    auto peers = std::make_shared<std::unique_ptr<comm::peer_liveness>>(
        std::make_unique<comm::peer_liveness>(launch::job(), rank, key));
    auto post = std::make_shared<std::unique_ptr<comm::node_post>>(std::make_unique<comm::node_post>(key, rank));
    m_process.engine().call([this, peers, post, rank] {
        m_messenger.watch_peers(std::move(*peers));
        m_messenger.devices().use(std::move(*post), rank);
    });
}

int mpi_runtime::space_of(MPI_Comm comm) {
    use_mpi();
    const int space = m_port.space_of(comm, [this](int ending) { close_space(ending); });
    if (m_free_was_refused) {
        const std::lock_guard lock(m_mutex);
        if (m_closed_spaces.count(space) != 0)
            throw transfer_error(status::invalid_operation,
                                 "the communicator takes no transfers since it was to be freed, which MPI refused");
    }
    return space;
}

void mpi_runtime::make_private(MPI_Comm comm) {
    use_mpi();
    m_port.make_private(comm, [this](int space) { close_space(space); });
}

std::shared_ptr<endpoints::heap> mpi_runtime::make_heap(int pe, std::size_t bytes,
                                                        std::vector<endpoints::heap_member> members,
                                                        std::unique_ptr<comm::distant_watch> distant) {
    auto made = std::make_shared<endpoints::heap>(m_heap_waits, pe, bytes, std::move(members), std::move(distant));
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_heaps, [](const auto& each) { return each.expired(); });
    m_heaps.push_back(made);
    return made;
}

void mpi_runtime::close_space(int space) {
    {
        const std::lock_guard lock(m_mutex);
        // MPICH deletes the attributes of a communicator that was freed when its last request ends: that may be here,
        // in the engine's thread, while it closes the space.
        if (m_ended || !m_closed_spaces.insert(space).second) return;
    }
    (void)m_process.call_and_wait([this, space] { m_messenger.close(space); });
}

void mpi_runtime::before_finalize() {
    if (mpi_is_used) instance().at_finalize();
}

bool mpi_runtime::before_free(MPI_Comm comm) {
    // MPI refuses to free these two, and they stay in use.
    if (!mpi_is_used || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) return false;
    const auto space = instance().m_port.known_space(comm);
    if (space) instance().close_space(*space);
    return space.has_value();
}

void mpi_runtime::at_finalize() {
    if (m_process.is_stopped()) {
        // An exit handler of the program, after ours: nothing is in flight, and nobody would answer.
        (void)m_process.call_and_wait([this] { m_messenger.close_all(); });
        return;
    }
    std::vector<std::weak_ptr<endpoints::heap>> heaps;
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_ended, true)) return;
        heaps = m_heaps;
    }
    for (const auto& each : heaps)
        if (const auto alive = each.lock()) alive->take_no_more();
    const auto& clock = m_process.clock();
    const auto work = m_process.work_that_needs_mpi();
    const auto all_over = [&](time_point until) {
        for (const auto& each : work) {
            const auto alive = each.lock();
            while (alive && !alive->complete()) {
                if (clock.now() >= until) return false;
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        }
        return true;
    };
    auto until = clock.now() + std::chrono::milliseconds(process_options()[option::drain]);
    if (!all_over(until)) {
        until = clock.now() + longest_call;
        for (const auto& each : work)
            if (const auto alive = each.lock())
                m_process.engine().cancel(
                    alive, {status::cancelled, 0, 0, "MPI_Finalize was called before the transfer was complete"});
        (void)all_over(until);
    }
    for (const auto& each : heaps)
        if (const auto alive = each.lock()) {
            alive->leave();
            (void)m_process.call_and_wait([alive] { alive->mpi_ends(); });
        }
    // Other ranks may still need an answer to what was cancelled.
    while (clock.now() < until) {
        if (m_process.answer_of([this] { return m_messenger.quiet(); }).value_or(false)) break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    (void)m_process.call_and_wait([this] { m_messenger.close_all(); });
    // Most programs end now.
    m_process.bridges().end();
}

} // namespace causeway::core
