// SPDX-License-Identifier: Apache-2.0
// Host memory needs no work where the other endpoint uses it in place.
#include "endpoints/host/host_endpoint.hpp"

#include <cstring>

namespace causeway::endpoints {

namespace {

class host_endpoint final : public transfer::endpoint {
  public:
    host_endpoint(std::byte* first, const char* name) : m_first(first), m_name(name) {}

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {.kind = transfer::medium::host, .has_memory = true};
    }
    [[nodiscard]] std::string name() const override { return m_name; }
    [[nodiscard]] std::byte* memory() const override { return m_first; }

    /// Of a source that is memory, too.
    void write(std::size_t offset, transfer::block_reference block, transfer::step& done) override {
        if (block.data() != m_first + offset) std::memmove(m_first + offset, block.data(), block.size());
        done.finish({block.size(), {}});
    }

  private:
    std::byte* m_first;
    const char* m_name;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_host_endpoint(std::byte* first) {
    return std::make_unique<host_endpoint>(first, "host memory");
}

std::unique_ptr<transfer::endpoint> make_empty_endpoint(const char* name) {
    return std::make_unique<host_endpoint>(nullptr, name);
}

} // namespace causeway::endpoints
