// SPDX-License-Identifier: Apache-2.0
// The PEs of an OpenSHMEM program on one node: memory that all have mapped, and meeting one another.
#pragma once

#include "comm/process_group.hpp"
#include "comm/process_watch.hpp"
#include "comm/shared_segment.hpp"
#include "endpoints/symmetric/offset_allocator.hpp"
#include "oshmem/device_heap.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace causeway::oshmem {

/// PEs that meet: `start`, `start + stride`, and so on.
struct members {
    int start = 0, stride = 1, size = 1;
    [[nodiscard]] int world(int index) const { return start + index * stride; }
    /// -1 for a PE that is none of them.
    [[nodiscard]] int index_of(int pe) const {
        const int distance = pe - start;
        return stride != 0 && distance % stride == 0 && distance / stride >= 0 && distance / stride < size
                   ? distance / stride
               : stride == 0 && distance == 0 ? 0
                                              : -1;
    }
};

/// Ends the job with a message on standard error, as OpenSHMEM's calls have no other way to refuse.
[[noreturn]] void give_up(const char* call, const std::string& why);

class job {
  public:
    /// Collective over all processes that the launcher has started. Ends the job if it cannot be.
    static void start();
    [[nodiscard]] static bool has_started();
    [[nodiscard]] static job& instance();
    /// `call` names who asks, where there is none yet.
    [[nodiscard]] static job& required(const char* call);
    /// Once; also at exit.
    static void finish();
    /// The program initialises MPI. Whether this library has done so already, for itself.
    [[nodiscard]] static bool shares_mpi();
    /// The program ends MPI, perhaps before this: nothing here needs it any more.
    static void mpi_ends();
    /// Ends all PEs.
    [[noreturn]] static void exit_all(int status);

    [[nodiscard]] int pe() const { return m_pe; }
    [[nodiscard]] int pes() const { return m_pes; }

    /// Where `address`, in the heap or in a global variable, is in the memory of `pe`. Ends the job for any other
    /// address or PE.
    [[nodiscard]] void* at(const void* address, int pe, const char* call) const {
        auto* const found = find(address, pe);
        if (found == nullptr) refuse(address, pe, call);
        return found;
    }
    /// Null instead.
    [[nodiscard]] void* find(const void* address, int pe) const {
        const auto where = reinterpret_cast<std::uintptr_t>(address);
        if (static_cast<unsigned>(pe) >= static_cast<unsigned>(m_pes)) return nullptr;
        for (const auto* const part : {&m_heap, &m_globals, &m_device_part})
            if (where - part->first < part->bytes)
                return part->peers[static_cast<std::size_t>(pe)] + (where - part->first);
        return nullptr;
    }

    /// Whether an address is in the heap of the device's own memory, which no load or store reaches. Then device() is
    /// to be asked.
    [[nodiscard]] bool is_distant(const void* address) const {
        return reinterpret_cast<std::uintptr_t>(address) - m_distant_first < m_distant_bytes;
    }
    [[nodiscard]] device_heap& device() const { return *m_device; }
    /// Bytes of any memory of this PE to symmetric memory of PE `pe`, and the other way.
    void put(const char* call, void* target, const void* source, std::size_t bytes, int pe);
    void get(const char* call, void* target, const void* source, std::size_t bytes, int pe);
    /// To any memory of this PE, from memory that is not distant.
    void store(const char* call, void* target, const void* source, std::size_t bytes) {
        if (is_distant(target)) {
            m_device->put(call, target, source, bytes, m_pe);
        } else {
            std::memmove(target, source, bytes);
        }
    }

    /// The heap in the device's memory; makes it, where there is none yet. Collective. Throws transfer_error, on every
    /// PE if on one.
    [[nodiscard]] device_heap& need_device();

    /// All of `who` have come, and what they stored before is visible.
    void meet(const members& who);
    /// A word of this PE that the others read between two meetings.
    [[nodiscard]] std::uint64_t& note() const { return note_of(m_pe); }
    [[nodiscard]] std::uint64_t& note_of(int pe) const;

    /// What the others read of `bytes` at `source` between two meetings, by borrow(). Memory that is not symmetric is
    /// copied to where they can: programs hand such to collectives.
    enum class loan { source, target };
    void lend(const char* call, loan what, const void* source, std::size_t bytes);
    [[nodiscard]] const void* borrow(loan what, const void* source, int pe, const char* call);

    /// Calls `holds()` until it is true. Ends the job if a PE dies meanwhile.
    template <class Holds> void wait(Holds holds) {
        for (unsigned look = 1; !holds(); ++look)
            if (look % looks_without_pause == 0) pause(look / looks_without_pause);
    }

    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
    void free(void* address);
    [[nodiscard]] std::size_t bytes_at(void* address);

  private:
    struct part {
        std::uintptr_t first = 0;
        std::size_t bytes = 0;
        std::vector<std::byte*> peers;
    };
    static constexpr unsigned looks_without_pause = 256;

    job();
    void share(part& what, std::unique_ptr<comm::shared_segment> own);
    void make_globals_shared();
    void report() const;
    void end_device();
    void pause(unsigned times);
    [[noreturn]] void refuse(const void* address, int pe, const char* call) const;
    [[nodiscard]] std::uint64_t& token(int at, int from) const;
    [[nodiscard]] comm::segment_address& loan_of(loan what, int pe) const;

    std::unique_ptr<comm::process_group> m_group;
    bool m_has_started_mpi = false, m_program_ends_mpi = false, m_has_ended = false;
    int m_pe = 0, m_pes = 1;
    std::vector<std::unique_ptr<comm::shared_segment>> m_segments;
    part m_heap, m_globals, m_control, m_device_part;
    std::unique_ptr<device_heap> m_device;
    std::uintptr_t m_distant_first = 0;
    std::size_t m_distant_bytes = 0;
    std::vector<comm::process_watch> m_processes;
    std::mutex m_mutex; // guards m_allocator
    endpoints::offset_allocator m_allocator;
    std::vector<std::uint64_t> m_sent, m_expected; // tokens, by PE
    static constexpr std::size_t loans = 2;
    std::array<std::unique_ptr<comm::shared_segment>, loans> m_lent;
    std::array<std::vector<std::unique_ptr<comm::shared_segment>>, loans> m_borrowed; // by PE
};

} // namespace causeway::oshmem
