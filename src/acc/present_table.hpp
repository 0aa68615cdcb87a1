// SPDX-License-Identifier: Apache-2.0
// What host memory is mapped on one device.
#pragma once
#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace causeway::acc {

/// The rows of a mapped array of pointers, in one buffer.
struct mapped_rows {
    cl_mem buffer = nullptr; // all rows
    std::size_t bytes = 0;   // of the buffer
    std::size_t bytes_of_each = 0;
    std::vector<char*> starts{}; // on the host; nullptr for a null pointer
};

/// A range of host memory and the buffer that stands for it. Lives as long as one of its counts is above 0.
struct mapping {
    char* start;
    std::size_t bytes;
    void* base;         // the value of the pointer or array that the clause named
    cl_mem buffer;
    std::size_t offset; // of the range in the buffer
    long structured = 0, dynamic = 0;
    char* device_address = nullptr; // made when a program first asks for it
    bool owned = true;              // false for acc_map_data()'s buffers and for rows
    mapped_rows rows{};
    bool symmetric = false; // an allocation of a symmetric heap, which itself holds one structured count
};

/// The range's two addresses, for messages.
std::string range_text(const void* start, std::size_t bytes);

class present_table {
  public:
    /// The mapping that contains [address, address + bytes); nullptr if none does. Ends the program if one contains
    /// only a part.
    mapping* find(void* address, std::size_t bytes);
    /// The mapping that contains `address`; nullptr if none does. Addresses of a symmetric heap in the table's context
    /// are mapped.
    mapping* find_start(void* address);
    /// Whether a mapping outside of symmetric heaps overlaps [address, address + bytes).
    bool maps(void* address, std::size_t bytes) { return find_own(address) || find_overlapping(address, bytes); }
    /// A mapping outside of symmetric heaps that begins in [address, address + bytes).
    mapping* find_overlapping(void* address, std::size_t bytes);
    /// The only mapping that was made through a pointer of this value, whichever elements it covers; nullptr if there
    /// is none or more than one.
    mapping* find_base(void* base);
    /// What a pointer means of whose elements nothing is known: find_base(), else find_start(). A pointer's own value
    /// may lie in a neighbour, as that of an array that counts from 1.
    mapping* find_pointer(void* pointer) {
        auto* const found = find_base(pointer);
        return found ? found : find_start(pointer);
    }
    mapping& add(const mapping& made) {
        ++m_version;
        return m_mappings.insert_or_assign(made.start, made).first->second;
    }
    void remove(const mapping& gone) {
        ++m_version;
        m_mappings.erase(gone.start);
    }
    /// The same for memory that no look-up finds.
    mapping& add_apart(const mapping& made) {
        ++m_version;
        return m_apart.emplace_back(made);
    }
    void remove_apart(const mapping& gone) {
        ++m_version;
        m_apart.remove_if([&](const mapping& each) { return &each == &gone; });
    }
    /// A number that changes whenever the table does: same version, same answers once forget_freed() was called.
    std::uint64_t version() const { return m_version; }
    /// Takes out what symmetric heaps have freed since. Returns the device addresses that it had.
    std::vector<char*> forget_freed();
    /// From now on addresses of symmetric heaps in this context count as mapped.
    void use(cl_context context) { m_context = context; }
    /// Called when device memory beside the table is allocated or freed: makes a new version.
    void change() { ++m_version; }
    mapping* find_device(char* device_address);
    mapping* find_buffer(cl_mem buffer, std::size_t offset);

  private:
    std::map<char*, mapping> m_mappings;
    std::list<mapping> m_apart;
    std::list<mapping> m_symmetric; // freed ones stay, without memory, while an open data construct points to them
    cl_context m_context = nullptr;
    std::uint64_t m_version = 0;

    mapping* find_own(void* address);
    mapping* find_symmetric(char* address);
};

} // namespace causeway::acc
