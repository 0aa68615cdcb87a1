// SPDX-License-Identifier: Apache-2.0
// Joins the cluster, and sends what its ranks have to tell each other.
#include "platform/cluster.hpp"

#include "platform/behind.hpp"
#include "platform/dry_run.hpp"
#include "platform/queue.hpp"
#include "platform/scheduler.hpp"
#include "platform/settings.hpp"
#include "platform/transfer_commands.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace causeway::platform {

namespace {

constexpr unsigned tags = 1 << 20;
constexpr unsigned largest_prime_of_tags = 1'048'573; ///< all bits of a number count
/// Of calls that a rank has made, for others that have come less far.
constexpr std::size_t calls_kept = 4096;
/// How long the end of messages waits for commands whose end other ranks wait for.
constexpr auto longest_drain = std::chrono::seconds(5);

/// One folder above this library, wherever that has been found.
std::string path_of_causeway() {
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&path_of_causeway), &own);
    return (std::filesystem::path(own.dli_fname).parent_path() / "../libcauseway.so.0").string();
}

[[noreturn]] void cannot_join(const std::string& why) {
    // There is nothing to go back to: half of the job's devices would be missing on this rank alone.
    std::fprintf(stderr, "causeway: no cluster: %s\n", why.c_str());
    std::_Exit(1);
}

void print_counts() {
    const auto& job = cluster::of_process();
    const auto& counts = job.counts;
    const auto real = counts.all - counts.virtual_ones;
    std::fprintf(stderr,
                 "causeway: rank %d of %d: %lu commands, %lu virtual, %lu virtual after optimisation, %lu run here; "
                 "%lu writes, %lu copies, %lu reads, %lu kernels\n",
                 job.rank(), job.ranks(), counts.all, counts.virtual_ones, counts.virtual_ones - counts.dropped, real,
                 counts.writes, counts.copies, counts.reads, counts.kernels);
}

/// The higher rank first.
std::string difference_of(int mine, const call_record& own, int theirs, const call_record& other) {
    return mine > theirs ? own.difference(mine, other, theirs) : other.difference(theirs, own, mine);
}

} // namespace

cluster& cluster::of_process() {
    // Never destroyed: messages may be under way while the process ends.
    static cluster& one = *new cluster;
    return one;
}

cluster::cluster() {
    const auto dry = settings().text(option::dry_run);
    if (settings()[option::cluster] == 0 && dry.empty()) {
        m_is_alone = true;
        m_ends = true; // before they begin
        return;
    }
    m_begun = std::vector<std::atomic<std::uint64_t>>(calls_kept);
    if (dry.empty())
        join();
    else
        imagine(dry);
    for (auto* const counters : {&m_data_out, &m_data_in, &m_out, &m_in})
        counters->resize(static_cast<std::size_t>(ranks()));
    if (settings()[option::stats] != 0) std::atexit(print_counts);
}

void cluster::imagine(const std::string& text) {
    const auto job = read_dry_run(text);
    if (!job) cannot_join("CAUSEWAY_DRY_RUN=" + text + " is not of the form RANKSxDEVICES or RANKSxDEVICES:RANK");
    m_calls = calls_of_dry_run(*job);
    m_dry_devices = job->devices;
}

void cluster::choose_devices(std::vector<_cl_device_id*>& own) const {
    if (m_dry_devices == 0) return;
    if (own.size() < m_dry_devices)
        cannot_join("CAUSEWAY_DRY_RUN wants " + std::to_string(m_dry_devices) +
                    " devices of each rank, and this one has " + std::to_string(own.size()));
    own.resize(m_dry_devices);
}

void cluster::join() {
    const auto path = path_of_causeway();
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); // plugins of MPI look for its symbols
    if (library == nullptr) cannot_join(dlerror());
    const auto join = reinterpret_cast<cluster_join>(dlsym(library, "causeway_cluster_join"));
    if (join == nullptr) cannot_join(path + " is of another version");
    char why[512] = "";
    m_calls.before_end = [] {
        of_process().end();
        (void)scheduler::of_process().drain(longest_drain);
    };
    m_calls.waits = [] { return !of_process().m_ends && watchdog::of_process().program_waits(); };
    m_calls.calls_made = [] { return of_process().m_calls_made.load(std::memory_order_relaxed); };
    m_calls.call_digest = [](void* bytes) {
        static_assert(sizeof(call_digest) <= cluster_calls::call_digest_bytes);
        new (bytes) call_digest(of_process().own_digest());
    };
    m_calls.compare = [](int rank, const void* bytes) {
        call_digest theirs;
        std::memcpy(static_cast<void*>(&theirs), bytes, sizeof theirs);
        of_process().compare(rank, theirs);
    };
    m_calls.owns_queue = owns_queue;
    m_calls.owns_event = owns_event;
    m_calls.enqueue = enqueue_transfer;
    m_calls.copy = copy_between_queues;
    m_calls.transfer_info = transfer_info;
    m_calls.when_over_here = when_over_here;
    m_calls.same = [](void* bytes, std::size_t size) { of_process().same(static_cast<std::byte*>(bytes), size); };
    if (!join(&m_calls, why, sizeof why)) cannot_join(why);
    m_calls.broadcast(0, &m_first_process, sizeof m_first_process);
    m_strict = settings()[option::strict] != 0;
    watchdog::of_process().start(std::chrono::seconds(settings()[option::watchdog]));
}

void cluster::meet(meeting& at) const {
    if (m_meets.exchange(true))
        give_up("call from a second thread: it needs the other ranks while another thread of this rank waits for them");
    if (m_thread.load(std::memory_order_relaxed) != std::thread::id() && !is_programs_thread()) m_asked_beside = true;
    const auto why = static_cast<std::uint64_t>(at.why);
    // What is compared is what is shown where it differs: another thread's call may go into the record meanwhile.
    const call_record record = m_record;
    const std::array own{why, at.what, record.number(), record.hash()};
    // All ranks have one number if the or of it is that number, and the or of its complement the complement.
    std::array<std::uint64_t, 2 + 2 * own.size()> words{at.words[0], at.words[1]};
    for (std::size_t i = 0; i < own.size(); ++i) {
        words[2 + 2 * i] = own[i];
        words[3 + 2 * i] = ~own[i];
    }
    const watchdog::wait waiting("the other ranks, which have to come to the same call");
    m_calls.combine(words.data(), words.size());
    for (std::size_t i = 0; i < own.size(); ++i)
        if (words[2 + 2 * i] != own[i] || words[3 + 2 * i] != ~own[i]) part(at, record);
    at.words = {words[0], words[1]};
    m_meets = false;
}

void cluster::part(const meeting& at, const call_record& compared) const {
    struct whereabouts {
        purpose why;
        std::uint64_t what;
        call_record record;
        bool operator==(const whereabouts&) const = default;
    };
    const whereabouts mine{at.why, at.what, compared};
    std::vector<whereabouts> all(static_cast<std::size_t>(ranks()));
    m_calls.all_gather(&mine, sizeof mine, all.data()); // every rank has seen it
    const auto other = std::find_if(all.begin(), all.end(), [&](const auto& one) { return !(one == all.front()); });
    // Where threads ask at a time, what is gathered may be of other meetings than what was compared, and agree.
    const auto difference = other == all.end() ? std::string("threads of one rank ask the others at a time")
                                               : other->record.difference(static_cast<int>(other - all.begin()),
                                                                          all.front().record, 0);
    end_parted(difference);
}

void cluster::end_parted(const std::string& difference) const {
    std::string why = "the programs of the ranks have parted: " + difference;
    if (m_asked_beside)
        why += "; on this rank with a question of a second thread, as for the status of an event";
    else if (const auto second = m_second.load(); second != api_call::none)
        why += "; on this rank with a call from a second thread: " + name_of(second);
    why += ". Ranks must not differ in time, random numbers, process numbers, input or threads.";
    if (!m_strict) why += " CAUSEWAY_STRICT=1 stops at the first call that differs.";
    give_up(why);
}

void cluster::end() {
    if (m_ends) return;
    m_last = {m_record, 0, is_programs_thread() && s_paused == 0 && !callback::is_running(), true};
    m_last.begun = m_begun[m_record.number() % m_begun.size()].load(std::memory_order_relaxed);
    m_ends = true;
}

cluster::call_digest cluster::own_digest() const {
    if (m_ends) return m_last;
    call_digest own;
    const std::lock_guard lock(m_record_mutex);
    const auto number = m_calls_made.load(std::memory_order_acquire);
    own.begun = m_begun[number % m_begun.size()].load(std::memory_order_relaxed);
    own.record = m_record;
    own.is_noted = number != 0 && own.record.number() == number; // else the program has gone on meanwhile
    return own;
}

void cluster::compare(int rank, const call_digest& theirs) const {
    const bool is_over = m_ends;
    if (!theirs.is_noted || (is_over && !m_last.is_noted)) return;
    if (is_over && theirs.is_last) {
        if (m_last.record == theirs.record) return;
    } else {
        // Who has come less far is compared with the other one as it was there. Half of what is kept, as this rank's
        // program may go on meanwhile, whose record is looked at for the text alone.
        const auto come_to = m_calls_made.load(std::memory_order_acquire);
        const auto at = theirs.record.number();
        if (at == 0 || at > come_to || come_to - at >= m_begun.size() / 2) return;
        if (m_begun[at % m_begun.size()].load(std::memory_order_relaxed) == theirs.begun) return;
    }
    call_record mine;
    {
        const std::lock_guard lock(m_record_mutex);
        mine = is_over ? m_last.record : m_record;
    }
    end_parted(difference_of(this->rank(), mine, rank, theirs.record));
}

bool cluster::all_have(std::uint64_t number) const {
    meeting at{purpose::number, 0, {number, ~number}};
    meet(at);
    return at.words == std::array{number, ~number};
}

std::vector<std::string> cluster::gather(const std::string& mine) const {
    meeting at{purpose::blobs, 0, {}};
    meet(at);
    const auto count = static_cast<std::size_t>(ranks());
    std::vector<std::size_t> sizes(count);
    const std::size_t own = mine.size();
    const watchdog::wait waiting("the other ranks, which have to come to the same call");
    m_calls.all_gather(&own, sizeof own, sizes.data());
    const auto room = *std::max_element(sizes.begin(), sizes.end());
    std::string padded = mine;
    padded.resize(room);
    std::string all(room * count, '\0');
    m_calls.all_gather(padded.data(), room, all.data());
    std::vector<std::string> blobs;
    for (std::size_t i = 0; i < count; ++i) blobs.push_back(all.substr(i * room, sizes[i]));
    return blobs;
}

cl_int cluster::agree(cl_int code) const {
    if (m_ends || m_dry_devices != 0 || all_have(static_cast<std::uint32_t>(code))) return code;
    std::vector<cl_int> all(static_cast<std::size_t>(ranks()));
    m_calls.all_gather(&code, sizeof code, all.data());
    return *std::find_if(all.begin(), all.end(), [](cl_int one) { return one != CL_SUCCESS; });
}

bool cluster::refuse_in_callback(api_call function) const {
    const bool any_time = function == api_call::clFlush || function == api_call::clSetUserEventStatus ||
                          function == api_call::clSetEventCallback;
    if (ranks() > 1 && !any_time)
        give_up(name_of(function) +
                " in a callback: ranks call back when they like, and could not make it in one order");
    return false;
}

bool cluster::take_over(api_call function) {
    std::thread::id before;
    if (m_thread.compare_exchange_strong(before, std::this_thread::get_id(), std::memory_order_relaxed)) return true;
    // Each rank does these for itself, whenever; where a wait is for more than user events, it shows when the ranks
    // meet.
    for (const auto any_time : {api_call::clFlush, api_call::clSetUserEventStatus, api_call::clSetEventCallback,
                                api_call::clSetMemObjectDestructorCallback, api_call::clWaitForEvents})
        if (function == any_time) return false;
    if (m_ends || is_dry_run()) return false;
    m_second = function;
    if (ranks() > 1 && (m_in_call || !m_thread.compare_exchange_strong(before, std::this_thread::get_id())))
        give_up("call from a second thread: " + name_of(function) + " while another thread calls, last in call " +
                last_call() + ". Threads may call one after the other, as that is an order that all ranks share");
    m_thread = std::this_thread::get_id();
    return true;
}

std::string cluster::last_call() const {
    const std::lock_guard lock(m_record_mutex);
    return "number " + std::to_string(m_record.number()) + ", " + m_record.text();
}

void cluster::give_up(const std::string& why) const {
    m_calls.give_up(why.c_str());
    std::abort(); // it does not come back
}

int cluster::next_data_tag(int from, int to) {
    auto& count = from == rank() ? m_data_out[static_cast<std::size_t>(to)] : m_data_in[static_cast<std::size_t>(from)];
    return static_cast<int>(count++ % tags);
}

int cluster::message_tag(int from, int to, std::uint64_t about) {
    if (about != in_turn) return static_cast<int>(tags + about % largest_prime_of_tags);
    auto& count = from == rank() ? m_out[static_cast<std::size_t>(to)] : m_in[static_cast<std::size_t>(from)];
    return static_cast<int>(count++ % tags);
}

namespace {

struct outgoing {
    std::shared_ptr<std::byte[]> bytes;
};

} // namespace

std::shared_ptr<std::byte[]> cluster::room_for_message(std::size_t size) const {
    const auto room = sizeof(message_head) + size;
    const std::shared_ptr<std::byte[]> whole(is_dry_run() ? new std::byte[room]() : new std::byte[room]);
    auto* const bytes = whole.get() + sizeof(message_head);
    new (whole.get()) message_head;
    return {whole, bytes};
}

cluster::message_head& cluster::head_of(const std::shared_ptr<std::byte[]>& bytes) {
    return *reinterpret_cast<message_head*>(bytes.get() - sizeof(message_head));
}

cluster::message_head cluster::own_head() const {
    // Other threads' calls are in no record, and those that are not noted come between any two that are.
    if (!is_programs_thread() || s_paused != 0) return {};
    return {m_record, rank(), true};
}

void cluster::check_head(const message_head& own, const message_head& theirs) const {
    if (!own.is_noted || !theirs.is_noted || own.record == theirs.record) return;
    end_parted(difference_of(own.rank, own.record, theirs.rank, theirs.record));
}

void cluster::end_too_long(const message_head& expected, int from) const {
    std::string difference;
    if (expected.is_noted)
        difference = "in call " + std::to_string(expected.record.number()) + ", " + expected.record.text() +
                     ", or before, ";
    end_parted(difference + "rank " + std::to_string(rank()) + " expects less than rank " + std::to_string(from) +
               " has sent" + (expected.is_noted ? " (#n is what call n made)" : ""));
}

std::function<void()> cluster::promise(int to, std::shared_ptr<std::byte[]> bytes, std::size_t size,
                                       std::uint64_t about) {
    if (m_ends) return [] {}; // nobody listens
    head_of(bytes) = own_head();
    return [this, to, bytes = std::move(bytes), size, tag = message_tag(rank(), to, about)] {
        auto* const held = new outgoing{bytes};
        m_calls.send(
            to, tag, &head_of(bytes), sizeof(message_head) + size,
            [](void* data, bool) { delete static_cast<outgoing*>(data); }, held);
    };
}

void cluster::receive(int from, std::shared_ptr<std::byte[]> bytes, std::size_t size, std::function<void()> over,
                      std::uint64_t about) {
    struct incoming {
        std::shared_ptr<std::byte[]> bytes;
        std::function<void()> over;
        message_head expected;
        int from;
    };
    auto* const held = new incoming{std::move(bytes), std::move(over), own_head(), from};
    auto& head = head_of(held->bytes);
    head = {};
    m_calls.receive(
        from, message_tag(from, rank(), about), &head, sizeof head + size,
        [](void* data, bool has_arrived) {
            const std::unique_ptr<incoming> done(static_cast<incoming*>(data));
            const auto& job = of_process();
            job.check_head(done->expected, head_of(done->bytes));
            if (!has_arrived) job.end_too_long(done->expected, done->from);
            done->over();
        },
        held);
}

std::function<void()> cluster::spread(int root, const std::shared_ptr<std::byte[]>& bytes, std::size_t size,
                                      std::function<void()> arrived, std::uint64_t about) {
    // A binomial tree around the root. Tags are taken now, in the order of the calls; messages go when the bytes are
    // there.
    const int count = ranks();
    const int position = (rank() - root + count) % count;
    const int low = position == 0 ? count : position & -position;
    std::vector<std::function<void()>> promises;
    for (int step = 1; step < low && position + step < count; step *= 2)
        promises.push_back(promise((position + step + root) % count, bytes, size, about));
    auto pass_on = [promises = std::move(promises)] {
        for (const auto& keep : promises) keep();
    };
    if (position == 0) return pass_on;
    const int parent = (position - low + root) % count;
    receive(
        parent, bytes, size,
        [pass_on = std::move(pass_on), arrived = std::move(arrived)] {
            pass_on();
            arrived();
        },
        about);
    return {};
}

void cluster::same(std::byte* bytes, std::size_t size) const {
    if (m_ends || m_dry_devices != 0) return;
    meeting at{purpose::bytes, size, {}};
    const bool is_few = size <= sizeof at.words;
    if (is_few && rank() == 0) std::memcpy(at.words.data(), bytes, size);
    meet(at);
    if (is_few)
        std::memcpy(bytes, at.words.data(), size);
    else
        m_calls.broadcast(0, bytes, size);
}

bool is_here(const _cl_event& event) {
    const auto& job = event.context->job;
    return event.rank < 0 || job.is_alone() || event.rank == job.rank();
}

namespace {

std::shared_ptr<std::byte[]> room_for_end(const cluster& job) { return job.room_for_message(sizeof(command_end)); }

void end_with(_cl_event& event, const std::byte* bytes) {
    command_end end;
    std::memcpy(&end, bytes, sizeof end);
    scheduler::of_process().end(event, end);
}

/// Fills `bytes` and calls `pass_on` when the event is over here.
void say_when_over(_cl_event& event, std::shared_ptr<std::byte[]> bytes, std::function<void()> pass_on) {
    scheduler::of_process().after(event, [&event, bytes = std::move(bytes), pass_on = std::move(pass_on)](cl_int) {
        auto end = event.end();
        end.passes_users = passes_users(event);
        std::memcpy(bytes.get(), &end, sizeof end);
        pass_on();
    });
}

} // namespace

void tell(_cl_event& event, int rank) {
    if (std::find(event.told.begin(), event.told.end(), rank) != event.told.end()) return;
    event.told.push_back(rank);
    auto& job = event.context->job;
    const auto bytes = room_for_end(job);
    say_when_over(event, bytes, job.promise(rank, bytes, sizeof(command_end)));
}

void listen(_cl_event& event) {
    if (!event.told.empty()) return;
    auto& job = event.context->job;
    event.told.push_back(job.rank());
    const auto bytes = room_for_end(job);
    job.receive(event.rank, bytes, sizeof(command_end),
                [bytes, held = ref<_cl_event>(&event)] { end_with(*held, bytes.get()); });
}

void tell_all(_cl_event& event) {
    if (event.rank < 0 || event.told_all) return;
    event.told_all = true;
    auto& job = event.context->job;
    const auto bytes = room_for_end(job);
    auto pass_on = job.spread(
        event.rank, bytes, sizeof(command_end),
        [bytes, held = ref<_cl_event>(&event)] { end_with(*held, bytes.get()); }, event.made_by);
    if (event.rank == job.rank()) say_when_over(event, bytes, std::move(pass_on));
}

void end_here(_cl_event& event, cl_int status, bool passes_users) {
    auto& plan = scheduler::of_process();
    command_end end{status};
    end.passes_users = passes_users;
    if (event.told_all || !event.told.empty())
        plan.wait_for(event); // for the message, which says more
    else
        plan.end(event, end);
}

cl_int wait_everywhere(_cl_event& event) {
    auto& job = event.context->job;
    struct {
        cl_int status = CL_COMPLETE;
        bool passes_users = false;
    } found;
    if (is_here(event)) {
        scheduler::of_process().wait_for(event);
        found = {event.status(), passes_users(event)};
    } else if (job.is_over() && event.known_end() <= CL_COMPLETE) {
        found.status = event.known_end();
    }
    if (event.rank >= 0 && !(job.is_over() && found.status <= CL_COMPLETE)) found = job.from(event.rank, found);
    wait_for_all(event.behind, found.passes_users);
    if (!is_here(event)) end_here(event, found.status, found.passes_users);
    return found.status;
}

} // namespace causeway::platform

// For what `causeway run --cluster` loads in front of a program.
extern "C" {

/// Rank 0's bytes on every rank.
__attribute__((visibility("default"))) void causeway_cluster_same(void* bytes, std::size_t size) {
    causeway::platform::cluster::of_process().same(static_cast<std::byte*>(bytes), size);
}

/// The first of all ranks' codes that is not 0, when all have come here.
__attribute__((visibility("default"))) int causeway_cluster_agree(int code) {
    return causeway::platform::cluster::of_process().agree(code);
}

/// 0 where there is no cluster.
__attribute__((visibility("default"))) int causeway_cluster_rank() {
    return causeway::platform::cluster::of_process().rank();
}

/// The number of rank 0's process; 0 where there is no cluster.
__attribute__((visibility("default"))) int causeway_cluster_process() {
    const auto& job = causeway::platform::cluster::of_process();
    return job.is_alone() ? 0 : job.first_process();
}
}
