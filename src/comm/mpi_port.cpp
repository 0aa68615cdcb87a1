// SPDX-License-Identifier: Apache-2.0
// Communicators are numbered by an attribute.
#include "comm/mpi_port.hpp"

#include <link.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace causeway::comm {

namespace {

/// For calls that an enqueue makes: what they fail with refuses the transfer.
void check(const char* what, int code) {
    if (code == MPI_SUCCESS) return;
    const auto why = mpi_failure(what, code);
    throw transfer_error(status::invalid_value, why.message, 0, why.mpi_error_class);
}

/// What hangs on a communicator.
struct attachment {
    int space;
    MPI_Comm private_comm;
    std::function<void(int)> closing;
};

int detach(MPI_Comm, int, void* value, void*) {
    const std::unique_ptr<attachment> gone(static_cast<attachment*>(value));
    gone->closing(gone->space);
    if (gone->private_comm != MPI_COMM_NULL) PMPI_Comm_free(&gone->private_comm);
    return MPI_SUCCESS;
}

int finalizing(MPI_Comm, int, void* value, void*) {
    const std::unique_ptr<std::function<void()>> ending(static_cast<std::function<void()>*>(value));
    (*ending)();
    return MPI_SUCCESS;
}

/// One key for all engines: an attribute's key is a resource of MPI, not of an engine.
int space_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &made, nullptr);
        return made;
    }();
    return key;
}

[[noreturn]] void refuse(const std::string& text) { throw transfer_error(status::invalid_value, text); }

int peers_of(MPI_Comm comm) {
    int is_inter = 0, size = 0;
    check("MPI_Comm_test_inter", PMPI_Comm_test_inter(comm, &is_inter));
    if (is_inter != 0) {
        check("MPI_Comm_remote_size", PMPI_Comm_remote_size(comm, &size));
    } else {
        check("MPI_Comm_size", PMPI_Comm_size(comm, &size));
    }
    return size;
}

struct group {
    group() = default;
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group() {
        if (raw != MPI_GROUP_NULL) PMPI_Group_free(&raw);
    }
    MPI_Group raw = MPI_GROUP_NULL;
};

std::vector<int> job_ranks_of(MPI_Comm comm) {
    int is_inter = 0;
    check("MPI_Comm_test_inter", PMPI_Comm_test_inter(comm, &is_inter));
    group members, job;
    if (is_inter != 0) {
        check("MPI_Comm_remote_group", PMPI_Comm_remote_group(comm, &members.raw));
    } else {
        check("MPI_Comm_group", PMPI_Comm_group(comm, &members.raw));
    }
    check("MPI_Comm_group", PMPI_Comm_group(MPI_COMM_WORLD, &job.raw));
    int count = 0;
    check("MPI_Group_size", PMPI_Group_size(members.raw, &count));
    std::vector<int> ranks(static_cast<std::size_t>(count)), result(ranks.size());
    for (int i = 0; i < count; ++i) ranks[static_cast<std::size_t>(i)] = i;
    check("MPI_Group_translate_ranks",
          PMPI_Group_translate_ranks(members.raw, count, ranks.data(), job.raw, result.data()));
    for (auto& rank : result)
        if (rank == MPI_UNDEFINED) rank = no_rank;
    return result;
}

int own_rank_of(MPI_Comm comm) {
    int is_inter = 0, rank = no_rank;
    check("MPI_Comm_test_inter", PMPI_Comm_test_inter(comm, &is_inter));
    // Of an inter-communicator one talks to the remote group.
    if (is_inter == 0) check("MPI_Comm_rank", PMPI_Comm_rank(comm, &rank));
    return rank;
}

/// A program and its libraries may be linked with different MPIs. Which of them a call reaches is then chance, and what
/// is a communicator for one is none for the other.
void warn_of_second_mpi() {
    std::vector<std::string> found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* into) {
            const std::string_view path = object->dlpi_name, name = path.substr(path.rfind('/') + 1);
            if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so"))
                static_cast<std::vector<std::string>*>(into)->emplace_back(path);
            return 0;
        },
        &found);
    if (found.size() > 1)
        warn_once("the process has two MPI libraries, " + found[0] + " and " + found[1] +
                  ": link the program and all of its libraries with one; ldd shows who brings the other");
}

} // namespace

void require_mpi() {
    static std::once_flag looked;
    std::call_once(looked, warn_of_second_mpi);
    int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    if (initialised == 0)
        throw transfer_error(status::invalid_operation,
                             "MPI is not initialised; call MPI_Init_thread with MPI_THREAD_MULTIPLE first");
    if (finalised != 0) throw transfer_error(status::invalid_operation, "MPI has been finalised");
    PMPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        throw transfer_error(status::invalid_operation,
                             "MPI is initialised below MPI_THREAD_MULTIPLE: call MPI_Init_thread(&argc, &argv, "
                             "MPI_THREAD_MULTIPLE, &provided) "
                             "instead of MPI_Init; if it does not provide that level, this MPI was built without it "
                             "(causeway info says what yours provides)");
}

void require_communicator(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) refuse("the communicator is MPI_COMM_NULL");
}

void require_destination(MPI_Comm comm, int rank) {
    if (rank == MPI_PROC_NULL) return;
    const int size = peers_of(comm);
    if (rank < 0 || rank >= size)
        refuse("rank " + std::to_string(rank) + " is not in the communicator, which has " + std::to_string(size));
}

void require_source(MPI_Comm comm, int rank) {
    if (rank != MPI_ANY_SOURCE) require_destination(comm, rank);
}

void require_tag(int tag) {
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    const int largest = found != 0 ? *static_cast<int*>(value) : 32767;
    if (tag < 0 || tag > largest)
        refuse("tag " + std::to_string(tag) + " is not from 0 to MPI_TAG_UB, " + std::to_string(largest));
}

int mpi_port::attach(MPI_Comm comm, MPI_Comm used, bool is_private, const std::function<void(int)>& closing) {
    const int number = static_cast<int>(m_spaces.size());
    auto hung = std::make_unique<attachment>(number, is_private ? used : MPI_COMM_NULL, closing);
    m_spaces.push_back({used, is_private, job_ranks_of(used), own_rank_of(used)});
    const int code = PMPI_Comm_set_attr(comm, space_key(), hung.get());
    if (code != MPI_SUCCESS) {
        m_spaces.pop_back();
        check("MPI_Comm_set_attr", code);
    }
    static_cast<void>(hung.release());
    // The attribute that is deleted first must be the one that drains: they go last in, first out.
    int is_self = MPI_UNEQUAL, is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter == 0) PMPI_Comm_compare(comm, MPI_COMM_SELF, &is_self);
    if (is_self == MPI_IDENT && m_ending) hang_ending();
    return number;
}

std::optional<int> mpi_port::known_space(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    const int code = insist([&] { return PMPI_Comm_get_attr(comm, space_key(), &value, &found); });
    // A second space for one communicator would take the messages of the first.
    check("MPI_Comm_get_attr", code);
    if (found == 0) return std::nullopt;
    return static_cast<attachment*>(value)->space;
}

int mpi_port::space_of(MPI_Comm comm, const std::function<void(int)>& closing) {
    const std::lock_guard lock(m_mutex);
    const auto known = known_space(comm);
    return known ? *known : attach(comm, comm, false, closing);
}

void mpi_port::make_private(MPI_Comm comm, const std::function<void(int)>& closing) {
    const auto known = [&] {
        void* value = nullptr;
        int found = 0;
        PMPI_Comm_get_attr(comm, space_key(), &value, &found);
        return found != 0 ? static_cast<attachment*>(value) : nullptr;
    };
    int begun = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (const auto* const before = known()) {
            if (before->private_comm != MPI_COMM_NULL) return;
            begun = 1;
        }
    }
    // Refused by one, refused by all: the others must not wait in the duplication.
    int is_inter = 0;
    check("MPI_Comm_test_inter", PMPI_Comm_test_inter(comm, &is_inter));
    // Between two groups, the first round tells each what the other knows.
    for (int round = 0; round < (is_inter != 0 ? 2 : 1); ++round) {
        int others = 0;
        check("MPI_Allreduce", PMPI_Allreduce(&begun, &others, 1, MPI_INT, MPI_MAX, comm));
        begun = std::max(begun, others);
    }
    if (begun != 0)
        throw transfer_error(status::invalid_operation,
                             "the communicator cannot be attached: transfers on it have begun");
    MPI_Comm own = MPI_COMM_NULL;
    const int code = PMPI_Comm_dup(comm, &own);
    if (code != MPI_SUCCESS) throw transfer_error(status::invalid_operation, mpi_failure("MPI_Comm_dup", code).message);
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    const std::lock_guard lock(m_mutex);
    try {
        attach(comm, own, true, closing);
    } catch (...) {
        PMPI_Comm_free(&own);
        throw;
    }
}

void mpi_port::at_finalize(const std::function<void()>& ending) {
    const std::lock_guard lock(m_mutex);
    if (m_ending) return;
    m_ending = ending;
    hang_ending();
}

void mpi_port::hang_ending() {
    // MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else (MPI 3.1, section 8.7.1). MPICH (4.0.2,
    // MPII_Finalize) turns its locks off before that, and aborts at their end if the engine's thread held one then: so
    // this is for callers that do not include our header.
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, std::make_unique<std::function<void()>>(m_ending).release());
    PMPI_Comm_free_keyval(&key);
}

MPI_Comm mpi_port::comm_of(int space) const {
    const std::lock_guard lock(m_mutex);
    return m_spaces[static_cast<std::size_t>(space)].comm;
}

int mpi_port::ranks(int space) const {
    const std::lock_guard lock(m_mutex);
    return static_cast<int>(m_spaces[static_cast<std::size_t>(space)].job_ranks.size());
}

int mpi_port::own_rank(int space) const {
    const std::lock_guard lock(m_mutex);
    return m_spaces[static_cast<std::size_t>(space)].own_rank;
}

int mpi_port::job_rank(int space, int rank) const {
    const std::lock_guard lock(m_mutex);
    const auto& ranks = m_spaces[static_cast<std::size_t>(space)].job_ranks;
    return rank >= 0 && static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)] : no_rank;
}

std::string_view mpi_port::library() const {
    static const auto& name = *new std::string([] {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        PMPI_Get_library_version(text, &length);
        // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\nMPICH Release date: ..."
        std::string_view whole(text);
        std::string first(whole.substr(0, whole.find_first_of(",\n")));
        std::replace(first.begin(), first.end(), '\t', ' ');
        return first;
    }());
    return name;
}

int mpi_port::largest_tag() const {
    // Asked for with every message, and the same for the life of MPI.
    if (m_largest_tag == 0) {
        void* value = nullptr;
        int found = 0;
        insist([&] { return PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found); });
        if (found == 0) return 32767; // which every MPI allows; another time it may answer
        m_largest_tag = *static_cast<int*>(value);
    }
    return m_largest_tag;
}

void mpi_port::send(int space, int destination, int tag, std::span<const std::byte> bytes, operation& done) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = insist([&, comm = comm_of(space)] {
        return PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, destination, tag, comm, &request);
    });
    if (code != MPI_SUCCESS) {
        done.over({.error = mpi_failure("MPI_Isend", code)});
    } else {
        m_requests.add(request, done);
    }
}

void mpi_port::receive(int space, int source, int tag, std::span<std::byte> bytes, operation& done) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = insist([&, comm = comm_of(space)] {
        return PMPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                          source == any_source ? MPI_ANY_SOURCE : source, tag, comm, &request);
    });
    if (code != MPI_SUCCESS) {
        done.over({.error = mpi_failure("MPI_Irecv", code)});
    } else {
        m_requests.add(request, done);
    }
}

} // namespace causeway::comm
