// SPDX-License-Identifier: Apache-2.0
// Opens what is open already, by names, links, handles and numbers of the kernel's calls, and makes these calls change
// names. Ranks that are told otherwise part. Prints how many answers were as they should be.
#include "telling.hpp"

#include <CL/cl.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using programs::expect;
using programs::is_made;

void put(int fd, const char* text) { is_made("write", write(fd, text, std::strlen(text))); }

std::string contents(int fd) {
    std::array<char, 256> room{};
    const auto got = pread(fd, room.data(), room.size(), 0);
    return got < 0 ? std::strerror(errno) : std::string(room.data(), static_cast<std::size_t>(got));
}
std::string contents(const char* path) {
    const int fd = open(path, O_RDONLY);
    const auto all = contents(fd);
    close(fd);
    return all;
}
std::string link_to(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// One file is one file, however often it is open.
void opened_twice() {
    const int first = open("twice", O_CREAT | O_RDWR | O_TRUNC, 0644);
    put(first, "0123");
    const int second = open("twice", O_RDWR);
    expect("the second has what the first wrote", contents(second), "0123");
    is_made("pwrite", pwrite(first, "ab", 2, 0));
    expect("and what it writes later", contents(second), "ab23");
    const int third = open("twice", O_WRONLY | O_APPEND);
    put(third, "end");
    expect("what the third appends", contents(first), "ab23end");
    expect("which nobody reads", contents(third), std::strerror(EBADF));
    is_made("truncate", truncate("twice", 3));
    expect("what is left in the open one", contents(first), "ab2");
    is_made("link", link("twice", "linked"));
    const int fourth = open("linked", O_RDWR);
    is_made("pwrite", pwrite(fourth, "L", 1, 0));
    expect("by another name", contents(second), "Lb2");
    const int fifth = open(link_to(first).c_str(), O_RDWR);
    is_made("pwrite", pwrite(fifth, "P", 1, 1));
    expect("by the kernel's link", contents(first), "LP2");
    const auto stale = link_to(third);
    for (const int fd : {first, second, third, fourth, fifth}) close(fd);
    expect("a link to what is closed", open(stale.c_str(), O_RDONLY) < 0 ? errno : 0, ENOENT);
    expect("in the file", contents("twice"), "LP2");
    auto* const stream = std::fopen("stream", "w+");
    std::fputs("hello", stream);
    std::fflush(stream);
    auto* const other = std::fopen("stream", "r+");
    std::fputs("HE", other);
    std::fclose(other);
    expect("by streams", contents(fileno(stream)), "HEllo");
    std::fclose(stream);
}

void own_memory() {
    const int memory = memfd_create("own", 0);
    put(memory, "own");
    const int again = open(link_to(memory).c_str(), O_RDWR);
    is_made("pwrite", pwrite(again, "O", 1, 0));
    expect("memory of the rank's own", contents(memory), "Own");
    close(memory);
    close(again);
}

struct handle_room {
    file_handle head;
    std::array<char, MAX_HANDLE_SZ> rest;
};

/// What file it is, by each way to ask.
void by_handle() {
    const int fd = open("handle", O_CREAT | O_RDWR, 0644);
    put(fd, "handle");
    struct stat by_number{}, empty{}, called{};
    is_made("fstat", fstat(fd, &by_number));
    is_made("fstatat", fstatat(fd, "", &empty, AT_EMPTY_PATH));
    is_made("newfstatat", syscall(SYS_newfstatat, fd, "", &called, AT_EMPTY_PATH));
    expect("one file", by_number.st_ino == empty.st_ino && by_number.st_ino == called.st_ino, 1);
    handle_room of_path{}, of_open{};
    of_path.head.handle_bytes = of_open.head.handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    const int made = name_to_handle_at(AT_FDCWD, "handle", &of_path.head, &mount, 0);
    expect("a handle of each", name_to_handle_at(fd, "", &of_open.head, &mount, AT_EMPTY_PATH), made);
    expect("the same", std::memcmp(&of_path, &of_open, sizeof of_path), 0); // also where file systems have none
    const int folder = open(".", O_RDONLY | O_DIRECTORY);
    const int by_it = open_by_handle_at(folder, &of_open.head, O_WRONLY | O_APPEND); // takes privileges
    const auto moved = by_it >= 0 ? write(by_it, "d", 1) : 0;
    expect("what it has", contents(fd), moved == 1 ? "handled" : "handle");
    for (const int each : {fd, folder, by_it}) close(each);
}

void by_numbers() {
    const int folder = open(".", O_RDONLY | O_DIRECTORY);
    const auto open_raw = [&](open_how how) {
        const auto fd = static_cast<int>(syscall(SYS_openat2, folder, "raw", &how, sizeof how));
        put(fd, "raw");
        close(fd);
    };
    open_raw({O_CREAT | O_EXCL | O_WRONLY, 0644, RESOLVE_BENEATH});
    open_raw({O_WRONLY | O_APPEND, 0, 0});
    expect("openat2", contents("raw"), "rawraw");
    const auto fd = static_cast<int>(syscall(SYS_openat, folder, "raw", O_WRONLY | O_APPEND));
    put(fd, "at");
    close(fd);
    expect("openat", contents("raw"), "rawrawat");
    is_made("truncate", syscall(SYS_truncate, "raw", 4));
    is_made("mkdirat", syscall(SYS_mkdirat, folder, "made", 0755));
    is_made("renameat2", syscall(SYS_renameat2, folder, "raw", folder, "made/raw", RENAME_NOREPLACE));
    expect("once", syscall(SYS_renameat2, folder, "raw", folder, "made/raw", RENAME_NOREPLACE) < 0 ? errno : 0, ENOENT);
    is_made("linkat", syscall(SYS_linkat, folder, "made/raw", folder, "link", 0));
    is_made("symlinkat", syscall(SYS_symlinkat, "link", folder, "symbolic"));
    is_made("fchmodat", syscall(SYS_fchmodat, folder, "link", 0600));
    expect("renamed", contents("symbolic"), "rawr");
    for (const char* name : {"symbolic", "link", "made/raw"}) is_made(name, syscall(SYS_unlinkat, folder, name, 0));
    is_made("made", syscall(SYS_unlinkat, folder, "made", AT_REMOVEDIR));
    close(folder);
}

/// By the number that the program has been told.
void of_itself() {
    const auto own = "/proc/" + std::to_string(getpid());
    std::array<char, 4096> name{};
    is_made("readlink", readlink((own + "/exe").c_str(), name.data(), name.size() - 1));
    expect("its program", std::string(name.data()).ends_with("reopening_program"), 1);
    auto* const maps = std::fopen((own + "/maps").c_str(), "r");
    bool has_main = false;
    for (unsigned long first = 0, last = 0; std::fscanf(maps, "%lx-%lx%*[^\n]", &first, &last) == 2;)
        has_main |= first <= reinterpret_cast<unsigned long>(&put) && reinterpret_cast<unsigned long>(&put) < last;
    std::fclose(maps);
    expect("its memory", has_main, 1);
    auto* const threads = opendir((own + "/task").c_str());
    expect("its threads", threads != nullptr, 1);
    closedir(threads);
}

} // namespace

int main(int, char** arguments) {
    programs::make_queue();
    is_made("mkdir", mkdir(arguments[1], 0777));
    is_made("chdir", chdir(arguments[1]));
    opened_twice();
    own_memory();
    by_handle();
    by_numbers();
    of_itself();
    for (const char* name : {"twice", "linked", "stream", "handle"}) is_made(name, unlink(name));
    is_made("chdir", chdir(".."));
    is_made("rmdir", rmdir(arguments[1]));
    std::printf("%d right\n", programs::right);
    return 0;
}
