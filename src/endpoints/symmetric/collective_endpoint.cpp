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

class gathered_source final : public transfer::endpoint, transfer::waiting_end, private transfer::step_owner {
  public:
    gathered_source(std::shared_ptr<heap> of, collective what)
        : m_heap(std::move(of)), m_what(std::move(what)),
          m_turn(std::make_shared<meeting_turn>(m_heap, m_what.purpose)), m_computing(static_cast<step_owner&>(*this)) {
    }

    [[nodiscard]] endpoint_traits traits() const override {
        if (m_what.bring) return {.kind = medium::device, .sets_size = true};
        return {.kind = medium::host, .sets_size = true, .largest_block = transfer::route::largest_of_caches};
    }
    [[nodiscard]] std::string name() const override { return m_what.purpose.name; }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override { return m_turn->partner(); }

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
        if (brings()) { // a plan that an option forces has blocks: they stay as they are
            bring(offset, block.size(), done);
            return;
        }
        for_each_part(offset, block.size(), [&](const heap_piece& part, std::size_t to) {
            std::memmove(block.data() + (to - offset), m_heap->at(part.pe, part.offset), part.bytes);
        });
        done.finish({block.size(), {}});
    }

    [[nodiscard]] bool brings() const { return static_cast<bool>(m_what.bring); }
    /// From all PEs at once, to where they belong in the target. Each PE begins with the one behind it: if all began
    /// with the same, all links but that PE's were idle.
    void bring(std::size_t offset, std::size_t bytes, step& done) {
        struct bringing {
            std::size_t left = 1;
            failure error;
        };
        const auto all = std::make_shared<bringing>();
        const auto over = [all, &done, bytes](const failure& error) {
            if (error && !all->error) all->error = error;
            if (--all->left == 0) done.finish({all->error ? 0 : bytes, all->error});
        };
        std::vector<std::pair<heap_piece, std::size_t>> parts;
        for_each_part(offset, bytes, [&](const heap_piece& part, std::size_t to) { parts.emplace_back(part, to); });
        std::stable_partition(parts.begin(), parts.end(),
                              [own = m_heap->pe()](const auto& each) { return each.first.pe > own; });
        all->left += parts.size();
        for (const auto& [part, to] : parts) m_what.bring(part, to, over);
        over({});
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
    /// Calls `use` with each part of a piece that lies in the range, and where it begins in the target.
    template <class Use> void for_each_part(std::size_t offset, std::size_t bytes, Use use) const {
        std::size_t begin = 0;
        for (const auto& piece : m_pieces) {
            const auto from = std::max(begin, offset), to = std::min(begin + piece.bytes, offset + bytes);
            if (from < to) use(heap_piece{piece.pe, piece.offset + (from - begin), to - from}, from);
            begin += piece.bytes;
        }
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

class gathering_target final : public transfer::endpoint, transfer::copying_target {
  public:
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::device}; }
    [[nodiscard]] std::string name() const override { return "an allocation in the symmetric heap"; }
    [[nodiscard]] transfer::abilities offers() override { return {.copies = this}; }
    void open(const transfer::open_request& request, step& done) override { done.finish({request.bytes, {}}); }
    void close(std::size_t, const failure&, step& done) override { done.finish({}); }

    [[nodiscard]] bool takes_from(const endpoint& source) const override {
        const auto* const gathered = dynamic_cast<const gathered_source*>(&source);
        return gathered != nullptr && gathered->brings();
    }
    void take(endpoint& source, std::size_t offset, std::size_t bytes, step& done) override {
        dynamic_cast<gathered_source&>(source).bring(offset, bytes, done);
    }
    /// The source has brought it.
    void write(std::size_t, transfer::block_reference block, step& done) override { done.finish({block.size(), {}}); }
};

} // namespace

std::unique_ptr<transfer::endpoint> make_gathered_source(std::shared_ptr<heap> of, collective what) {
    return std::make_unique<gathered_source>(std::move(of), std::move(what));
}

std::unique_ptr<transfer::endpoint> make_gathering_target() { return std::make_unique<gathering_target>(); }

} // namespace causeway::endpoints
