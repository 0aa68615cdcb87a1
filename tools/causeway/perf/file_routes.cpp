// SPDX-License-Identifier: Apache-2.0
// File to device and device to file, beside the pinned copy and the raw parallel access of the same bytes.
#include "perf/event_order.hpp"
#include "perf/file_access.hpp"
#include "perf/routes.hpp"

#include "system_facts.hpp"
#include "words.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace perf {

namespace {

using direction = parallel_access::direction;
using manner = parallel_access::manner;

/// How a command names its file.
enum class form { descriptor, stream };

/// What is done to the file before each run, and what must have happened at its end.
enum class state { cached, empty, on_disk };

/// Data, files and memory of one size.
class file_bench {
  public:
    file_bench(session& session, const bench_device& where, std::size_t bytes)
        : m_session(session), m_where(where), m_bytes(bytes), m_data(where, bytes), m_source(m_data.on_device(where)),
          m_target(apps::create_buffer(where.context.get(), bytes)),
          m_pinned(where.context.get(), where.in_order.get(), bytes), m_pageable(bytes),
          m_own_input(session.wanted().file.empty()),
          m_input(m_own_input ? bench_file::make(session.wanted().directory)
                              : bench_file::open_existing(session.wanted().file)) {
        if (m_own_input) {
            m_input.fill(m_data.whole(), m_data.whole_bytes());
            m_output.emplace(bench_file::make(session.wanted().directory));
            m_output->fill(m_data.whole(), bytes);
        }
    }

    void measure() {
        read("file-read", form::descriptor, state::cached);
        read("file-read-in-a-row", form::descriptor, state::cached, 4);
        read("file-read-stream", form::stream, state::cached);
        write("file-write", form::descriptor, state::cached);
        write("file-write-stream", form::stream, state::cached);
        write("file-write-growing", form::descriptor, state::empty);
        read("file-read-cold", form::descriptor, state::on_disk);
        write("file-write-disk", form::descriptor, state::on_disk);
    }

  private:
    void read(const std::string& route, form by, state from, int in_a_row = 1) {
        if (!m_session.wants(route)) return;
        if (from == state::on_disk && !has_disk(route, m_input)) return;
        const auto check = [this] { verify_target(); };
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.in_a_row = in_a_row;
        made.add_naive(
            [this, from] {
                prepare_input(from);
                return fread_and_write();
            },
            check);
        const auto timed = [this, by, from](apps::event& moved) {
            prepare_input(from);
            return seconds_of([&] { moved = load(by); });
        };
        const auto raws = raw_like(timed);
        add_ours(made, plans(by), timed, check);
        if (!m_where.host_memory)
            made.add_limit(
                "pinned copy", "host to device, page-locked",
                [this] {
                    const auto* const bytes = m_data.at(++m_window);
                    return seconds_of([&] { write_device(queue(), m_target.get(), 0, m_bytes, bytes); });
                },
                [this] {
                    read_device(queue(), m_target.get(), 0, m_bytes, pinned());
                    m_data.verify(pinned(), m_window);
                });
        for (const auto& raw : raws) {
            made.add_limit(
                "raw read", "pread by " + raw->text(),
                [this, from, raw] {
                    prepare_input(from);
                    return raw->run(direction::read, m_input.descriptor(), offset(), pinned(), m_bytes);
                },
                [this] { verify_read(pinned()); });
            if (from == state::on_disk)
                made.add_limit(
                    "raw read", "direct pread by " + raw->text(),
                    [this, from, raw] {
                        prepare_input(from);
                        return raw->run(direction::read, m_input.direct_descriptor(), offset(), m_pageable.data(),
                                        m_bytes, manner::whole_pages);
                    },
                    [this] { verify_read(m_pageable.data()); });
            if (from == state::on_disk)
                made.add_limit(
                    "raw read", "pread by " + raw->text() + ", into the page cache by faults before",
                    [this, from, raw] {
                        prepare_input(from);
                        return raw->run(direction::read, m_input.descriptor(), offset(), pinned(), m_bytes,
                                        manner::by_faults);
                    },
                    [this] { verify_read(pinned()); });
        }
        if (from == state::cached && m_bytes > cached_piece) {
            const auto pieces = std::make_shared<parallel_access>(raws.back()->threads(), cached_piece);
            const auto how = "pread by " + pieces->text() + ", into memory that its caches hold";
            const auto run = [this, from, pieces] {
                prepare_input(from);
                return pieces->run(direction::read, m_input.descriptor(), offset(), nullptr, m_bytes);
            };
            // Where the buffer is the host's memory, all of that has to be written.
            m_where.host_memory ? made.add_shown("raw read", how, run) : made.add_limit("raw read", how, run);
        }
        if (m_where.host_memory && m_bytes <= largest_shown_with_order) {
            made.add_shown("order", "a marker in an idle queue, and a wait for it",
                           [this] { return seconds_of_marker(queue()); });
            const auto worker = std::make_shared<sleeping_thread>();
            made.add_shown("wake", sleeping_thread::how, [worker] { return worker->seconds_of_wake(); });
        }
        m_session.measure(std::move(made));
    }

    void write(const std::string& route, form by, state to) {
        if (!m_session.wants(route)) return;
        if (!m_output) {
            m_session.note(route + " left out: the file of --file is only read");
            return;
        }
        if (to == state::on_disk && !has_disk(route, *m_output)) return;
        const auto check = [this] { verify_output(); };
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.add_naive(
            [this, to] {
                prepare_output(to);
                return read_and_fwrite(to);
            },
            check);
        const auto timed = [this, by, to](apps::event& moved) {
            prepare_output(to);
            return seconds_of([&] {
                moved = store(by);
                finish_output(to);
            });
        };
        const auto raws = raw_like(timed);
        add_ours(made, plans(by), timed, check);
        if (!m_where.host_memory)
            made.add_limit(
                "pinned copy", "device to host, page-locked",
                [this] {
                    const auto from = test_data::offset_of(++m_window);
                    return seconds_of([&] { read_device(queue(), m_source.get(), from, m_bytes, pinned()); });
                },
                [this] { m_data.verify(pinned(), m_window); });
        for (const auto& raw : raws) {
            made.add_limit(
                "raw write", "pwrite by " + raw->text(),
                [this, to, raw] {
                    prepare_output(to);
                    // Where it lies in the device's memory, if that is the host's: what was compared with is in the
                    // caches.
                    std::optional<mapped_to_read> source;
                    if (m_where.host_memory) source.emplace(queue(), m_source.get(), m_data.whole_bytes());
                    const auto* const bytes = source ? source->data() + test_data::offset_of(m_window)
                                                     : m_data.at(m_window);
                    // The threads only read the memory.
                    const double seconds = raw->run(direction::write, m_output->descriptor(), 0,
                                                    const_cast<std::byte*>(bytes), m_bytes);
                    return seconds + seconds_of([&] { finish_output(to); });
                },
                check);
            if (to == state::on_disk)
                made.add_limit(
                    "raw write", "direct pwrite by " + raw->text(),
                    [this, to, raw] {
                        prepare_output(to);
                        std::memcpy(m_pageable.data(), m_data.at(m_window), m_bytes);
                        const double seconds = raw->run(direction::write, m_output->direct_descriptor(), 0,
                                                        m_pageable.data(), m_bytes, manner::whole_pages);
                        return seconds + seconds_of([&] { finish_output(to); });
                    },
                    check);
        }
        for (const unsigned threads : {1U, 2U})
            for (const auto block : {mib, 4 * mib}) {
                if (m_bytes <= threads * block) continue;
                const auto few = std::make_shared<parallel_access>(threads, block);
                made.add_limit(
                    "raw write", "pwrite by " + few->text() + ", from memory that its caches hold",
                    [this, to, few] {
                        prepare_output(to);
                        few->fill(std::byte(m_window));
                        const double seconds = few->run(direction::write, m_output->descriptor(), 0, nullptr, m_bytes);
                        return seconds + seconds_of([&] { finish_output(to); });
                    },
                    [this] { verify_filled(std::byte(m_window)); });
            }
        m_session.measure(std::move(made));
    }

    /// The stream forms do the same behind another door: the library's choice is enough there.
    [[nodiscard]] std::vector<forced_plan> plans(form by) const {
        return by == form::stream ? std::vector<forced_plan>(1) : m_session.plans(m_bytes);
    }

    /// Raw access in the blocks of the library's own choice, with as many threads as that has I/O threads, and, if
    /// these are more, with one for each processor: what the library leaves unused belongs to the limit. The most of
    /// these also bound to a processor each.
    template <class Timed> std::vector<std::shared_ptr<parallel_access>> raw_like(Timed timed) {
        apps::event moved;
        (void)timed(moved);
        const auto used = plan_of(moved.get());
        const auto block = (std::max<std::size_t>(used.block_bytes, 1) + page - 1) / page * page;
        const auto io_threads = std::max(used.io_threads, 1U),
                   processors = std::min(causeway_tool::usable_processors(), most_raw_threads);
        std::vector<std::shared_ptr<parallel_access>> made{std::make_shared<parallel_access>(io_threads, block)};
        if (m_bytes <= block) return made;
        if (processors > io_threads) made.push_back(std::make_shared<parallel_access>(processors, block));
        const auto most = made.back()->threads();
        if (most > 1 && most <= causeway_tool::usable_processors())
            made.push_back(std::make_shared<parallel_access>(most, block, parallel_access::processors::own));
        return made;
    }

    bool has_disk(const std::string& route, bench_file& file) {
        const char* lacks = nullptr;
        if (file.direct_descriptor() < 0) {
            lacks = "has no direct input and output";
        } else if (!file.drop_cache()) {
            lacks = "keeps files in memory";
        }
        if (lacks != nullptr)
            m_session.note(route + " left out: the file system of " +
                           (m_own_input ? m_session.wanted().directory : m_session.wanted().file).string() + " " +
                           lacks + "; --directory names another");
        return lacks == nullptr;
    }

    [[nodiscard]] cl_command_queue queue() const { return m_where.in_order.get(); }
    [[nodiscard]] std::byte* pinned() const { return static_cast<std::byte*>(m_pinned.data()); }

    /// Where the bytes of the current run lie in the input.
    [[nodiscard]] std::size_t offset() const {
        const auto wanted = test_data::offset_of(m_window);
        return m_own_input ? wanted : std::min(wanted, (m_input.size() - m_bytes) / page * page);
    }

    void prepare_input(state from) {
        ++m_window;
        if (!m_own_input) {
            // Windows of a stranger's file may all be the same: what is there before must be something else.
            const auto nothing = static_cast<unsigned char>(m_window);
            apps::check(clEnqueueFillBuffer(queue(), m_target.get(), &nothing, 1, 0, m_bytes, 0, nullptr, nullptr),
                        "clEnqueueFillBuffer");
            apps::check(clFinish(queue()), "clFinish");
        }
        if (from == state::on_disk) (void)m_input.drop_cache();
        m_input.seek(offset());
    }

    void prepare_output(state to) {
        ++m_window;
        if (to == state::empty) m_output->truncate();
        if (to == state::on_disk) (void)m_output->drop_cache();
        m_output->seek(0);
    }

    void finish_output(state to) {
        if (to == state::on_disk) m_output->sync();
    }

    double fread_and_write() {
        return seconds_of([this] {
            if (std::fread(m_pageable.data(), 1, m_bytes, m_input.stream()) != m_bytes) throw_errno("fread");
            write_device(queue(), m_target.get(), 0, m_bytes, m_pageable.data());
        });
    }

    double read_and_fwrite(state to) {
        const auto from = test_data::offset_of(m_window);
        return seconds_of([&] {
            read_device(queue(), m_source.get(), from, m_bytes, m_pageable.data());
            if (std::fwrite(m_pageable.data(), 1, m_bytes, m_output->stream()) != m_bytes ||
                std::fflush(m_output->stream()) != 0)
                throw_errno("fwrite");
            finish_output(to);
        });
    }

    apps::event load(form by) {
        cl_event moved = nullptr;
        const auto code = by == form::stream
                              ? clEnqueueWriteBufferFromStdioFile(queue(), m_target.get(), CL_TRUE, 0, m_bytes,
                                                                  m_input.stream(), 0, nullptr, &moved)
                              : clEnqueueWriteBufferFromFile(queue(), m_target.get(), CL_TRUE, 0, m_bytes,
                                                             m_input.descriptor(), int64_t(offset()), 0, nullptr,
                                                             &moved);
        apps::event event(moved);
        check_transfer(code, "the transfer from the file");
        return event;
    }

    apps::event store(form by) {
        const auto from = test_data::offset_of(m_window);
        cl_event moved = nullptr;
        const auto code = by == form::stream
                              ? clEnqueueReadBufferToStdioFile(queue(), m_source.get(), CL_TRUE, from, m_bytes,
                                                               m_output->stream(), 0, nullptr, &moved)
                              : clEnqueueReadBufferToFile(queue(), m_source.get(), CL_TRUE, from, m_bytes,
                                                          m_output->descriptor(), 0, 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "the transfer to the file");
        return event;
    }

    void verify_target() {
        if (!m_where.host_memory) {
            read_device(queue(), m_target.get(), 0, m_bytes, pinned());
            verify_read(pinned());
            return;
        }
        const mapped_to_read found(queue(), m_target.get(), m_bytes);
        verify_read(found.data());
    }

    /// Own data is known; a stranger's file is read once more, plainly.
    void verify_read(const std::byte* found) {
        if (m_own_input) {
            m_data.verify(found, m_window);
            return;
        }
        if (!m_expected) m_expected.emplace(m_bytes);
        parallel_access(1, mib).run(direction::read, m_input.descriptor(), offset(), m_expected->data(), m_bytes);
        verify_same(found, m_expected->data(), m_bytes);
    }

    void verify_output() {
        parallel_access(1, mib).run(direction::read, m_output->descriptor(), 0, pinned(), m_bytes);
        m_data.verify(pinned(), m_window);
    }

    /// All of the output is this byte.
    void verify_filled(std::byte with) {
        parallel_access(1, mib).run(direction::read, m_output->descriptor(), 0, pinned(), m_bytes);
        const auto wrong = std::find_if(pinned(), pinned() + m_bytes, [with](std::byte each) { return each != with; });
        if (wrong != pinned() + m_bytes) throw wrong_data("wrong data from byte " + std::to_string(wrong - pinned()));
    }

    static constexpr std::size_t page = pageable_memory::page;
    static constexpr unsigned most_raw_threads = 16;
    /// Two of them fit into the cache of a processor.
    static constexpr std::size_t cached_piece = 512 * kib;

    session& m_session;
    const bench_device& m_where;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_source, m_target;
    apps::pinned_memory m_pinned;
    pageable_memory m_pageable;
    std::optional<pageable_memory> m_expected;
    bool m_own_input;
    bench_file m_input;
    std::optional<bench_file> m_output;
    std::size_t m_window = 0; // of the last transfer
};

/// Whether the files of file_bench fit into their directory.
bool has_room(session& session, std::size_t bytes) {
    const auto& wanted = session.wanted();
    if (!wanted.file.empty()) return true;
    const auto needed = 2 * (bytes + mib);
    const auto free = std::filesystem::space(wanted.directory).available;
    if (free >= needed) return true;
    session.note("files of " + causeway_tool::size_text(bytes) + " left out: " + wanted.directory.string() +
                 " has room for " + causeway_tool::size_text(free) + ", and two take " +
                 causeway_tool::size_text(needed) + "; --directory names another");
    return false;
}

} // namespace

void file_routes(session& session, const devices& on) {
    const bench_device where(on.first());
    std::size_t most = SIZE_MAX;
    if (!session.wanted().file.empty()) {
        most = std::filesystem::file_size(session.wanted().file);
        session.note("reads come from " + session.wanted().file.string() + ", so sizes end at its " +
                     causeway_tool::size_text(most));
    }
    // Data, source, target, page-locked and ordinary memory, two files in the page cache, staging.
    for (const auto bytes : session.sizes(where.device, 8, 1, most)) {
        if (!has_room(session, bytes)) continue;
        session.try_size("the file routes", bytes, [&] { file_bench(session, where, bytes).measure(); });
    }
}

} // namespace perf
