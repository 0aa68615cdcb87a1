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

class gathered_source final : public transfer::endpoint, private transfer::step_owner {
  public:
    gathered_source(std::shared_ptr<heap> of, collective what)
        : m_heap(std::move(of)), m_what(std::move(what)),
          m_turn(std::make_shared<meeting_turn>(m_heap, m_what.purpose)), m_computing(static_cast<step_owner&>(*this)) {
    }

    [[nodiscard]] endpoint_traits traits() const override {
        endpoint_traits known{
            .kind = medium::host, .sets_size = true, .largest_block = transfer::route::largest_of_caches};
        // Another PE's engine answers while this one keeps memory for the answer.
        if (m_what.fetch) known.waits = transfer::staging_share::waits_for::sender;
        return known;
    }
    [[nodiscard]] std::string name() const override { return m_what.purpose.name; }
    [[nodiscard]] std::string partner() const override { return "all PEs to come to " + name(); }

    void enqueued() override { m_turn->join(); }
    void abandoned() override { m_turn->drop(); }
    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        m_turn->come([this](const failure& error) {
            if (error || !m_what.compute) {
                met(error);
            } else {
                m_computing.begin();
                m_what.compute(m_computing);
            }
        });
    }
    void cancel() override {
        // What the device computes it computes to its end.
        if (m_opening == nullptr || m_computing.pending()) return;
        m_turn->drop();
        finish({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        if (m_what.fetch) {
            fetch(offset, block, done);
            return;
        }
        for_each_part(offset, block, [this](const heap_piece& part, std::byte* to) {
            std::memmove(to, m_heap->at(part.pe, part.offset), part.bytes);
        });
        done.finish({block.size(), {}});
    }

    void close(std::size_t, const failure& error, step& done) override {
        if (error) {
            m_turn->drop();
            done.finish({});
            return;
        }
        m_turn->come([&done](const failure& failed) { done.finish({0, failed}); });
    }

  private:
    template <class Use> void for_each_part(std::size_t offset, std::span<std::byte> block, Use use) const {
        std::size_t begin = 0;
        for (const auto& piece : m_pieces) {
            const auto from = std::max(begin, offset), to = std::min(begin + piece.bytes, offset + block.size());
            if (from < to)
                use(heap_piece{piece.pe, piece.offset + (from - begin), to - from}, block.data() + (from - offset));
            begin += piece.bytes;
        }
    }
    /// From all PEs at once.
    void fetch(std::size_t offset, std::span<std::byte> block, step& done) {
        struct reading {
            std::size_t left = 1;
            failure error;
        };
        const auto all = std::make_shared<reading>();
        const auto over = [all, &done, bytes = block.size()](const failure& error) {
            if (error && !all->error) all->error = error;
            if (--all->left == 0) done.finish({all->error ? 0 : bytes, all->error});
        };
        for_each_part(offset, block, [&](const heap_piece& part, std::byte* to) {
            ++all->left;
            m_what.fetch(part, to, over);
        });
        over({});
    }
    void step_finished() override {
        const auto result = m_computing.take();
        if (result.error) {
            m_turn->drop();
            finish({0, result.error});
            return;
        }
        m_turn->come([this](const failure& error) { met(error); });
    }
    void met(const failure& error) {
        if (error) {
            finish({0, error});
            return;
        }
        m_pieces = m_what.pieces(*m_turn);
        std::size_t bytes = 0;
        for (const auto& piece : m_pieces) bytes += piece.bytes;
        finish({bytes, {}});
    }
    void finish(const transfer::outcome& result) { std::exchange(m_opening, nullptr)->finish(result); }

    std::shared_ptr<heap> m_heap;
    collective m_what;
    std::shared_ptr<meeting_turn> m_turn;
    std::vector<heap_piece> m_pieces;
    step m_computing;
    step* m_opening = nullptr;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_gathered_source(std::shared_ptr<heap> of, collective what) {
    return std::make_unique<gathered_source>(std::move(of), std::move(what));
}

} // namespace causeway::endpoints
