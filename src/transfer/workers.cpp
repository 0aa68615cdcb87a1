// SPDX-License-Identifier: Apache-2.0
// I/O threads, a fixed number, for files; waiting threads, as many as needed, for streams.
#include "transfer/workers.hpp"

#include "base/blocked_signals.hpp"
#include "base/spin_lock.hpp"
#include "transfer/apart.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace causeway::transfer {

namespace {

constexpr auto idle_life = std::chrono::seconds(5);
/// Beyond the I/O threads: for jobs on another device than the one that has them all.
constexpr unsigned spare_threads = 2;
/// Who is called early looks on for so many times as long as one that has worked.
constexpr int times_early = 2;
/// As many as read one block together. The engine's thread wakes no more of those that sleep, as each call takes it
/// microseconds: they wake the others.
constexpr std::size_t called_by_engine = 4;

/// Threads that share one queue of jobs. The threads share ownership of it, so that a thread that never returns can be
/// left behind. The engine's thread never sleeps for the lock. It wakes one thread by sleeper::call(), which waits for
/// no other thread, while notifying a shared condition variable may.
///
/// A thread is woken only for a job that no thread is about to look for. `coming` counts the threads that are about to
/// look; whoever drives the engine looks for the jobs that it shares. Before such a thread sleeps, it looks at the jobs
/// under the lock, and wakes another if there are more jobs than threads about to look. So no job waits while a thread
/// that could do it sleeps. Jobs that may not begin yet, because their transfer or device has enough threads, are not
/// counted: the thread that ends a job of that transfer or device looks for them.
struct crew {
    struct job {
        worker_pool::work work;
        step* done = nullptr;
        job_origin from;
        worker_pool::attempt here; // the engine's; none if it has no part in it
    };
    /// What waits and what is under way of one transfer.
    struct line {
        job_origin from;
        std::deque<job> jobs;
        std::size_t busy = 0;
        [[nodiscard]] std::size_t may_begin() const { return std::min(jobs.size(), from.at_once - busy); }
    };
    struct device_load {
        std::uint64_t device = 0;
        std::size_t may_begin = 0, busy = 0;
    };
    /// A thread that sleeps until it is called.
    class sleeper {
      public:
        thread_apart apart;
        bool meets_its_caller = false; ///< as wake_one() says
        bool is_early = false; ///< called for a job that is still to come

        void call() {
            if (std::exchange(meets_its_caller, false)) apart.keep_off();
            // Told under the lock: the one that is called may be gone right after it.
            const std::lock_guard lock(m_mutex);
            m_called = true;
            m_changed.notify_one();
        }
        void sleep() {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [this] { return m_called; });
            m_called = false;
        }
        /// False if nobody called for so long.
        [[nodiscard]] bool sleep_for(std::chrono::nanoseconds longest) {
            std::unique_lock lock(m_mutex);
            m_changed.wait_for(lock, longest, [this] { return m_called; });
            return std::exchange(m_called, false);
        }

      private:
        std::mutex m_mutex; // guards m_called
        std::condition_variable m_changed;
        bool m_called = false;
    };

    crew(std::shared_ptr<mailbox> engine_inbox, std::chrono::nanoseconds looks_on, std::size_t most_called,
         std::size_t most_of_device)
        : inbox(std::move(engine_inbox)), patience(looks_on), called_at_once(most_called),
          busy_on_device(most_of_device) {}

    std::shared_ptr<mailbox> inbox;
    const std::chrono::nanoseconds patience;
    const std::size_t called_at_once; // by the engine's thread
    const std::size_t busy_on_device; // threads, at most
    std::atomic<std::size_t> waiting{0}; // jobs that may begin; changed under the lock
    /// Threads that are about to look for a job: called, started, or done with one. Each counts less by one under the
    /// lock.
    std::atomic<std::size_t> coming{0};
    /// Whether there is a job for whoever drives the engine; changed under the lock.
    std::atomic<bool> has_share{false};

    spin_lock lock; // guards the rest
    std::list<line> lines, spare; // in turn; not needed now
    std::vector<device_load> loads;
    std::vector<sleeper*> asleep; // the last to fall asleep is woken first
    bool closing = false;

    void put(job made) {
        const auto& from = made.from;
        auto found = std::ranges::find(lines, from, &line::from);
        if (found == lines.end()) {
            if (spare.empty()) spare.emplace_back();
            found = spare.begin();
            found->from = from;
            lines.splice(lines.end(), spare, found);
        }
        found->jobs.push_back(std::move(made));
        count();
    }
    /// The next job that may begin, of the transfer whose turn it is; without work if there is none.
    job take() {
        return take_of([](const line&) { return true; });
    }
    /// The same for whoever drives the engine.
    job take_shared() { return take_of(is_shared); }
    /// Whoever drives the engine cannot do it after all.
    void put_back(job one) {
        const auto found = std::ranges::find(lines, one.from, &line::from);
        --found->busy;
        --load_of(one.from.device).busy;
        one.here = nullptr;
        found->jobs.push_front(std::move(one));
        count();
    }
    /// The thread that did it comes for another. Takes the lock.
    void finished(const job& one) {
        const std::lock_guard held(lock);
        done_with(one);
        ++coming;
    }
    void done_with(const job& one) {
        const auto found = std::ranges::find(lines, one.from, &line::from);
        --found->busy;
        put_away_if_done(found);
        --load_of(one.from.device).busy;
        count();
        std::erase_if(loads, [](const auto& each) { return each.may_begin == 0 && each.busy == 0; });
    }
    /// Takes the newest job of `from` back.
    job withdraw(const job_origin& from) {
        const auto found = std::ranges::find(lines, from, &line::from);
        if (found == lines.end() || found->jobs.empty()) return {};
        auto newest = std::move(found->jobs.back());
        found->jobs.pop_back();
        put_away_if_done(found);
        count();
        return newest;
    }
    /// Jobs for which nobody comes yet.
    [[nodiscard]] std::size_t unattended() const {
        const std::size_t some = coming + (has_share ? 1 : 0), all = waiting;
        return all > some ? all - some : 0;
    }
    /// Who is to be called for a job; null if nobody sleeps. One that works along with its caller is not to have the
    /// same processor; where the caller waits, that one is the nearest: another takes 30 us more to wake.
    sleeper* wake_one(bool works_along) {
        if (asleep.empty()) return nullptr;
        auto* const one = asleep.back();
        asleep.pop_back();
        one->meets_its_caller = one->apart.is_called_from(works_along ? sched_getcpu() : -1,
                                                          std::chrono::steady_clock::now());
        ++coming;
        return one;
    }

  private:
    static bool is_shared(const line& some) { return some.may_begin() > 0 && some.jobs.front().here; }
    template <class Which> job take_of(Which which) {
        const auto found = std::ranges::find_if(lines, [&](const auto& each) {
            return each.may_begin() > 0 && which(each) && load_of(each.from.device).busy < busy_on_device;
        });
        if (found == lines.end()) return {};
        auto first = std::move(found->jobs.front());
        found->jobs.pop_front();
        lines.splice(lines.end(), lines, found);
        ++found->busy;
        ++load_of(first.from.device).busy;
        count();
        return first;
    }
    device_load& load_of(std::uint64_t device) {
        const auto known = std::ranges::find(loads, device, &device_load::device);
        return known != loads.end() ? *known : loads.emplace_back(device_load{.device = device});
    }
    void put_away_if_done(std::list<line>::iterator found) {
        if (found->jobs.empty() && found->busy == 0) spare.splice(spare.end(), lines, found);
    }
    void count() {
        for (auto& each : loads) each.may_begin = 0;
        for (const auto& each : lines) load_of(each.from.device).may_begin += each.may_begin();
        std::size_t may_begin = 0;
        for (const auto& each : loads) may_begin += std::min(each.may_begin, busy_on_device - each.busy);
        waiting.store(may_begin, std::memory_order_relaxed);
        has_share = may_begin > 0 && std::ranges::any_of(lines, [this](const line& each) {
                        return is_shared(each) && load_of(each.from.device).busy < busy_on_device;
                    });
    }
};

/// Being woken takes longer than most blocks.
void look_on(const crew& team, std::chrono::nanoseconds patience) {
    if (patience.count() == 0) return;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (team.waiting.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
}

/// The next job, or none if the thread is to end.
crew::job next_job(crew& team, crew::sleeper& self, bool leaves_when_idle) {
    for (;;) {
        self.apart.look_at_time(std::chrono::steady_clock::now()); // while nobody can call
        crew::job mine;
        crew::sleeper* another = nullptr;
        {
            const std::lock_guard lock(team.lock);
            --team.coming;
            mine = team.take();
            if (team.unattended() > 0) another = team.wake_one(static_cast<bool>(mine.work));
            if (mine.work) {
                // It is this thread's.
            } else if (team.closing) {
                return {};
            } else {
                team.asleep.push_back(&self);
            }
        }
        if (another != nullptr) another->call();
        if (mine.work) return mine;
        if (!leaves_when_idle) {
            self.sleep();
            self.apart.woke(sched_getcpu());
            if (std::exchange(self.is_early, false)) look_on(team, times_early * team.patience);
        } else if (!self.sleep_for(idle_life)) {
            {
                const std::lock_guard lock(team.lock);
                if (std::erase(team.asleep, &self) == 1) return {};
            }
            // Who is no longer listed is being called.
            self.sleep();
        }
    }
}

/// How the system runs the thread that makes it: another one may start I/O threads, bound to a processor or with a
/// priority.
class thread_habits {
  public:
    thread_habits() : m_policy(sched_getscheduler(0)) {
        m_is_known = sched_getaffinity(0, sizeof m_processors, &m_processors) == 0 &&
                     sched_getparam(0, &m_priority) == 0;
    }
    /// The calling thread runs as that one did then.
    void adopt() const {
        if (!m_is_known) return;
        (void)sched_setaffinity(0, sizeof m_processors, &m_processors);
        if (sched_getscheduler(0) != m_policy) (void)sched_setscheduler(0, m_policy, &m_priority);
    }

  private:
    int m_policy;
    sched_param m_priority{};
    cpu_set_t m_processors{};
    bool m_is_known = false;
};

void work_for(const std::shared_ptr<crew>& team, const thread_habits& habits, bool leaves_when_idle) {
    habits.adopt();
    // A write beyond RLIMIT_FSIZE or to a closed pipe also raises a signal, in this thread, that would kill the
    // process; the call's error is what we want.
    const blocked_signals all;
    crew::sleeper self;
    self.apart.begin();
    for (;;) {
        auto job = next_job(*team, self, leaves_when_idle);
        if (!job.work) return;
        outcome result;
        try {
            result = job.work();
        } catch (...) {
            result.error = current_failure();
        }
        job.work = nullptr;
        team->finished(job); // before the engine hears of it, and has more
        team->inbox->post(mailbox::finished_step{job.done, std::move(result)});
        look_on(*team, team->patience);
    }
}

class worker_threads final : public worker_pool, private progress_source {
  public:
    worker_threads(const std::shared_ptr<mailbox>& inbox, unsigned io_threads, std::chrono::nanoseconds patience)
        : m_io_threads(io_threads), m_files(std::make_shared<crew>(inbox, patience, called_by_engine, io_threads)),
          // Who has taken one of these may not be back for any time, and their number is not limited.
          m_streams(std::make_shared<crew>(inbox, std::chrono::nanoseconds(0), unlimited, unlimited)) {}

    ~worker_threads() override {
        for (const auto& team : {m_files, m_streams}) {
            std::vector<crew::sleeper*> asleep;
            {
                const std::lock_guard lock(team->lock);
                team->closing = true;
                asleep.swap(team->asleep);
                team->coming += asleep.size();
            }
            for (auto* const one : asleep) one->call();
        }
        for (auto& thread : m_threads) thread.join();
    }

    void run(const job_origin& from, work job, step& done) override {
        hand_to(*m_files, {std::move(job), &done, from, {}}, [&] { start_file_worker(from); });
    }

    void run_shared(const job_origin& from, work job, attempt here, step& done) override {
        hand_to(*m_files, {std::move(job), &done, from, std::move(here)}, [&] { start_file_worker(from); });
    }

    void expect_job() override {
        if (m_files->patience.count() == 0) return;
        crew::sleeper* one = nullptr;
        {
            const std::lock_guard lock(m_files->lock);
            if (m_files->coming == 0) one = m_files->wake_one(true);
            if (one != nullptr) one->is_early = true;
        }
        if (one != nullptr) one->call();
    }

    [[nodiscard]] progress_source* share_of_engine() override { return this; }

    void run_waiting(work job, step& done) override {
        hand_to(*m_streams, {std::move(job), &done, {}, {}}, [this] {
            auto& team = *m_streams;
            ++team.coming;
            try {
                std::thread([team = m_streams, habits = m_habits] { work_for(team, habits, true); }).detach();
            } catch (const std::system_error&) {
                --team.coming;
                // The others may wait for what this one would do.
                refuse(team, {});
            }
        });
    }

  private:
    static constexpr auto unlimited = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] bool busy() const override { return m_files->has_share; }
    bool poll(time_point) override {
        crew::job mine;
        {
            const std::lock_guard lock(m_files->lock);
            mine = m_files->take_shared();
        }
        if (!mine.work) return false;
        std::optional<outcome> result;
        try {
            result = mine.here();
        } catch (...) {
            result.emplace().error = current_failure();
        }
        if (!result) {
            const auto from = mine.from;
            call_for(*m_files, [&] { m_files->put_back(std::move(mine)); }, [&] { start_file_worker(from); });
            return true;
        }
        call_for(*m_files, [&] { m_files->done_with(mine); }, [] {});
        mine.done->finish(std::move(*result));
        return true;
    }

    void start_file_worker(const job_origin& from) {
        // The I/O threads that there are get to it.
        if (m_threads.size() == m_io_threads + spare_threads) return;
        ++m_files->coming;
        try {
            m_threads.emplace_back([team = m_files, habits = m_habits] { work_for(team, habits, false); });
            pthread_setname_np(m_threads.back().native_handle(), "causeway-file");
        } catch (const std::system_error&) {
            --m_files->coming;
            if (m_threads.empty()) refuse(*m_files, from);
        }
    }

    template <class More> static void hand_to(crew& team, crew::job made, More more) {
        call_for(team, [&] { team.put(std::move(made)); }, more);
    }
    /// Wakes a thread if none comes for a job after `change`, which is made under the lock; if not enough sleep, `more`
    /// makes one.
    template <class Change, class More> static void call_for(crew& team, Change change, More more) {
        crew::sleeper* one = nullptr;
        {
            const std::lock_guard lock(team.lock);
            change();
            const auto missing = team.unattended();
            const bool others_call = team.coming >= team.called_at_once;
            if (missing == 0 || (others_call && missing <= team.asleep.size())) return;
            if (!others_call) one = team.wake_one(team.has_share || team.waiting > 1);
        }
        if (one != nullptr) {
            one->call();
        } else {
            more();
        }
    }

    /// Ends the newest job of `from`: there is no thread for it.
    static void refuse(crew& team, const job_origin& from) {
        crew::job newest;
        {
            const std::lock_guard lock(team.lock);
            newest = team.withdraw(from);
        }
        if (!newest.work) return; // somebody has taken it after all
        team.inbox->post(mailbox::finished_step{
            newest.done, {0, {status::out_of_resources, 0, 0, "no thread can be made for a file's reads and writes"}}});
    }

    unsigned m_io_threads;
    const thread_habits m_habits; // of the thread that makes this
    std::shared_ptr<crew> m_files, m_streams;
    std::vector<std::thread> m_threads;
};

} // namespace

std::unique_ptr<worker_pool> make_worker_threads(const std::shared_ptr<mailbox>& inbox, unsigned io_threads,
                                                 std::chrono::nanoseconds patience) {
    return std::make_unique<worker_threads>(inbox, io_threads, patience);
}

} // namespace causeway::transfer
