// SPDX-License-Identifier: Apache-2.0
// One thread owns the requests; collectives wait with pauses, as ranks may share processors.
#include "comm/cluster_link.hpp"

#include "base/blocked_signals.hpp"
#include "base/error.hpp"
#include "base/processors.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace causeway::comm {

namespace {

using namespace std::chrono_literals;
/// How long a wait looks without a pause where processors are many, and its pauses.
constexpr auto hot = 20us;
constexpr auto shortest_pause = 2us; ///< the kernel adds some 50
constexpr auto longest_pause = 200us;
constexpr auto longest_end = 5s;
/// What a rank prints before it ends the job: MPICH's launcher (4.0.2) ends at once, and loses what it has not read by
/// then.
constexpr auto until_read = 100ms;
constexpr std::chrono::milliseconds patience_with_reader = 1s;
/// From then on a wait may be for nothing.
constexpr auto long_wait = 500ms;
constexpr std::size_t piece = std::size_t{1} << 30; ///< of a message: MPI counts in ints
constexpr int report_tag = 1 << 21; // beyond the platform's

/// The error output as it was when the process started, which the program may have put a file of its own in the place
/// of (as pytest does): `causeway run --cluster` keeps it, else this library from when it is loaded.
int kept_error_output() {
    using keeper = int();
    static auto* const keeps = reinterpret_cast<keeper*>(dlsym(RTLD_DEFAULT, "causeway_run_error_output"));
    static const int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return keeps != nullptr ? keeps() : own;
}
[[maybe_unused]] const int kept_at_start = kept_error_output();

bool is_same_file(int first, int second) {
    struct stat one{}, other{};
    return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/// Neither waits for a reader who does not read nor ends by the signal of one who is gone: the program may have a pipe
/// of its own there.
void say_last(int fd, const std::string& text) {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr); // the process ends
    pollfd asked{fd, POLLOUT, 0};
    if (poll(&asked, 1, static_cast<int>(patience_with_reader.count())) != 1 || asked.revents != POLLOUT) return;
    if (fd == STDERR_FILENO) std::fflush(stderr);
    (void)!write(fd, text.data(), text.size());
}

/// Ends the job. Launchers print the name of the communicator, so the reason is seen even where all output of this rank
/// goes elsewhere: of its text so much as a name may have.
void abort_job(const char* why) {
    auto name = std::string("causeway: ") + why;
    name.resize(std::min<std::size_t>(name.size(), MPI_MAX_OBJECT_NAME - 1));
    MPI_Comm_set_name(MPI_COMM_WORLD, name.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

class patience {
  public:
    void moved() { m_begin = std::chrono::steady_clock::now(); }
    void pause() {
        const auto waited = std::chrono::steady_clock::now() - m_begin;
        if (waited < hot && !processors::are_few())
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(
                std::clamp<std::chrono::steady_clock::duration>(waited / 10, shortest_pause, longest_pause));
    }

    [[nodiscard]] bool is_long() const { return std::chrono::steady_clock::now() - m_begin > long_wait; }

  private:
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

} // namespace

void start_mpi() {
    int finalized = 0;
    int initialized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) throw transfer_error(status::invalid_operation, "MPI is over already");
    MPI_Initialized(&initialized);
    int provided = MPI_THREAD_SINGLE;
    if (initialized == 0) {
        // hwloc's plugins would ask every OpenCL platform, and ten X displays, inside MPI_Init.
        setenv("HWLOC_COMPONENTS", "-opencl,-gl", 0);
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    } else {
        MPI_Query_thread(&provided);
    }
    if (provided < MPI_THREAD_MULTIPLE)
        throw transfer_error(status::invalid_operation,
                             "a cluster needs MPI_THREAD_MULTIPLE, and MPI was started without it");
}

cluster_link::cluster_link(const cluster_calls& platform, bool is_mpi_ours) : m_platform(platform) {
    MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m_ranks);
    // At once, and waited for with pauses: MPI_Comm_dup looks without one, as long as the other rank has no processor.
    std::array<MPI_Request, 3> made;
    MPI_Comm_idup(MPI_COMM_WORLD, &m_collective, &made[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &m_messages, &made[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &m_data, &made[2]);
    for (const auto each : made) wait(each);
    MPI_Comm_set_errhandler(m_messages, MPI_ERRORS_RETURN); // the platform says more about what is too long
#ifdef MPICH_VERSION
    // 4.0.2 asks this handler about requests of all communicators.
    if (is_mpi_ours) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#else
    (void)is_mpi_ours;
#endif
    const blocked_signals none;
    std::thread([this] { run(); }).detach();
}

void cluster_link::receive_reports() {
    for (;;) {
        if (m_report_requests.size() == 0) {
            MPI_Request next = MPI_REQUEST_NULL;
            check(MPI_Irecv(&m_received, sizeof m_received, MPI_BYTE, MPI_ANY_SOURCE, report_tag, m_messages, &next));
            m_report_requests.add(next, m_report_receive);
        }
        if (!m_report_requests.poll()) return;
    }
}

void cluster_link::report_receive::over(const arrival& result) {
    if (result.cancelled) return;
    if (result.error) link.give_up_for(result.error);
    if (link.m_received.leaves) link.m_left.push_back({result.source, link.m_received.at});
    link.m_platform.compare(result.source, link.m_received.digest.data());
}

std::set<int> cluster_link::listeners() const {
    // Not all, which would connect each pair of a large job at its end. Who waits for a leaver keeps others waiting,
    // whose programs have come as far: one that is told is enough. Who is told tells as well.
    std::set<int> told;
    for (int distance = 1; distance < m_ranks; distance *= 2)
        told.insert({(m_rank + distance) % m_ranks, (m_rank + m_ranks - distance) % m_ranks});
    return told;
}

void cluster_link::send_report(bool leaves) {
    auto& report = m_sent.emplace_back();
    report.at = {m_platform.calls_made(), m_met};
    report.leaves = leaves;
    m_platform.call_digest(report.digest.data());
    for (const int to : listeners()) {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(&report, sizeof report, MPI_BYTE, to, report_tag, m_messages, &request));
        MPI_Request_free(&request);
    }
}

void cluster_link::receive_last_reports() {
    std::fflush(nullptr); // what is compared may end the process
    patience patient;
    const auto all = listeners();
    const auto has_left = [this](int rank) {
        return std::any_of(m_left.begin(), m_left.end(), [rank](const leaver& one) { return one.rank == rank; });
    };
    for (;;) {
        receive_reports();
        if (std::all_of(all.begin(), all.end(), has_left)) break;
        patient.pause();
    }
    cancel_reports();
}

void cluster_link::cancel_reports() {
    m_report_requests.cancel(m_report_receive);
    for (patience patient; m_report_requests.size() != 0; patient.pause()) m_report_requests.poll();
}

void cluster_link::look_for_leavers(bool is_quiet) {
    if (m_report_due.exchange(false)) send_report(false);
    const progress own{m_platform.calls_made(), m_met};
    const bool makes_no_progress = m_platform.waits() && own == m_seen;
    m_seen = own;
    receive_reports();
    // Leavers have sent their reports before this: it is here, if it comes at all.
    if (!m_left.empty() && m_requests.poll()) return;
    for (const auto& [rank, at] : m_left) {
        const bool owes = is_quiet && std::any_of(m_moving.begin(), m_moving.end(), [rank = rank](const moving& one) {
                              return one.rest.direction == message::way::in && one.rest.peer == rank;
                          });
        if (!owes && !(makes_no_progress && (at.calls < own.calls || at.met < own.met))) continue;
        give_up(("rank " + std::to_string(rank) +
                 " has left its program, and this one waits for it: the programs of the ranks have parted")
                    .c_str());
    }
}

void cluster_link::wait(MPI_Request request) {
    ++m_met;
    struct awaited final : operation {
        void over(const arrival& result) override { error = result.error; }
        failure error;
    } collective;
    request_set under_way;
    under_way.watch(request, collective);
    for (patience patient; under_way.size() != 0 && !under_way.poll();) patient.pause();
    if (collective.error) give_up_for(collective.error);
}

void cluster_link::require_open() {
    const std::lock_guard lock(m_mutex);
    if (m_stopping) give_up_at_end("the program needs other ranks of the cluster after it has ended MPI");
}

void cluster_link::give_up_at_end(const char* why) {
    std::fflush(nullptr); // nobody else will, and the program's work is done
    give_up(why);
}

void cluster_link::all_gather(const void* mine, std::size_t bytes, void* all) {
    require_open();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, m_collective,
                   &request);
    wait(request);
}

void cluster_link::broadcast(int root, void* data, std::size_t bytes) {
    require_open();
    for (std::size_t at = 0; at < bytes; at += piece) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, root,
                   m_collective, &request);
        wait(request);
    }
}

void cluster_link::combine(std::uint64_t* words, std::size_t count) {
    require_open();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, words, static_cast<int>(count), MPI_UINT64_T, MPI_BOR, m_collective, &request);
    wait(request);
}

void cluster_link::send(int to, int tag, const void* bytes, std::size_t size, message_over over, void* data) {
    add({message::way::out, to, tag, const_cast<void*>(bytes), size, over, data});
}

void cluster_link::receive(int from, int tag, void* bytes, std::size_t size, message_over over, void* data) {
    add({message::way::in, from, tag, bytes, size, over, data});
}

void cluster_link::give_up(const char* why) {
    const auto text = "causeway: rank " + std::to_string(m_rank) + ": " + why + "\n";
    const int kept = kept_error_output();
    if (kept >= 0 && !is_same_file(kept, STDERR_FILENO)) say_last(kept, text);
    say_last(STDERR_FILENO, text);
    std::this_thread::sleep_for(until_read);
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) abort_job(why);
    std::_Exit(1);
}

void cluster_link::give_up_for(const failure& error) {
    give_up(("a message of the platform: " + error.message).c_str());
}

void cluster_link::check(int code) {
    if (code != MPI_SUCCESS) give_up_for(mpi_failure("MPI", code));
}

void cluster_link::add(const message& added) {
    // What has arrived is passed on to the end: the thread looks at what was added once more before it stops.
    if (m_own_thread.load() != std::this_thread::get_id()) require_open();
    {
        const std::lock_guard lock(m_mutex);
        m_added.push_back(added);
    }
    m_bell.notify_one();
}

void cluster_link::start(moving& next) {
    const auto& rest = next.rest;
    const int count = static_cast<int>(std::min(piece, rest.size)); // what is behind it follows when this is over
    MPI_Request request = MPI_REQUEST_NULL;
    check(rest.direction == message::way::out
              ? MPI_Isend(rest.bytes, count, MPI_BYTE, rest.peer, rest.tag, m_messages, &request)
              : MPI_Irecv(rest.bytes, count, MPI_BYTE, rest.peer, rest.tag, m_messages, &request));
    m_requests.add(request, next);
}

void cluster_link::moving::over(const arrival& result) {
    if (result.too_long) rest.over(rest.data, false);
    if (result.error) link.give_up_for(result.error);
    if (rest.size > piece) {
        rest.bytes = static_cast<char*>(rest.bytes) + piece;
        rest.size -= piece;
        link.start(*this);
        return;
    }
    const auto done = rest;
    link.m_moving.erase(self);
    done.over(done.data, true);
}

void cluster_link::run() {
    m_own_thread = std::this_thread::get_id();
    patience patient;
    auto next_look = std::chrono::steady_clock::now();
    std::vector<message> taken;
    for (;;) {
        {
            std::unique_lock lock(m_mutex);
            // The program may wait for other messages than these.
            if (m_requests.size() == 0)
                m_bell.wait_for(lock, long_wait, [this] { return !m_added.empty() || m_stopping; });
            taken.swap(m_added);
            if (m_stopping && taken.empty() && m_requests.size() == 0) {
                m_stopped = true;
                m_bell.notify_all();
                return;
            }
        }
        for (const auto& next : taken) {
            auto& begun = m_moving.emplace_back(*this, next);
            begun.self = std::prev(m_moving.end());
            start(begun);
        }
        const bool moved = m_requests.poll() || !taken.empty();
        taken.clear();
        if (moved)
            patient.moved();
        else
            patient.pause();
        if (const auto now = std::chrono::steady_clock::now(); m_ranks > 1 && now >= next_look) {
            next_look = now + long_wait;
            look_for_leavers(patient.is_long());
        }
    }
}

void cluster_link::stop() {
    {
        std::unique_lock lock(m_mutex);
        m_stopping = true;
        m_bell.notify_all();
        if (m_bell.wait_for(lock, longest_end, [this] { return m_stopped; })) {
            send_report(true);
            return;
        }
    }
    give_up_at_end(
        "messages of the platform to or from other ranks are not over at the end of the program: their programs have "
        "enqueued something else, or wait for a user event that nobody has set");
}

void cluster_link::at_finalize(void (*ending)()) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* hung, void*) {
            reinterpret_cast<void (*)()>(hung)();
            return MPI_SUCCESS;
        },
        &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(ending));
    MPI_Comm_free_keyval(&key);
}

} // namespace causeway::comm
