// SPDX-License-Identifier: Apache-2.0
// The worker threads: a fixed set for files, as many as needed for streams.
#include "transfer/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <deque>
#include <system_error>
#include <thread>
#include <vector>

namespace causeway::transfer {

namespace {

constexpr auto idle_life = std::chrono::seconds(5);

/// One set of threads with one queue. Shared with its threads, so that one that never returns can be left behind.
struct crew {
    struct job {
        worker_pool::work work;
        step* done;
    };

    explicit crew(std::shared_ptr<mailbox> engine_inbox) : inbox(std::move(engine_inbox)) {}

    std::shared_ptr<mailbox> inbox;
    std::mutex mutex; // guards the rest
    std::condition_variable changed;
    std::deque<job> jobs;
    std::size_t idle = 0;
    bool closing = false;
};

void block_all_signals() {
    // A write beyond RLIMIT_FSIZE or to a closed pipe also raises a signal, in this thread, that would kill the
    // process; the call's error is what we want.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void work_for(const std::shared_ptr<crew>& team, bool leaves_when_idle) {
    block_all_signals();
    std::unique_lock lock(team->mutex);
    for (;;) {
        ++team->idle;
        const auto something = [&] { return team->closing || !team->jobs.empty(); };
        if (leaves_when_idle) {
            team->changed.wait_for(lock, idle_life, something);
        } else {
            team->changed.wait(lock, something);
        }
        --team->idle;
        if (team->jobs.empty()) return;
        auto job = std::move(team->jobs.front());
        team->jobs.pop_front();
        lock.unlock();
        outcome result;
        try {
            result = job.work();
        } catch (...) {
            result.error = current_failure();
        }
        job.work = nullptr;
        team->inbox->post(mailbox::finished_step{job.done, std::move(result)});
        lock.lock();
    }
}

class worker_threads final : public worker_pool {
  public:
    worker_threads(std::shared_ptr<mailbox> inbox, unsigned lanes)
        : m_lanes(lanes), m_files(std::make_shared<crew>(inbox)), m_streams(std::make_shared<crew>(inbox)) {}

    ~worker_threads() override {
        for (const auto& team : {m_files, m_streams}) {
            const std::lock_guard lock(team->mutex);
            team->closing = true;
            team->changed.notify_all();
        }
        for (auto& thread : m_threads) thread.join();
    }

    void run(work job, step& done) override {
        std::unique_lock lock(m_files->mutex);
        m_files->jobs.push_back({std::move(job), &done});
        if (m_files->idle < m_files->jobs.size() && m_threads.size() < m_lanes) {
            try {
                m_threads.emplace_back([team = m_files] { work_for(team, false); });
                pthread_setname_np(m_threads.back().native_handle(), "causeway-file");
            } catch (const std::system_error&) {
                // The workers that there are get to it.
                if (m_threads.empty()) refuse(*m_files);
            }
        }
        lock.unlock(); // or the one that wakes waits for it
        m_files->changed.notify_one();
    }

    void run_waiting(work job, step& done) override {
        const std::lock_guard lock(m_streams->mutex);
        m_streams->jobs.push_back({std::move(job), &done});
        if (m_streams->idle < m_streams->jobs.size()) {
            try {
                std::thread([team = m_streams] { work_for(team, true); }).detach();
            } catch (const std::system_error&) {
                // The others may wait for what this one would do.
                refuse(*m_streams);
            }
        }
        m_streams->changed.notify_one();
    }

  private:
    /// Ends the newest job: there is no thread for it.
    static void refuse(crew& team) {
        auto& done = *team.jobs.back().done;
        team.jobs.pop_back();
        team.inbox->post(mailbox::finished_step{
            &done, {0, {status::out_of_resources, 0, 0, "no thread can be made for a file's reads and writes"}}});
    }

    unsigned m_lanes;
    std::shared_ptr<crew> m_files, m_streams;
    std::vector<std::thread> m_threads;
};

} // namespace

std::unique_ptr<worker_pool> make_worker_threads(std::shared_ptr<mailbox> inbox, unsigned lanes) {
    return std::make_unique<worker_threads>(std::move(inbox), lanes);
}

} // namespace causeway::transfer
