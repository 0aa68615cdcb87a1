// SPDX-License-Identifier: Apache-2.0
// One device as OpenACC numbers them: its context, queues, mapped memory and compiled programs.
#pragma once
#include "acc/present_table.hpp"

#include <causeway/acc/runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace causeway::acc {

/// Number of the queue for synchronous work, and for directives with `deviceid` but without `async`.
inline constexpr long synchronous_queue = -2;

struct buffer_location {
    cl_mem buffer = nullptr;
    std::size_t offset = 0;
};

/// An event that a queue's next command waits for, and that is not the queue's own. Owns a reference to it.
struct outside_event {
    cl_event event;
    /// If `event` is another device's: a queue of this device whose next marker completes after `event`. Else null.
    cl_command_queue event_queue = nullptr;
    /// The range that a copy between devices reads or writes on this device. Without a buffer, the event stands for all
    /// commands before it.
    buffer_location location{};
    std::size_t bytes = 0;
    bool writes = false;

    bool conflicts(const buffer_location& with, std::size_t its_bytes, bool it_writes) const {
        return !location.buffer || (location.buffer == with.buffer && (writes || it_writes) &&
                                    location.offset < with.offset + its_bytes && with.offset < location.offset + bytes);
    }
    bool is_over() const;
    /// The event; if it is another device's, that of a barrier of this device, which here() enqueues into event_queue.
    cl_event here();
};

struct used_buffer {
    cl_mem buffer;
    bool written;
};

/// A pinned bounce buffer for small reads, and where its pieces go. NVIDIA's driver (580) reports a read of 8 bytes
/// into pageable memory 40 us late.
struct staging_area {
    char* block = nullptr;
    struct piece {
        void* to;
        std::size_t bytes, offset;
    };
    std::vector<piece> pieces;
    std::size_t arrived = 0; // pieces that arrive() has copied: `pieces` holds those after them

    std::size_t end() const { return arrived + pieces.size(); }
    /// Copies the pieces numbered below `until` to the program's memory. Call once they have been read.
    void arrive(std::size_t until);
};

/// Parts of the program's memory that commands may still write.
class pending_reads {
  public:
    void add(const void* to, std::size_t bytes);
    bool meet(const void* from, std::size_t bytes) const;
    void clear() { m_parts.clear(); }

  private:
    struct part {
        const char *start, *end;
    };
    std::vector<part> m_parts;
};

struct queue {
    cl_command_queue handle = nullptr;
    bool idle = true; // nothing was enqueued since it was last known to be empty
    bool flushed = true; // the driver has all that was enqueued
    bool shared = false; // the program may enqueue what the run time does not see
    bool marked = false; // is_over() has enqueued a marker behind what the program enqueued
    cl_event last = nullptr; // the last command
    std::vector<outside_event> after; // the next command waits for these
    std::vector<std::pair<cl_mem, std::size_t>> scratches;
    std::vector<cl_mem> small; // buffers of former mappings, kept for the next mapping: drivers make buffers slowly
    std::vector<cl_event> copies; // between devices; the next wait reports their failures
    pending_reads reads; // of its commands since the queue was last empty
    bool waited_for = false; // the directive is synchronous: it keeps the device's lock until it calls finish()
    staging_area staging; // of small reads, which finish() copies to the program

    void add_after(const outside_event& one);
    /// Call before others wait for its commands. NVIDIA's driver (580) takes 3 to 10 us, even if nothing is pending.
    void flush();
    /// Makes `last` the end of what the program enqueued, too. Call before asking for `last`.
    void see_shared();
};

/// The wait list and the event of the command that is being enqueued.
class command_slot {
  public:
    explicit command_slot(queue& in);
    /// For a kernel that uses these buffers. It waits for a copy between devices only if both use one buffer, and one
    /// of the two writes it.
    command_slot(queue& in, const std::vector<used_buffer>& uses);
    ~command_slot();
    command_slot(const command_slot&) = delete;
    command_slot& operator=(const command_slot&) = delete;
    cl_uint count() const { return static_cast<cl_uint>(m_list.size()); }
    const cl_event* list() const { return m_list.empty() ? nullptr : m_list.data(); }
    cl_event* event() { return &m_queue.last; }

  private:
    queue& m_queue;
    std::vector<cl_event> m_list;

    void take(const std::vector<used_buffer>* uses);
};

/// How a program is compiled.
struct program_form {
    bool overlapping = false; // some arguments are one buffer: the compiler must not assume that they differ
    bool one_each = false; // each thread has one iteration of the gangs' loop at most
    bool alone = false; // each group has one thread, which waits for no other
    auto operator<=>(const program_form&) const = default;
};

struct compiled_kernel {
    cl_kernel kernel = nullptr, end = nullptr;
    std::size_t most = 0, most_of_end = 0; // the largest group sizes
};

/// Cached look-ups of a kernel's launch. Valid while the present table has the same version.
struct launch_site {
    compiled_kernel loops, one_each;
    bool overlapping = false;
    std::uint64_t version = 0;
    struct found_argument {
        const void* address = nullptr;
        const void* section = nullptr;
        std::size_t section_bytes = 0;
        buffer_location location;
        std::size_t begin = 0, end = 0; // the part of the buffer that the kernel may access
    };
    std::vector<found_argument> arguments;
    std::vector<used_buffer> uses;
};

/// One device. The caller holds lock() for all members but number(), type(), is_cpu(), lanes_in_vectors(), units(),
/// most_threads(), id() and name().
class device {
  public:
    device(int number, cl_platform_id platform, cl_device_id id);

    std::recursive_mutex& lock() { return m_lock; }
    int number() const { return m_number; }
    int type() const { return m_type; }
    /// True if launches use few threads. ACC_LAUNCH_AS_GPU=1 makes it false, to test launches for GPUs without one.
    bool is_cpu() const { return m_cpu; }
    /// How many work-items the driver's compiler vectorises together where each has a loop of its own; 1 for none.
    std::size_t lanes_in_vectors() const { return m_lanes_in_vectors; }
    /// True if the driver's compiler gives wrong results for barriers that stand in branches, and for some between
    /// which one thread works.
    bool confuses_barriers() const { return m_confuses_barriers; }
    cl_uint units() const { return m_units; }
    /// The largest number of threads in a group.
    std::size_t most_threads() const { return m_most_threads; }
    cl_device_id id() const { return m_id; }
    const std::string& name() const { return m_name; }
    cl_context context();
    queue& queue_of(long number);
    /// An out-of-order queue for copies between this device and `other`.
    cl_command_queue peer_queue(int other);
    std::map<long, queue>& queues() { return m_queues; }
    present_table& table() { return m_table; }
    /// The table's version, of what is still allocated.
    std::uint64_t table_version();
    /// The number of `declare` variables that are mapped here.
    std::size_t& declared() { return m_declared; }

    /// A new buffer. Other GPUs reach it over a direct link if there is one and the program copies between devices.
    cl_mem allocate(std::size_t bytes);
    /// A buffer for a mapping that queue `in` is the first to use. free() gives it to the queue that used it last.
    cl_mem allocate(queue& in, std::size_t bytes);
    void free(queue& in, cl_mem buffer, std::size_t bytes);
    void fill_zero(queue& in, cl_mem buffer, std::size_t bytes);
    void write(queue& in, buffer_location to, const void* from, std::size_t bytes);
    void read(queue& in, void* to, buffer_location from, std::size_t bytes);

    /// The kernel `name` of the program, compiled on first use.
    cl_kernel kernel(causeway_acc_program& program, const std::string& name, program_form form);
    /// Built from the program and the functions that it needs of other sources.
    cl_program build(const causeway_acc_program& program, const std::string& options);
    std::string plain_options() const;
    launch_site& site(const causeway_acc_kernel& of) { return m_sites[&of]; }
    cl_mem scratch(queue& of, std::size_t index, std::size_t bytes);
    /// A buffer that no kernel accesses, for pointers that are not null.
    cl_mem placeholder();

    /// Waits, with the lock released, until all of the queue's commands are over.
    void finish(queue& of, std::unique_lock<std::recursive_mutex>& held);
    void finish_all(std::unique_lock<std::recursive_mutex>& held);
    bool is_over(queue& of);
    /// Later commands of `later` wait for all commands that `earlier` has now.
    void order(queue& earlier, queue& later);
    void order_all(queue& later);
    std::size_t allocated() const { return m_allocated; }
    void free(cl_mem buffer, std::size_t bytes);

    // Addresses by which the program names device memory: reserved ranges that the host never reads or writes.
    char* reserve(cl_mem buffer, std::size_t offset, std::size_t bytes);
    void forget(char* address);
    struct reservation {
        std::size_t bytes;
        cl_mem buffer;
        std::size_t offset;
    };
    std::map<char*, reservation>::iterator find_reserved(void* address);
    std::map<char*, reservation>& reserved() { return m_reserved; }

  private:
    /// Whether there is another GPU.
    bool has_peers() const;
    /// Pinned memory for a read of `bytes`, which finish() copies to `to`; nullptr if the read must go to `to`
    /// directly.
    void* staging_of(queue& in, std::size_t bytes, void* to);

    std::recursive_mutex m_lock;
    int m_number;
    cl_device_id m_id;
    cl_context m_context = nullptr;
    int m_type = 0;
    bool m_cpu = false, m_gpu = false;
    cl_uint m_units = 1;
    bool m_confuses_barriers = false;
    std::size_t m_lanes_in_vectors = 1, m_most_threads = 1;
    std::string m_name;
    std::size_t m_allocated = 0, m_declared = 0;
    std::map<long, queue> m_queues;
    std::map<int, cl_command_queue> m_peer_queues;
    present_table m_table;
    struct built_program {
        cl_program handle = nullptr;
        std::map<std::string, cl_kernel> kernels;
    };
    std::map<std::pair<causeway_acc_program*, program_form>, built_program> m_programs;
    std::unordered_map<const causeway_acc_kernel*, launch_site> m_sites;
    std::map<const causeway_acc_program*, cl_program> m_compiled; // functions of `routine`
    std::map<char*, reservation> m_reserved;
    cl_mem m_placeholder = nullptr;
    std::vector<char*> m_staging_blocks; // free blocks of page-locked memory, mapped for good
};

/// All devices of all platforms, GPUs first; each as often as ACC_DEVICE_REPEAT says, for tests.
const std::vector<std::unique_ptr<device>>& devices();

/// From now on allocates memory that other devices can reach.
void expect_peers();

/// The calling thread's device; nullptr if that is the host.
device* current_device();
/// The device with this number, which a clause or routine gave. Ends the program if there is none.
device& device_number(long number);

} // namespace causeway::acc
