// SPDX-License-Identifier: Apache-2.0
// Requests are small messages of a communicator of the heap's own; bytes go as those of any two ranks do, by the same
// plans.
#include "runtime/heap_server.hpp"

#include "base/store_once.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "endpoints/mpi/rank_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/heap_request.hpp"
#include "runtime/mpi_runtime.hpp"
#include "runtime/own_command.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace causeway::core {

/// A put of more is not one of words for which others wait.
static constexpr std::size_t few_bytes = 64;

/// What others wait for is sent again if MPI refuses it. A request that it refuses fails.
struct heap_server::outgoing final : comm::operation, private endpoints::heap_waiter {
    outgoing(std::shared_ptr<heap_server> of, int to, const heap_message& what)
        : server(std::move(of)), pe(to), message(what) {}
    void send() {
        is_refused = false;
        mpi_runtime::instance().port().send(server->m_space, pe, control_tag, std::as_bytes(std::span(&message, 1)),
                                            *this);
    }
    void over(const comm::arrival& result) override {
        if (!result.error || message.what < heap_message::kind::arrival) {
            end(result.error);
            return;
        }
        is_refused = true;
        refused.add(result.error);
        if (!std::exchange(is_waiting, true)) server->m_heap->waits().add(*this);
    }
    bool look() override {
        if (server->m_is_mute || server->m_heap->absence_of(pe, endpoints::heap_waits::now())) {
            end({}); // nobody waits for it
            return true;
        }
        send();
        is_waiting = is_refused;
        return !is_refused;
    }
    void give_up(const failure& why) override {
        const auto kept = server;
        end(why);
        kept->break_off(why);
    }
    [[nodiscard]] endpoints::heap& of() override { return *server->m_heap; }
    [[nodiscard]] failure trouble(time_point now) override { return refused.final_one(now); }
    /// Destroys this.
    void end(const failure& error) {
        const auto kept = server;
        const auto number = message.number;
        const bool is_request = message.what < heap_message::kind::arrival;
        auto& all = *kept;
        all.m_outgoing.remove_if([this](const auto& each) { return each.get() == this; });
        all.rest_if_silent();
        if (!error || !is_request) return;
        if (const auto found = all.m_asked.find(number); found != all.m_asked.end()) {
            const auto then = std::move(found->second);
            all.m_asked.erase(found);
            then(error, 0);
        }
    }
    std::shared_ptr<heap_server> server; // which owns this until it is over
    int pe;
    heap_message message;
    refusals refused;
    bool is_refused = false, is_waiting = false;
};

heap_server::heap_server(runtime& process, std::shared_ptr<endpoints::heap> served, int space,
                         endpoints::buffer_location device, std::byte* memory)
    : m_process(process), m_heap(std::move(served)), m_space(space), m_device(std::move(device)), m_memory(memory),
      m_words_kept(m_heap->words(m_heap->pe())) {}

heap_server::~heap_server() = default;

void heap_server::start() {
    auto& messages = mpi_runtime::instance().ranks().messages;
    m_interest.emplace(messages);
    messages.listen(m_space);
    m_heap->tell_others_by([this](int pe, const endpoints::heap_control::arrival& own) {
        heap_message told{.what = heap_message::kind::arrival,
                          .offset = own.target,
                          .bytes = own.source,
                          .value = own.number,
                          .purpose = own.purpose,
                          .brought = own.value,
                          .times = own.times};
        told.has_failed = static_cast<std::int32_t>(own.has_failed);
        if (own.has_failed != 0) std::copy(own.reason.begin(), own.reason.end(), told.reason.begin());
        send(pe, told);
    });
    // Messages with the bytes of puts and gets end with their PE, too.
    m_heap->tell_losses_by([&by = m_process.engine(), space = m_space](int pe, const failure& why, comm::loss how) {
        by.call([=] { mpi_runtime::instance().ranks().messages.peer_lost(space, pe, why, how); });
    });
    listen();
    if (!m_is_deaf) return;
    m_is_deaf = false;
    m_heap->waits().remove(*this);
    m_listening.reset();
    throw transfer_error(m_unheard.last());
}

void heap_server::leave(bool gives_up) {
    if (std::exchange(m_has_left, true)) return;
    m_heap->tell_others_by(nullptr);
    for (int pe = 0; pe < m_heap->pes(); ++pe)
        if (pe != m_heap->pe()) send(pe, {.what = heap_message::kind::left, .has_failed = gives_up ? 1 : 0});
    if (all_have_left()) end_listening();
    rest_if_silent();
}

void heap_server::stop() {
    leave();
    end_listening();
}

/// MPI_Cancel would race: Open MPI (4.1) takes a receive for cancelled into which another thread that is in MPI puts a
/// message just then.
void heap_server::end_listening() {
    if (m_listening && !std::exchange(m_is_ending, true)) send(m_heap->pe(), {.what = heap_message::kind::end});
}

void heap_server::rest_if_silent() {
    if (m_has_left && !m_listening && m_outgoing.empty()) m_interest.reset();
}

void heap_server::listen() {
    m_listening = shared_from_this();
    mpi_runtime::instance().port().receive(m_space, comm::any_source, control_tag, m_incoming, *this);
}

void heap_server::over(const comm::arrival& result) {
    if (result.error) {
        m_unheard.add(result.error);
        m_is_refused = true;
        if (!std::exchange(m_is_deaf, true)) m_heap->waits().add(*this);
        return;
    }
    const auto kept = std::move(m_listening);
    if (result.cancelled) {
        rest_if_silent();
        return;
    }
    heap_message message;
    std::memcpy(&message, m_incoming.data(), sizeof message);
    const bool leaves = message.what == heap_message::kind::left;
    if (leaves) ++m_left;
    if (message.what != heap_message::kind::end && (m_is_ending || !m_has_left || !all_have_left())) listen();
    if (!m_has_left || leaves) take(result.source, message);
    rest_if_silent();
}

bool heap_server::look() {
    const auto kept = m_listening;
    m_is_refused = false;
    if (m_is_mute) {
        m_is_deaf = false;
        m_listening.reset();
        return true;
    }
    listen();
    m_is_deaf = m_is_refused;
    return !m_is_deaf;
}

void heap_server::give_up(const failure& why) {
    const auto kept = std::move(m_listening);
    m_is_deaf = false;
    rest_if_silent();
    break_off(why);
}

void heap_server::break_off(const failure& why) {
    m_heap->break_off({status::peer_failed, 0, why.mpi_error_class,
                       "this PE cannot serve its symmetric heap any more: " + why.message});
}

void heap_server::send(int pe, const heap_message& message) {
    if (m_is_mute) return; // MPI has ended, or does so
    if (pe == m_heap->pe() && message.what != heap_message::kind::end) { // which must end a receive
        m_process.engine().call([self = shared_from_this(), message] {
            if (!self->m_has_left) self->take(self->m_heap->pe(), message);
        });
        return;
    }
    m_outgoing.emplace_back(std::make_unique<outgoing>(shared_from_this(), pe, message))->send();
}

void heap_server::give_up_bytes(int pe, const heap_message& request, const failure& why) {
    if (request.what == heap_message::kind::put)
        mpi_runtime::instance().ranks().messages.let_go(m_space, pe, static_cast<int>(request.tag), why);
}

std::uint64_t heap_server::ask(int pe, heap_message request, answered then) {
    const auto number = request.number = m_next_number++;
    if (m_has_left) {
        then({status::peer_failed, 0, 0, "this PE has left the symmetric heap"}, 0);
        return number;
    }
    m_asked.emplace(number, std::move(then));
    send(pe, request);
    return number;
}

void heap_server::take(int from, const heap_message& message) {
    switch (message.what) {
    case heap_message::kind::put: serve_put(from, message); break;
    case heap_message::kind::get: serve_get(from, message); break;
    case heap_message::kind::atomic:
        if (message.has_word != 0 && m_memory == nullptr)
            (void)keep_word(message.word_offset, message.word_bytes, [](const failure&) {});
        work_on_word(atomic_of(message), [this, from, message](const failure& error, std::uint64_t before) {
            answer(from, message, error, before);
        });
        break;
    case heap_message::kind::write_back:
        write_back({.offset = message.offset, .bytes = message.bytes},
                   [this, from, message](const failure& error) { answer(from, message, error); });
        break;
    case heap_message::kind::reload:
        reload({.offset = message.offset, .bytes = message.bytes}, [this, from, message](const failure& error) {
            changed(message.offset, message.bytes);
            answer(from, message, error);
        });
        break;
    case heap_message::kind::arrival: {
        endpoints::heap_control::arrival come{.number = message.value,
                                              .purpose = message.purpose,
                                              .value = message.brought,
                                              .target = message.offset,
                                              .source = message.bytes,
                                              .times = message.times,
                                              .has_failed = static_cast<std::uint32_t>(message.has_failed)};
        std::copy_n(message.reason.begin(), come.reason.size(), come.reason.begin());
        m_heap->note_arrival(from, come);
        break;
    }
    case heap_message::kind::left: m_heap->note_left(from, message.has_failed != 0); break;
    case heap_message::kind::end: break;
    case heap_message::kind::withdraw:
        if (const auto found = m_serving.find({from, message.number}); found != m_serving.end()) {
            found->second.is_withdrawn = true;
            if (found->second.moving) m_process.engine().cancel(found->second.moving, cancelled());
        }
        break;
    case heap_message::kind::answer:
        if (const auto found = m_asked.find(message.number); found != m_asked.end()) {
            const auto then = std::move(found->second);
            m_asked.erase(found);
            failure error;
            if (message.status != 0)
                error = {message.status, 0, 0, "PE " + std::to_string(from) + ": " + message.reason.data()};
            then(error, message.value);
        }
        break;
    }
}

std::unique_ptr<transfer::endpoint> heap_server::device_part(const heap_message& message) {
    if (message.is_box == 0) return own_range(message.offset);
    endpoints::box shape;
    shape.region = {message.region[0], message.region[1], message.region[2]};
    shape.row_pitch = message.row_pitch;
    shape.slice_pitch = message.slice_pitch;
    shape.origin = {message.offset % shape.row_pitch, message.offset / shape.row_pitch, 0};
    return endpoints::make_box_endpoint(m_process.devices(), m_device, shape);
}

static heap_extent extent_of(const heap_message& message) {
    if (message.is_box == 0) return {.offset = message.offset, .bytes = message.bytes};
    return {.offset = message.offset,
            .bytes = (message.region[2] - 1) * message.slice_pitch + (message.region[1] - 1) * message.row_pitch +
                     message.region[0],
            .is_box = true,
            .region = {message.region[0], message.region[1], message.region[2]},
            .row_pitch = message.row_pitch,
            .slice_pitch = message.slice_pitch};
}

bool heap_extent::has_part_of(std::size_t word_offset, std::size_t word_bytes) const {
    for (std::size_t each = word_offset; each < word_offset + word_bytes; ++each) {
        if (each < offset || each - offset >= bytes) continue;
        if (!is_box) return true;
        const auto in_slice = (each - offset) % slice_pitch;
        if (in_slice / row_pitch < region[1] && in_slice % row_pitch < region[0]) return true;
    }
    return false;
}

void heap_server::serve_put(int from, const heap_message& message) {
    const auto signal = [this, from, message](const failure& error) {
        if (error || message.has_word == 0) {
            answer(from, message, error);
            return;
        }
        if (m_memory == nullptr) (void)keep_word(message.word_offset, 8, [](const failure&) {});
        work_on_word({.offset = message.word_offset,
                      .what = static_cast<endpoints::atomic_operation>(message.operation),
                      .operand = message.operand},
                     [this, from, message](const failure& failed, std::uint64_t) { answer(from, message, failed); });
    };
    if (message.bytes == 0) {
        signal({});
        return;
    }
    begin_to_serve(from, message);
    overwrite(
        extent_of(message),
        [this, from, message](const ended& over) {
            auto received = endpoints::make_receive_endpoint(mpi_runtime::instance().ranks(), m_space, from,
                                                             static_cast<int>(message.tag), nullptr);
            if (m_memory == nullptr || message.is_box != 0 || message.bytes > few_bytes) {
                serve(from, message, std::move(received), device_part(message), over);
                return;
            }
            // A thread may wait for a word of these, and set it anew as soon as it changes.
            const auto come = std::make_shared<std::array<std::byte, few_bytes>>();
            serve(from, message, std::move(received), endpoints::make_host_endpoint(come->data()),
                  [this, message, come, over](const failure& error) {
                      if (!error) store_once(m_memory + message.offset, come->data(), message.bytes);
                      over(error);
                  });
        },
        signal);
}

void heap_server::overwrite(const heap_extent& where, const std::function<void(ended)>& by, ended then) {
    // There may be a word of which only a part is changed.
    write_back(where, [this, where, by, then = std::move(then)](const failure& error) {
        if (error) {
            then(error);
            return;
        }
        by([this, where, then](const failure& failed) {
            reload(where, [this, where, then, failed](const failure& unread) {
                if (!failed) changed(where.offset, where.bytes);
                then(failed ? failed : unread);
            });
        });
    });
}

void heap_server::serve_get(int from, const heap_message& message) {
    begin_to_serve(from, message);
    write_back(extent_of(message), [this, from, message](const failure& unwritten) {
        if (unwritten) {
            answer(from, message, unwritten);
            return;
        }
        serve(from, message, device_part(message),
              endpoints::make_send_endpoint(mpi_runtime::instance().ranks(), m_space, from,
                                            static_cast<int>(message.tag)),
              [this, from, message](const failure& error) { answer(from, message, error); });
    });
}

void heap_server::begin_to_serve(int from, const heap_message& request) {
    m_serving[{from, request.number}] = {};
    if (m_watch.server) return;
    m_watch.server = shared_from_this();
    m_heap->waits().add(m_watch);
}

bool heap_server::watch_of_served::look() {
    if (!server->m_serving.empty()) return false;
    const auto kept = std::move(server); // perhaps the last owner
    return true;
}

failure heap_server::watch_of_served::trouble(time_point now) {
    server->m_heap->look_at_processes(now);
    return {};
}

void heap_server::serve(int from, const heap_message& request, std::unique_ptr<transfer::endpoint> source,
                        std::unique_ptr<transfer::endpoint> target, ended then) {
    auto& served = m_serving[{from, request.number}];
    if (served.is_withdrawn) {
        then(cancelled());
        return;
    }
    served.moving = submit(std::move(source), std::move(target), request.bytes, std::move(then));
}

void heap_server::answer(int to, const heap_message& request, const failure& error, std::uint64_t before) {
    m_serving.erase({to, request.number});
    if (m_has_left) return;
    heap_message said{.what = heap_message::kind::answer, .number = request.number, .value = before};
    said.status = error.status;
    std::snprintf(said.reason.data(), said.reason.size(), "%s", error.message.c_str());
    send(to, said);
}

std::shared_ptr<transfer::command> heap_server::submit(std::unique_ptr<transfer::endpoint> source,
                                                       std::unique_ptr<transfer::endpoint> target, std::size_t bytes,
                                                       ended then) {
    std::vector<std::unique_ptr<transfer::flow>> flows;
    flows.push_back(std::make_unique<transfer::flow>(std::move(source), std::move(target), bytes));
    return submit(std::move(flows), std::move(then));
}

std::shared_ptr<transfer::command> heap_server::submit(std::vector<std::unique_ptr<transfer::flow>> flows, ended then) {
    return submit_own(m_process.engine(), std::move(flows),
                      [self = shared_from_this(), then = std::move(then)](const failure& error) { then(error); });
}

void heap_server::work_on_word(const endpoints::heap_atomic& what, answered done) {
    auto* const word = m_memory != nullptr ? m_memory + what.offset
                       : m_words.empty()   ? m_words_kept.find(what.offset, what.bytes)
                                           : nullptr;
    if (word != nullptr) {
        const auto before = endpoints::carry_out(what, word);
        done({}, before);
        if (what.what != endpoints::atomic_operation::fetch) changed(what.offset, what.bytes);
        return;
    }
    const bool is_kept_otherwise = m_words_kept.overlaps(what.offset, what.bytes) &&
                                   !m_words_kept.knows(what.offset, what.bytes);
    const heap_extent where{.offset = what.offset, .bytes = what.bytes};
    const auto unwritten = std::make_shared<failure>();
    if (is_kept_otherwise) write_back(where, [unwritten](const failure& error) { *unwritten = error; });
    add_word_job(word_job::kind::atomic, what,
                 [this, where, is_kept_otherwise, unwritten, done = std::move(done)](const failure& error,
                                                                                     std::uint64_t before) {
                     // What could not be written is still the word's value.
                     if (is_kept_otherwise && !*unwritten) reload(where, [](const failure&) {});
                     done(*unwritten ? *unwritten : error, before);
                 });
}

bool heap_server::keep_word(std::size_t offset, std::size_t bytes, ended then) {
    if (m_words_kept.find(offset, bytes) != nullptr) {
        then({});
        return true;
    }
    if (!m_words_kept.knows(offset, bytes) && !m_words_kept.begin(offset, bytes)) return false;
    add_word_job(word_job::kind::load, {.offset = offset, .bytes = bytes},
                 [then = std::move(then)](const failure& error, std::uint64_t) { then(error); });
    return true;
}

void heap_server::write_back(const heap_extent& where, ended then) {
    add_word_jobs(word_job::kind::write_back, where, std::move(then));
}

void heap_server::reload(const heap_extent& where, ended then) {
    add_word_jobs(word_job::kind::load, where, std::move(then));
}

/// Words between the rows of a box stay kept: others may change them meanwhile.
void heap_server::add_word_jobs(word_job::kind is, const heap_extent& where, ended then) {
    if (!keeps_words(where)) {
        then({});
        return;
    }
    // Several may have one end: the last job's.
    const auto first = std::make_shared<failure>();
    m_words_kept.for_each(where.offset, where.bytes, [&](std::size_t offset, std::size_t bytes) {
        if (!where.has_part_of(offset, bytes)) return;
        if (is == word_job::kind::load) m_words_kept.reload(offset, bytes);
        add_word_job(is, {.offset = offset, .bytes = bytes}, [first](const failure& error, std::uint64_t) {
            if (error && !*first) *first = error;
        });
    });
    add_word_job(word_job::kind::none, {},
                 [first, then = std::move(then)](const failure&, std::uint64_t) { then(*first); });
}

std::unique_ptr<transfer::endpoint> heap_server::own_range(std::size_t offset) {
    return endpoints::make_range_endpoint(m_process.devices(), m_device, offset);
}

void heap_server::add_word_job(word_job::kind is, const endpoints::heap_atomic& what, answered done) {
    m_words.push_back(std::make_unique<word_job>(word_job{.is = is, .what = what, .done = std::move(done)}));
    if (m_words.size() == 1) go_on_with_words();
}

void heap_server::end_word(const failure& error, std::uint64_t before) {
    // It keeps its turn until it is told: those behind it come later.
    const auto over = std::move(m_words.front());
    over->done(error, before);
    const bool has_changed = over->is == word_job::kind::atomic &&
                             over->what.what != endpoints::atomic_operation::fetch;
    if (!error && has_changed) changed(over->what.offset, over->what.bytes);
    m_words.pop_front();
    m_has_ended_word = true;
    if (!m_is_beginning_words) go_on_with_words();
}

void heap_server::go_on_with_words() {
    m_is_beginning_words = true;
    // Those on kept words end at once, however many there are.
    for (m_has_ended_word = true; m_has_ended_word && !m_words.empty();) {
        m_has_ended_word = false;
        begin_word();
    }
    m_is_beginning_words = false;
}

void heap_server::begin_word() {
    auto& job = *m_words.front();
    const auto offset = job.what.offset, bytes = job.what.bytes;
    auto* const kept = job.is == word_job::kind::none ? nullptr : m_words_kept.find(offset, bytes);
    const auto write = [this, &job, offset, bytes](std::uint64_t before) {
        submit(endpoints::make_host_endpoint(job.bytes.data()), own_range(offset), bytes,
               [this, before](const failure& error) { end_word(error, before); });
    };
    switch (job.is) {
    case word_job::kind::none: end_word({}, 0); return;
    case word_job::kind::write_back:
        if (kept == nullptr) { // it is removed, or the device's memory is newer
            end_word({}, 0);
            return;
        }
        std::memcpy(job.bytes.data(), kept, bytes);
        write(0);
        return;
    case word_job::kind::load:
        if (kept != nullptr) {
            end_word({}, 0);
            return;
        }
        break;
    case word_job::kind::atomic:
        if (kept != nullptr) {
            end_word({}, endpoints::carry_out(job.what, kept));
            return;
        }
        break;
    }
    submit(own_range(offset), endpoints::make_host_endpoint(job.bytes.data()), bytes,
           [this, &job, write, offset, bytes](const failure& error) {
               if (job.is == word_job::kind::load) {
                   std::uint64_t value = 0;
                   std::memcpy(&value, job.bytes.data(), bytes);
                   if (error) {
                       m_words_kept.remove(offset, bytes);
                   } else {
                       m_words_kept.keep(offset, bytes, value);
                   }
                   end_word(error, value);
               } else if (error) {
                   end_word(error, 0);
               } else {
                   const auto before = endpoints::carry_out(job.what, job.bytes.data());
                   if (job.what.what == endpoints::atomic_operation::fetch) {
                       end_word({}, before);
                   } else {
                       write(before);
                   }
               }
           });
}

void heap_server::changed(std::size_t offset, std::size_t bytes) {
    std::vector<std::uint64_t> touched;
    for (const auto& [number, each] : m_waits)
        if (each.word.offset < offset + bytes && offset < each.word.offset + each.word.bytes) touched.push_back(number);
    for (const auto number : touched) look_at(number);
}

std::uint64_t heap_server::await(const endpoints::awaited_word& word, ended then) {
    const auto number = m_next_number++;
    m_waits.emplace(number, wait{word, std::move(then)});
    look_at(number);
    return m_waits.contains(number) ? number : 0;
}

void heap_server::look_at(std::uint64_t number) {
    const auto found = m_waits.find(number);
    if (found == m_waits.end()) return;
    if (found->second.is_being_read) {
        found->second.is_stale = true;
        return;
    }
    found->second.is_being_read = true;
    found->second.is_stale = false;
    const auto& word = found->second.word;
    work_on_word({.offset = word.offset, .bytes = word.bytes, .what = endpoints::atomic_operation::fetch},
                 [this, number](const failure& error, std::uint64_t seen) {
                     const auto now = m_waits.find(number);
                     if (now == m_waits.end()) return;
                     now->second.is_being_read = false;
                     alignas(8) std::array<std::byte, 8> bytes{};
                     std::memcpy(bytes.data(), &seen, sizeof seen);
                     if (error || endpoints::holds(now->second.word, bytes.data())) {
                         const auto then = std::move(now->second.then);
                         m_waits.erase(now);
                         then(error);
                     } else if (now->second.is_stale) {
                         look_at(number);
                     }
                 });
}

void heap_server::bring(const endpoints::heap_location& from, std::size_t bytes,
                        std::unique_ptr<transfer::endpoint> target, ended then) {
    if (from.pe == m_heap->pe()) {
        // Kept until then by what is called.
        const auto kept = std::make_shared<std::unique_ptr<transfer::endpoint>>(std::move(target));
        write_back({.offset = from.offset, .bytes = bytes},
                   [this, from, bytes, kept, then = std::move(then)](const failure& unwritten) {
                       if (unwritten) {
                           then(unwritten);
                       } else {
                           submit(own_range(from.offset), std::move(*kept), bytes, then);
                       }
                   });
    } else {
        submit(make_asked_get(shared_from_this(), std::move(target), from, bytes, in_order::no), std::move(then));
    }
}

} // namespace causeway::core
