// SPDX-License-Identifier: Apache-2.0
// Windows in anonymous memory of the kernel, and copies by the thread that asks for their end.
#include "bridge/device_bridge.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace causeway::bridge {

namespace {

constexpr std::size_t page = 4096;

[[noreturn]] void fail(const char* what, std::size_t bytes) {
    throw transfer_error(status::out_of_resources,
                         std::string(what) + " " + bytes_text(bytes) + " for a window: " + errno_text(errno), errno);
}

class host_window final : public window {
  public:
    host_window(descriptor memory, std::size_t bytes) : m_memory(std::move(memory)), m_bytes(bytes) {
        void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_memory.get(), 0);
        if (mapped == MAP_FAILED) fail("mapping", bytes);
        m_address = static_cast<std::byte*>(mapped);
    }
    ~host_window() override { ::munmap(m_address, m_bytes); }

    [[nodiscard]] std::byte* address() const override { return m_address; }
    [[nodiscard]] std::size_t bytes() const override { return m_bytes; }
    [[nodiscard]] descriptor share() const override { return descriptor::copy_of(m_memory.get()); }

  private:
    descriptor m_memory;
    std::size_t m_bytes;
    std::byte* m_address = nullptr;
};

class host_bridge final : public device_bridge {
  public:
    [[nodiscard]] std::string name() const override { return "host memory"; }
    [[nodiscard]] bool has(const device_uuid&) const override { return true; }
    [[nodiscard]] bool reaches(const device_uuid&, const device_uuid&) const override { return true; }
    [[nodiscard]] bool host_memory() const override { return true; }

    [[nodiscard]] std::size_t rounded(std::size_t bytes) const override { return (bytes + page - 1) / page * page; }

    [[nodiscard]] std::unique_ptr<window> create(const device_uuid&, std::size_t bytes) override {
        const auto whole = rounded(bytes);
        descriptor memory(::memfd_create("causeway-window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        if (memory.get() < 0 || ::ftruncate(memory.get(), static_cast<off_t>(whole)) != 0 ||
            ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
            fail("allocating", whole);
        return std::make_unique<host_window>(std::move(memory), whole);
    }

    [[nodiscard]] std::unique_ptr<window> open(const device_uuid&, descriptor shared, std::size_t bytes) override {
        // A file that is shorter, or becomes so, would end the process that copies (SIGBUS).
        struct stat facts{};
        const int seals = ::fcntl(shared.get(), F_GET_SEALS);
        if (::fstat(shared.get(), &facts) != 0 || facts.st_size < 0 ||
            static_cast<std::uint64_t>(facts.st_size) != bytes || bytes == 0 || seals < 0 ||
            (seals & F_SEAL_SHRINK) == 0)
            throw transfer_error(status::out_of_resources, "what was offered is not a window of " + bytes_text(bytes));
        return std::make_unique<host_window>(std::move(shared), bytes);
    }

    /// A device's copy is under way for a while: so is this one, when it is asked for the first time.
    [[nodiscard]] copy_number begin_copy(const device_uuid&, std::byte* to, const std::byte* from,
                                         std::size_t bytes) override {
        for (std::size_t i = 0; i < m_copies.size(); ++i) {
            if (m_copies[i].to != nullptr) continue;
            m_copies[i] = {to, from, bytes, false};
            return static_cast<copy_number>(i);
        }
        m_copies.push_back({to, from, bytes, false});
        return static_cast<copy_number>(m_copies.size() - 1);
    }

    [[nodiscard]] copy_state look(copy_number which) override {
        auto& asked = m_copies[which];
        if (!std::exchange(asked.was_asked, true)) return copy_state::running;
        std::memcpy(asked.to, asked.from, asked.bytes);
        asked.to = nullptr;
        return copy_state::done;
    }

  private:
    struct copy {
        std::byte* to;
        const std::byte* from;
        std::size_t bytes;
        bool was_asked;
    };
    std::vector<copy> m_copies;
};

} // namespace

std::unique_ptr<device_bridge> make_host_bridge() { return std::make_unique<host_bridge>(); }

} // namespace causeway::bridge
