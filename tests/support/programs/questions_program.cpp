// SPDX-License-Identifier: Apache-2.0
// Asks about files while it writes them, where links of the kernel lead, and for memory, semaphores and queues with
// names; runs commands of the shell. What it is told goes into its commands: ranks that are told otherwise part. Prints
// how many answers were as they should be.
#include "telling.hpp"

#include <CL/cl.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using programs::expect;
using programs::is_made;
using programs::right;
/// Whatever it is, it is the same on all ranks.
void same(const char* what, const std::string& found) { expect(what, found, found); }
void same(const char* what, long found) { same(what, std::to_string(found)); }

/// Of a file that grows, as far as rank 0 has come.
void of_open_files(const std::string& folder) {
    const auto path = folder + "/grows";
    const int fd = open(path.c_str(), O_CREAT | O_RDWR, 0644);
    struct stat facts{};
    std::size_t sizes = 0;
    for (std::size_t i = 1; i <= 300; ++i) {
        if (write(fd, "0123456789", 10) != 10) std::exit(1);
        sizes += stat(path.c_str(), &facts) == 0 && facts.st_size == static_cast<off_t>(10 * i);
    }
    expect("sizes while it grows", static_cast<long>(sizes), 300);
    struct statfs disk{};
    is_made("fstatfs", fstatfs(fd, &disk));
    same("its kind", static_cast<long>(disk.f_type));
    same("fpathconf", fpathconf(fd, _PC_LINK_MAX));
    is_made("fallocate", fallocate(fd, 0, 0, 5000));
    is_made("fstat", fstat(fd, &facts));
    expect("its size", facts.st_size, 5000);
    is_made("a hole", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 10));
    expect("without its first bytes", fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096) == 0 ? 0 : errno, EOPNOTSUPP);
    expect("posix_fallocate", posix_fallocate(fd, 0, 6000), 0);
    same("fsetxattr", fsetxattr(fd, "user.causeway", "value", 5, 0)); // some file systems have none
    char value[8] = "";
    same("fgetxattr", fgetxattr(fd, "user.causeway", value, sizeof value - 1));
    same("what it has", value);
    const int other = open((folder + "/clone").c_str(), O_CREAT | O_WRONLY, 0644);
    expect("shared blocks", ioctl(other, FICLONE, fd) == 0 ? 0 : errno, EOPNOTSUPP);
    char name[256] = "";
    is_made("readlink", readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name - 1));
    expect("its name", name, std::filesystem::canonical(path).string());
    same("lease", fcntl(other, F_SETLEASE, F_WRLCK));
    same("leased", fcntl(other, F_GETLEASE));
    same("flags", fcntl(other, F_GETFL));
    close(other);
    close(fd);
}

void of_the_kernel() {
    const auto own = std::filesystem::read_symlink("/proc/self").string();
    expect("/proc/self", own, std::to_string(getpid()));
    char room[PATH_MAX];
    expect("realpath", realpath("/proc/self", room) == nullptr ? "none" : room, "/proc/" + own);
    const int stat_file = openat(AT_FDCWD, "/proc/self/stat", O_RDONLY);
    std::string text(own.size(), '\0');
    is_made("read", read(stat_file, text.data(), text.size()));
    expect("openat", text, own);
    close(stat_file);
    auto* file = std::fopen("/proc/uptime", "r");
    file = std::freopen("/proc/self/stat", "r", file);
    int number = 0;
    if (file == nullptr || std::fscanf(file, "%d", &number) != 1) std::exit(1);
    expect("freopen", number, getpid());
    std::fclose(file);
    const int full = open("/dev/full", O_WRONLY), zeros = open("/dev/zero", O_RDWR),
              chance = open("/dev/urandom", O_RDONLY);
    expect("a full device", write(full, "x", 1) < 0 ? errno : 0, ENOSPC);
    char byte = 7;
    expect("zeros", read(zeros, &byte, 1), 1);
    expect("a zero", byte, 0);
    long first = 0, second = 0;
    const iovec parts[2] = {{&first, sizeof first}, {&second, sizeof second}};
    expect("readv", readv(chance, parts, 2), 16);
    same("chance", first ^ second);
    for (const int each : {full, zeros, chance}) close(each);
}

void by_name() {
    const auto name = "/causeway-" + std::to_string(getpid());
    for (int i = 0; i < 2; ++i) { // the first one is gone
        auto* const one = sem_open(name.c_str(), O_CREAT | O_EXCL, 0600, 3);
        is_made("sem_open", one == SEM_FAILED ? -1 : 0);
        is_made("sem_wait", sem_wait(one));
        auto* const same_one = sem_open(name.c_str(), 0);
        int value = 0;
        is_made("sem_getvalue", sem_getvalue(same_one, &value));
        expect("of both", value, 2);
        expect("sem_open again", sem_open(name.c_str(), O_CREAT | O_EXCL, 0600, 3) == SEM_FAILED ? errno : 0, EEXIST);
        is_made("sem_unlink", sem_unlink(name.c_str()));
        expect("sem_unlink again", sem_unlink(name.c_str()) == 0 ? 0 : errno, ENOENT);
    }
    mq_attr size{};
    size.mq_maxmsg = 2;
    size.mq_msgsize = 16;
    const auto messages = mq_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600, &size);
    is_made("mq_open", messages);
    is_made("mq_send", mq_send(messages, "hello", 6, 1));
    char text[16] = "";
    expect("mq_receive", mq_receive(messages, text, sizeof text, nullptr), 6);
    expect("a message", text, "hello");
    is_made("mq_unlink", mq_unlink(name.c_str()));
    const int shared = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    is_made("shm_open", shared);
    is_made("ftruncate", ftruncate(shared, 4096));
    auto* const here = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0));
    const int again = shm_open(name.c_str(), O_RDWR, 0);
    is_made("shm_open again", again);
    auto* const there = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0));
    here[5] = 'y';
    expect("one memory", there[5], 'y');
    is_made("shm_unlink", shm_unlink(name.c_str()));
    const auto key = static_cast<key_t>(getpid()) + 0x3500000;
    const int block = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600);
    is_made("shmget", block);
    expect("shmget again", shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600) < 0 ? errno : 0, EEXIST);
    expect("the same", shmget(key, 0, 0) == block ? 1 : 0, 1);
    is_made("shmctl", shmctl(block, IPC_RMID, nullptr));
    const int semaphores = semget(key, 2, IPC_CREAT | IPC_EXCL | 0600);
    is_made("semget", semaphores);
    is_made("semctl", semctl(semaphores, 0, IPC_RMID));
}

void by_commands(const std::string& folder) {
    // Twice, the second one would fail.
    expect("system", system(("mkdir " + folder + "/made").c_str()), 0);
    const int status = system("exit 3");
    expect("its status", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 3);
    auto* const output = popen("echo $$; cat /proc/sys/kernel/random/uuid; exit 4", "r");
    char text[80] = "";
    std::size_t lines = 0;
    while (std::fgets(text, sizeof text, output) != nullptr) {
        same("a line", text);
        ++lines;
    }
    expect("lines", static_cast<long>(lines), 2);
    expect("pclose", WEXITSTATUS(pclose(output)), 4);
    auto* const input = popen(("cat >> " + folder + "/input").c_str(), "w");
    std::fputs("once", input);
    expect("pclose", pclose(input), 0);
    expect("what the command has written", static_cast<long>(std::filesystem::file_size(folder + "/input")), 4);
}

} // namespace

int main(int, char** arguments) {
    const std::string folder = arguments[1];
    programs::make_queue();
    is_made("mkdir", mkdir(folder.c_str(), 0777));
    of_open_files(folder);
    of_the_kernel();
    by_name();
    by_commands(folder);
    same("all", static_cast<long>(std::filesystem::remove_all(folder)));
    std::printf("%d right\n", right);
    return 0;
}
