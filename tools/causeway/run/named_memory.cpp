// SPDX-License-Identifier: Apache-2.0
// Memory, semaphores and queues of messages that have names: rank 0 has those that the program asks for, and each other
// rank has its own, which are of use between its threads and children.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <map>
#include <string>

namespace {

using namespace causeway_run;

/// Memory that this rank has in the place of rank 0's, by name: whoever opens it again gets the same.
std::map<std::string, int>& held_memory() {
    static auto& all = *new std::map<std::string, int>;
    return all;
}
void forget_memory(const std::string& name) {
    const auto found = held_memory().find(name);
    if (found == held_memory().end()) return;
    ::close(found->second);
    held_memory().erase(found);
}
/// `made` is a copy of what rank 0 has.
int share_memory(const std::string& name, int flags, int made) {
    if ((flags & O_EXCL) != 0) forget_memory(name);
    const auto found = held_memory().find(name);
    if (found == held_memory().end()) {
        held_memory()[name] = ::fcntl(made, F_DUPFD_CLOEXEC, 3);
        return made;
    }
    static auto* const open_here = next<int(const char*, int, ...)>("open64");
    const auto path = "/proc/self/fd/" + std::to_string(found->second);
    const int same = open_here(path.c_str(), (flags & ~(O_CREAT | O_EXCL)) | O_CLOEXEC);
    ::close(made);
    return same;
}

/// Where this rank has what rank 0 has by `name`.
std::string own_name(const char* name) {
    return std::string(name) + ".causeway." + std::to_string(syscall(SYS_getpid));
}
/// Removed at the end, if the program leaves them.
struct own_names {
    std::map<std::string, int (*)(const char*)> all;
    ~own_names() {
        for (const auto& [name, remove] : all) remove(name.c_str());
    }
} removed_at_end;

/// Opens on rank 0 by the program's name, and where that went well on the others, by one of their own, `same`.
template <class Handle, class Open, class Same, class State> Handle
open_named(const char* name, Handle none, int (*remove)(const char*), State& state, Open open_here, Same same) {
    struct {
        int error = 0;
        State state;
    } told{0, state};
    Handle made = none;
    meet();
    if (is_rank_0()) {
        made = open_here(told.state);
        told.error = made == none ? errno : 0;
    }
    take_of_rank_0(&told, sizeof told);
    int error = told.error;
    if (error == 0 && !is_rank_0()) {
        const auto own = own_name(name);
        made = same(own.c_str(), told.state);
        if (made == none)
            error = errno;
        else
            removed_at_end.all.emplace(own, remove);
    }
    if (told.error == 0) error = agree(error);
    if (error == 0) return made;
    errno = error;
    return none;
}
/// By a key: another rank's is private. `size_of` asks rank 0's how large it is, `is_there` whether this rank's own is.
struct keyed {
    int (*open)(int key, std::size_t size, int flags);
    std::size_t (*size_of)(int id);
    bool (*is_there)(int id);
    void (*remove)(int id);
    std::map<int, int> own; // by key
    ~keyed() {
        for (const auto& [key, id] : own) remove(id);
    }
};
int open_keyed(keyed& kind, int key, std::size_t size, int flags) {
    struct {
        std::int64_t id, error;
        std::uint64_t size;
    } told{-1, 0, size};
    meet();
    if (is_rank_0()) {
        told.id = kind.open(key, size, flags);
        told.error = errno;
        if (told.id >= 0) told.size = kind.size_of(static_cast<int>(told.id));
    }
    take_of_rank_0(&told, sizeof told);
    int error = told.id < 0 ? static_cast<int>(told.error) : 0, id = static_cast<int>(told.id);
    if (error == 0 && !is_rank_0()) {
        auto [found, is_new] = kind.own.emplace(key, -1);
        if (is_new || !kind.is_there(found->second))
            found->second = kind.open(IPC_PRIVATE, static_cast<std::size_t>(told.size), (flags & 0777) | IPC_CREAT);
        id = found->second;
        if (id < 0) error = errno;
    }
    if (told.id >= 0) error = agree(error);
    if (error == 0) return id;
    errno = error;
    return -1;
}
keyed& memory_by_key() {
    static keyed all{[](int key, std::size_t size, int flags) {
                         return next<int(key_t, std::size_t, int)>("shmget")(key, size, flags);
                     },
                     [](int id) {
                         shmid_ds facts{};
                         return ::shmctl(id, IPC_STAT, &facts) == 0 ? facts.shm_segsz : 0;
                     },
                     [](int id) {
                         shmid_ds facts{};
                         return ::shmctl(id, IPC_STAT, &facts) == 0;
                     },
                     [](int id) { ::shmctl(id, IPC_RMID, nullptr); },
                     {}};
    return all;
}
keyed& semaphores_by_key() {
    static keyed all{[](int key, std::size_t size, int flags) {
                         return next<int(key_t, int, int)>("semget")(key, static_cast<int>(size), flags);
                     },
                     [](int id) {
                         semid_ds facts{};
                         return ::semctl(id, 0, IPC_STAT, &facts) == 0 ? std::size_t{facts.sem_nsems} : 0;
                     },
                     [](int id) {
                         semid_ds facts{};
                         return ::semctl(id, 0, IPC_STAT, &facts) == 0;
                     },
                     [](int id) { ::semctl(id, 0, IPC_RMID); },
                     {}};
    return all;
}
keyed& queues_by_key() {
    static keyed all{[](int key, std::size_t, int flags) { return next<int(key_t, int)>("msgget")(key, flags); },
                     [](int) { return std::size_t{0}; },
                     [](int id) {
                         msqid_ds facts{};
                         return ::msgctl(id, IPC_STAT, &facts) == 0;
                     },
                     [](int id) { ::msgctl(id, IPC_RMID, nullptr); },
                     {}};
    return all;
}

int remove_named(const char* name, int (*remove)(const char*), const void* caller) {
    const int code = once(caller, [&] { return remove(name); });
    if (code == 0 && asks_of_files(caller) && !is_rank_0()) {
        const auto own = own_name(name);
        if (removed_at_end.all.erase(own) != 0) remove(own.c_str());
    }
    return code;
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

int shm_open(const char* name, int flags, mode_t mode) {
    static auto* const ask = next<int(const char*, int, mode_t)>("shm_open");
    const auto path = std::string("/dev/shm/") + (*name == '/' ? name + 1 : name);
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    if (!is_programs_file(CAUSEWAY_CALLER) || (!writes && !is_written(path.c_str()))) return ask(name, flags, mode);
    const int made = open_once(path.c_str(), flags | O_CLOEXEC, [&] { return ask(name, flags, mode); });
    return made < 0 || is_rank_0() ? made : share_memory(name, flags, made);
}
int shm_unlink(const char* name) {
    static auto* const ask = next<int(const char*)>("shm_unlink");
    const int code = once(CAUSEWAY_CALLER, [&] { return ask(name); });
    if (code == 0) forget_memory(name);
    return code;
}

sem_t* sem_open(const char* name, int flags, ...) {
    static auto* const ask = next<sem_t*(const char*, int, ...)>("sem_open");
    static auto* const remove = next<int(const char*)>("sem_unlink");
    std::va_list list;
    va_start(list, flags);
    const auto mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    const auto value = (flags & O_CREAT) != 0 ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (!asks_of_files(CAUSEWAY_CALLER)) return ask(name, flags, mode, value);
    int first = 0; // value of what is there perhaps
    return open_named<sem_t*>(
        name, SEM_FAILED, remove, first,
        [&](int& found) {
            auto* const made = ask(name, flags, mode, value);
            if (made != SEM_FAILED) ::sem_getvalue(made, &found);
            return made;
        },
        [&](const char* own, int found) { return ask(own, O_CREAT, 0600, static_cast<unsigned>(found)); });
}
int sem_unlink(const char* name) {
    static auto* const ask = next<int(const char*)>("sem_unlink");
    return remove_named(name, ask, CAUSEWAY_CALLER);
}

mqd_t mq_open(const char* name, int flags, ...) {
    static auto* const ask = next<mqd_t(const char*, int, ...)>("mq_open");
    static auto* const remove = next<int(const char*)>("mq_unlink");
    std::va_list list;
    va_start(list, flags);
    const auto mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    auto* const wanted = (flags & O_CREAT) != 0 ? va_arg(list, mq_attr*) : nullptr;
    va_end(list);
    if (!asks_of_files(CAUSEWAY_CALLER)) return ask(name, flags, mode, wanted);
    mq_attr size{};
    return open_named<mqd_t>(
        name, -1, remove, size,
        [&](mq_attr& found) {
            const auto made = ask(name, flags, mode, wanted);
            if (made >= 0) next<int(mqd_t, mq_attr*)>("mq_getattr")(made, &found);
            return made;
        },
        [&](const char* own, mq_attr found) { return ask(own, (flags & ~O_EXCL) | O_CREAT, 0600, &found); });
}
int mq_unlink(const char* name) {
    static auto* const ask = next<int(const char*)>("mq_unlink");
    return remove_named(name, ask, CAUSEWAY_CALLER);
}

// By keys. What they are called in a process is each rank's own.
int shmget(key_t key, std::size_t size, int flags) noexcept {
    static auto* const ask = next<int(key_t, std::size_t, int)>("shmget");
    return key == IPC_PRIVATE || !asks_of_files(CAUSEWAY_CALLER) ? ask(key, size, flags)
                                                                 : open_keyed(memory_by_key(), key, size, flags);
}
int semget(key_t key, int count, int flags) noexcept {
    static auto* const ask = next<int(key_t, int, int)>("semget");
    return key == IPC_PRIVATE || !asks_of_files(CAUSEWAY_CALLER)
               ? ask(key, count, flags)
               : open_keyed(semaphores_by_key(), key, static_cast<std::size_t>(count), flags);
}
int msgget(key_t key, int flags) noexcept {
    static auto* const ask = next<int(key_t, int)>("msgget");
    return key == IPC_PRIVATE || !asks_of_files(CAUSEWAY_CALLER) ? ask(key, flags)
                                                                 : open_keyed(queues_by_key(), key, 0, flags);
}

} // extern "C"
#pragma GCC visibility pop
