// SPDX-License-Identifier: Apache-2.0
// Reads its standard input in every way, writes files in every way into a folder, and reads them again. What it has
// read goes into its commands: ranks that read otherwise part. Prints how many files have what they should.
#include "telling.hpp"

#include <CL/cl.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using programs::context;
using programs::queue;
using programs::tell;

int right = 0;

/// Writes when the messages between the ranks have ended.
struct late_writer {
    std::string path;
    ~late_writer() {
        if (!path.empty()) std::ofstream(path) << "late\n";
    }
} at_end;

void expect(const char* what, const std::string& found, const std::string& wanted) {
    tell(found);
    if (found == wanted)
        ++right;
    else
        std::fprintf(stderr, "%s: '%s' instead of '%s'\n", what, found.c_str(), wanted.c_str());
}

std::string contents_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

void write_by_stdio(const std::string& path) {
    auto* const file = std::fopen(path.c_str(), "w+");
    std::fputs("one two", file);
    expect("position", std::to_string(std::ftell(file)), "7");
    std::rewind(file);
    char word[8] = "";
    if (std::fscanf(file, "%7s", word) != 1) std::exit(1);
    expect("read back", word, "one");
    std::fclose(file);
    auto* const more = std::fopen(path.c_str(), "a");
    expect("position for appending", std::to_string(std::ftell(more)), "7");
    std::fputs(" three", more);
    std::fclose(more);
    expect("stdio", contents_of(path), "one two three");
    auto* const change = std::fopen(path.c_str(), "r+");
    std::fseek(change, 4, SEEK_SET);
    std::fputs("TWO", change);
    std::fflush(change);
    char rest[16] = "";
    std::fseek(change, 0, SEEK_SET);
    if (std::fgets(rest, sizeof rest, change) == nullptr) std::exit(1);
    expect("read of what was there", rest, "one TWO three");
    std::fclose(change);
}

/// What is written by one name and read by another has all of it, whichever rank is first.
void by_other_names(const std::string& folder) {
    if (mkdir((folder + "/scratch").c_str(), 0777) != 0 || symlink("scratch", (folder + "/latest").c_str()) != 0)
        std::exit(1);
    const int scratch = open((folder + "/scratch").c_str(), O_RDONLY | O_DIRECTORY);
    std::size_t whole = 0;
    const std::string text(1 << 20, 't');
    for (int i = 0; i < 16; ++i) {
        const auto name = "f" + std::to_string(i);
        std::ofstream(folder + "/latest/" + name) << text;
        whole += contents_of(folder + "/scratch/" + name) == text;
        whole += contents_of(folder + "/scratch/../latest/./" + name) == text;
        const auto hard = folder + "/hard" + name;
        if (linkat(scratch, name.c_str(), AT_FDCWD, hard.c_str(), 0) != 0) std::exit(1);
        std::ofstream(folder + "/latest/" + name) << text << text;
        whole += std::filesystem::file_size(hard) == 2 * text.size();
        std::ofstream(folder + "/latest/" + name) << text;
        struct stat facts{};
        whole += fstatat(scratch, name.c_str(), &facts, 0) == 0 && facts.st_size == static_cast<off_t>(text.size());
        std::ofstream(hard) << text << text << text;
        const int fd = openat(scratch, name.c_str(), O_RDONLY);
        whole += lseek(fd, 0, SEEK_END) == static_cast<off_t>(3 * text.size());
        close(fd);
    }
    close(scratch);
    expect("by other names", std::to_string(whole), std::to_string(5 * 16));
}

std::size_t found_bytes = 0;
int count_bytes(const char*, const struct stat* facts, int what, FTW*) {
    if (what == FTW_F) found_bytes += static_cast<std::size_t>(facts->st_size);
    return 0;
}

/// Which file an open one is, and who may have it alone.
void by_descriptors(const std::string& folder) {
    const auto is_made = [](const char* what, int code) {
        expect(what, code == 0 ? "done" : std::strerror(errno), "done");
    };
    const int open_one = open((folder + "/stdio").c_str(), O_WRONLY);
    struct stat facts{}, own{};
    struct statx more{};
    is_made("stat", stat((folder + "/stdio").c_str(), &facts));
    is_made("fstat", fstat(open_one, &own));
    is_made("statx", statx(open_one, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more));
    expect("one file", own.st_ino == facts.st_ino && more.stx_ino == facts.st_ino ? "one" : "others", "one");
    is_made("flock", flock(open_one, LOCK_EX | LOCK_NB));
    const int second = open((folder + "/stdio").c_str(), O_RDONLY);
    expect("flock again", flock(second, LOCK_EX | LOCK_NB) == 0 ? "done" : std::strerror(errno),
           std::strerror(EWOULDBLOCK));
    is_made("close", close(open_one));
    is_made("flock at last", flock(second, LOCK_EX | LOCK_NB));
    close(second);
    const int alone = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    is_made("flock of a folder", flock(alone, LOCK_EX | LOCK_NB));
    // The other ranks have had their time to be refused.
    tell("held");
    close(alone);
    const int part = open((folder + "/stdio").c_str(), O_RDWR);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    is_made("fcntl", fcntl(part, F_SETLK, &whole));
    is_made("lockf", lockf(part, F_TLOCK, 0));
    close(part);
}

/// What was there before a file was opened for writing alone, through its own descriptor.
void by_descriptors_names(const std::string& folder) {
    const auto path = folder + "/appended";
    std::ofstream(path) << "before";
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND);
    if (write(fd, ", after", 7) != 7) std::exit(1);
    for (const auto* const names : {"/proc/self/fd/", "/dev/fd/"})
        expect(names, contents_of(names + std::to_string(fd)), "before, after");
    close(fd);
    std::remove(path.c_str());
}

/// A library that keeps a program's data calls open() itself.
void by_zlib(const std::string& folder) {
    auto* const library = dlopen("libz.so.1", RTLD_NOW);
    if (library == nullptr) std::exit(1);
    const auto open_packed = reinterpret_cast<void* (*)(const char*, const char*)>(dlsym(library, "gzopen"));
    const auto put = reinterpret_cast<int (*)(void*, const char*)>(dlsym(library, "gzputs"));
    const auto get = reinterpret_cast<int (*)(void*, void*, unsigned)>(dlsym(library, "gzread"));
    const auto end = reinterpret_cast<int (*)(void*)>(dlsym(library, "gzclose"));
    const auto path = folder + "/packed";
    for (int i = 0; i < 3; ++i) {
        auto* const file = open_packed(path.c_str(), "ab");
        put(file, "packed ");
        end(file);
    }
    auto* const file = open_packed(path.c_str(), "rb");
    char found[64] = "";
    get(file, found, sizeof found - 1);
    end(file);
    expect("zlib", found, "packed packed packed ");
    std::remove(path.c_str());
}

/// Each call that changes names or metadata is made once: a second one would fail, or change what the first one has
/// left.
void by_all_forms(const std::string& folder) {
    const int at = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    const auto is_made = [](const char* what, int code) {
        expect(what, code == 0 ? "done" : std::strerror(errno), "done");
    };
    is_made("mkdirat", mkdirat(at, "at", 0777));
    const int inner = openat(at, "at", O_RDONLY | O_DIRECTORY);
    const int made = openat(inner, "file", O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (write(made, "by openat", 9) != 9) std::exit(1);
    is_made("close", close(made));
    expect("openat", contents_of(folder + "/at/file"), "by openat");
    is_made("renameat", renameat(inner, "file", inner, "other"));
    is_made("renameat2", renameat2(inner, "other", inner, "file", RENAME_NOREPLACE));
    is_made("linkat", linkat(inner, "file", inner, "linked", 0));
    is_made("symlinkat", symlinkat("file", inner, "named"));
    is_made("mkfifoat", mkfifoat(inner, "pipe", 0600));
    is_made("mknod", mknod((folder + "/at/node").c_str(), S_IFIFO | 0600, 0));
    is_made("unlinkat", unlinkat(inner, "pipe", 0));
    const timespec long_ago[2] = {{1000, 0}, {2000, 0}};
    is_made("utimensat", utimensat(inner, "file", long_ago, 0));
    struct stat facts{};
    is_made("fstatat", fstatat(inner, "file", &facts, 0));
    expect("its time", std::to_string(facts.st_mtim.tv_sec), "2000");
    is_made("chmod", chmod((folder + "/at/file").c_str(), 0600));
    is_made("fchmodat", fchmodat(inner, "linked", 0640, 0));
    // The number of links would tell who has made one more.
    is_made("stat", stat((folder + "/at/file").c_str(), &facts));
    expect("links and mode", std::to_string(facts.st_nlink) + " " + std::to_string(facts.st_mode & 0777),
           "2 " + std::to_string(0640));
    const int unnamed = open((folder + "/at").c_str(), O_TMPFILE | O_RDWR, 0644);
    if (write(unnamed, "without a name", 14) != 14) std::exit(1);
    const auto own = "/proc/self/fd/" + std::to_string(unnamed);
    is_made("linkat of O_TMPFILE", linkat(AT_FDCWD, own.c_str(), inner, "given", AT_SYMLINK_FOLLOW));
    is_made("its end", close(unnamed));
    expect("O_TMPFILE", contents_of(folder + "/at/given"), "without a name");
    auto chosen = folder + "/at/osXXXXXX";
    const int temporary = mkostemp(chosen.data(), O_CLOEXEC);
    if (write(temporary, "chosen", 6) != 6) std::exit(1);
    close(temporary);
    expect("mkostemp", contents_of(chosen), "chosen");
    // From file to file, through the kernel.
    const int from = open((folder + "/at/file").c_str(), O_RDONLY);
    const int to = open((folder + "/at/copy").c_str(), O_CREAT | O_RDWR, 0644);
    expect("copy_file_range", std::to_string(copy_file_range(from, nullptr, to, nullptr, 9, 0)), "9");
    off_t begin = 3;
    expect("sendfile", std::to_string(sendfile(to, from, &begin, 6)), "6");
    expect("their positions", std::to_string(lseek(to, 0, SEEK_CUR)) + " " + std::to_string(begin), "15 9");
    char back[16] = "";
    expect("what came there", pread(to, back, 15, 0) == 15 ? back : "nothing", "by openatopenat");
    close(from);
    close(to);
    std::filesystem::copy_file(folder + "/at/copy", folder + "/at/copied");
    expect("copy_file", contents_of(folder + "/at/copied"), "by openatopenat");
    glob_t names{};
    expect("glob", std::to_string(glob((folder + "/at/cop*").c_str(), 0, nullptr, &names) == 0 ? names.gl_pathc : 0),
           "2");
    globfree(&names);
    std::ofstream(folder + "/at/large") << std::string(1 << 20, 'l');
    is_made("nftw", nftw((folder + "/at").c_str(), count_bytes, 8, FTW_PHYS));
    expect("the bytes that it has found", std::to_string(found_bytes),
           std::to_string((1 << 20) + 9 + 9 + 14 + 6 + 15 + 15));
    close(inner);
    // Which removes what is in them, by folders' descriptors.
    expect("remove_all", std::to_string(std::filesystem::remove_all(folder + "/at")), "10");
    expect("the rest", std::to_string(std::filesystem::remove_all(folder + "/scratch")), "17");
    is_made("unlinkat of a link", unlinkat(at, "latest", 0));
    for (int i = 0; i < 16; ++i) (void)unlinkat(at, ("hardf" + std::to_string(i)).c_str(), 0);
    close(at);
}

} // namespace

int main(int, char** arguments) {
    const std::string folder = arguments[1];
    cl_platform_id platform = nullptr;
    cl_device_id devices[8] = {};
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
        return 1;
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    queue = clCreateCommandQueue(context, devices[0], 0, &code);

    int number = 0;
    if (std::scanf("%d", &number) != 1) return 1;
    expect("scanf", std::to_string(number), "42");
    std::string word;
    std::cin >> word;
    expect("cin", word, "words");
    std::getline(std::cin, word);
    std::getline(std::cin, word);
    expect("getline", word, "a whole line");
    expect("end", std::to_string(std::getchar()), std::to_string(EOF));

    expect("mkdir", std::to_string(mkdir(folder.c_str(), 0777)), "0");
    expect("mkdir again", std::strerror(mkdir(folder.c_str(), 0777) == 0 ? 0 : errno), std::strerror(EEXIST));
    write_by_stdio(folder + "/stdio");
    std::ofstream(folder + "/stream") << "by a stream\n" << std::flush;
    expect("ofstream", contents_of(folder + "/stream"), "by a stream\n");
    const int fd = open((folder + "/descriptor").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (write(fd, "bytes", 5) != 5) return 1;
    close(fd);
    expect("open", contents_of(folder + "/descriptor"), "bytes");
    expect("open again", std::to_string(open((folder + "/descriptor").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644)),
           "-1");
    expect("rename", std::to_string(std::rename((folder + "/stream").c_str(), (folder + "/renamed").c_str())), "0");
    expect("remove", std::to_string(std::remove((folder + "/descriptor").c_str())), "0");
    const int there = open((folder + "/stdio").c_str(), O_RDONLY | O_CREAT, 0644);
    char seen[14] = "";
    expect("read of what was created before", read(there, seen, 13) == 13 ? seen : "nothing", "one TWO three");
    close(there);
    const auto long_name = folder + "/" + std::string(250, 'n');
    std::ofstream(long_name) << "long";
    expect("a long name", contents_of(long_name), "long");
    expect("its removal", std::to_string(unlink(long_name.c_str())), "0");
    auto temporary = folder + "/tempXXXXXX";
    const int made = mkstemp(temporary.data());
    if (write(made, "temporary", 9) != 9) return 1;
    close(made);
    expect("the name of a temporary file", temporary, temporary); // which all ranks tell
    expect("a temporary file", contents_of(temporary), "temporary");
    expect("its removal", std::to_string(unlink(temporary.c_str())), "0");
    auto inner = folder + "/innerXXXXXX";
    expect("a temporary folder", mkdtemp(inner.data()) == nullptr ? "none" : inner, inner);
    expect("its removal", std::to_string(rmdir(inner.c_str())), "0");
    expect("no folder", std::fopen((folder + "/no/such").c_str(), "w") == nullptr ? "none" : "one", "none");
    if (std::freopen((folder + "/stdio").c_str(), "r", stdin) == nullptr) return 1;
    char first[8] = "";
    expect("another file as standard input", std::scanf("%7s", first) == 1 ? first : "nothing", "one");
    std::cin >> word;
    expect("and as cin", word, "TWO");
    std::size_t sizes = 0;
    for (std::size_t size = 1; size <= 64; ++size) { // rank 0 is seldom the first one
        std::ofstream(folder + "/sized") << std::string(size << 12, 's');
        struct stat facts{};
        if (stat((folder + "/sized").c_str(), &facts) == 0) sizes += static_cast<std::size_t>(facts.st_size >> 12);
        std::ofstream(folder + "/sized") << std::string(size << 12, 's') << std::flush;
        sizes += std::filesystem::file_size(folder + "/sized") >> 12;
    }
    expect("sizes of what was written", std::to_string(sizes), std::to_string(64 * 65));
    expect("a shorter file", std::to_string(truncate((folder + "/sized").c_str(), 3)), "0");
    expect("access", std::to_string(access((folder + "/sized").c_str(), R_OK)), "0");
    expect("link", std::to_string(link((folder + "/sized").c_str(), (folder + "/linked").c_str())), "0");
    expect("symlink", std::to_string(symlink("linked", (folder + "/named").c_str())), "0");
    expect("through both", contents_of(folder + "/named"), "sss");
    expect("mkfifo", std::to_string(mkfifo((folder + "/pipe").c_str(), 0600)), "0");
    for (const auto* const name : {"/sized", "/linked", "/named", "/pipe"}) std::remove((folder + name).c_str());
    auto* const again = std::fopen((folder + "/stdio").c_str(), "r");
    expect("reopened in no folder", std::freopen((folder + "/no/such").c_str(), "w", again) == nullptr ? "none" : "one",
           "none");
    std::fclose(again); // the C library keeps it
    const auto gone = folder + "/gone";
    if (mkdir(gone.c_str(), 0777) != 0 || chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) return 1;
    expect("a question in a folder that is gone", std::to_string(access("any", R_OK)), "-1");
    if (chdir(folder.c_str()) != 0) return 1;
    // Not by their names, against which the linker warns.
    const auto choose = [](const char* function, char* room) {
        return std::string(reinterpret_cast<char* (*)(char*)>(dlsym(RTLD_DEFAULT, function))(room));
    };
    auto free_name = folder + "/freeXXXXXX";
    expect("mktemp", choose("mktemp", free_name.data()), free_name); // which all ranks tell
    const auto other_name = choose("tmpnam", nullptr);
    expect("tmpnam", other_name, other_name);
    by_other_names(folder);
    by_descriptors(folder);
    by_descriptors_names(folder);
    by_zlib(folder);
    by_all_forms(folder);
    at_end.path = folder + "/late";
    std::printf("%d right\n", right);
    std::fflush(stdout);
    if (std::freopen((folder + "/log").c_str(), "a", stdout) == nullptr) return 1;
    std::puts("logged");
    return 0;
}
