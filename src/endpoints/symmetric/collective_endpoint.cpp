// SPDX-License-Identifier: Apache-2.0
// Meets the others, gathers, and meets them again, so that nobody changes what another one still reads.
#include "endpoints/symmetric/collective_endpoint.hpp"

#include "transfer/plan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace causeway::endpoints {

namespace {

using transfer::endpoint_traits;
using transfer::medium;
using transfer::step;

/// What both ends have.
struct shared_collective {
    shared_collective(const std::shared_ptr<heap>& of, collective given)
        : memory(of), what(std::move(given)), turn(std::make_shared<meeting_turn>(of, what.purpose)) {}
    std::shared_ptr<heap> memory;
    collective what;
    std::shared_ptr<meeting_turn> turn;
};

class gathered_source final : public transfer::endpoint, private transfer::step_owner {
  public:
    explicit gathered_source(std::shared_ptr<shared_collective> all)
        : m_all(std::move(all)), m_computing(static_cast<step_owner&>(*this)) {}

    [[nodiscard]] endpoint_traits traits() const override {
        return {.kind = medium::host, .largest_block = transfer::route::largest_of_caches};
    }
    [[nodiscard]] std::string name() const override { return m_all->what.purpose.name; }
    [[nodiscard]] bool sets_size() const override { return true; }

    void enqueued() override { m_all->turn->join(); }
    void abandoned() override { m_all->turn->drop(); }
    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        m_all->turn->come([this](const failure& error) {
            if (error || !m_all->what.compute) {
                met(error);
            } else {
                m_computing.begin();
                m_all->what.compute(m_computing);
            }
        });
    }
    void cancel() override {
        // What the device computes it computes to its end.
        if (m_opening == nullptr || m_computing.pending()) return;
        m_all->turn->drop();
        finish({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

    void read(std::size_t offset, std::span<std::byte> block, step& done) override {
        std::size_t begin = 0;
        for (const auto& piece : m_pieces) {
            const auto from = std::max(begin, offset), to = std::min(begin + piece.bytes, offset + block.size());
            if (from < to)
                copy(block.data() + (from - offset), m_all->memory->at(piece.pe, piece.offset + (from - begin)),
                     to - from);
            begin += piece.bytes;
        }
        done.finish({block.size(), {}});
    }

  private:
    /// What is there already, others may be reading.
    static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
        if (to != from) std::memmove(to, from, bytes);
    }
    void step_finished() override {
        const auto result = m_computing.take();
        if (result.error) {
            m_all->turn->drop();
            finish({0, result.error});
            return;
        }
        m_all->turn->come([this](const failure& error) { met(error); });
    }
    void met(const failure& error) {
        if (error) {
            finish({0, error});
            return;
        }
        m_pieces = m_all->what.pieces(*m_all->turn);
        std::size_t bytes = 0;
        for (const auto& piece : m_pieces) bytes += piece.bytes;
        finish({bytes, {}});
    }
    void finish(const transfer::outcome& result) { std::exchange(m_opening, nullptr)->finish(result); }

    std::shared_ptr<shared_collective> m_all;
    std::vector<heap_piece> m_pieces;
    step m_computing;
    step* m_opening = nullptr;
};

class gathering_target final : public transfer::endpoint {
  public:
    explicit gathering_target(std::shared_ptr<shared_collective> all) : m_all(std::move(all)) {}

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host, .has_memory = true}; }
    [[nodiscard]] std::string name() const override { return "PE " + std::to_string(m_all->memory->pe()); }
    [[nodiscard]] std::byte* memory() const override {
        return m_all->memory->at(m_all->memory->pe(), m_all->what.target_offset);
    }

    void close(std::size_t, const failure& error, step& done) override {
        if (error) {
            m_all->turn->drop();
            done.finish({});
            return;
        }
        m_all->turn->come([&done](const failure& failed) { done.finish({0, failed}); });
    }

  private:
    std::shared_ptr<shared_collective> m_all;
};

} // namespace

collective_ends make_collective(const std::shared_ptr<heap>& of, collective what) {
    const auto all = std::make_shared<shared_collective>(of, std::move(what));
    return {std::make_unique<gathered_source>(all), std::make_unique<gathering_target>(all)};
}

} // namespace causeway::endpoints
