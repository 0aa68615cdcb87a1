// SPDX-License-Identifier: Apache-2.0
// Temporary files, streams, descriptors and pipes for tests.
#include "support/files.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace support {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// Keeps SIGPIPE from the calling thread; swallows one that its own writes raised.
class no_sigpipe {
  public:
    no_sigpipe() {
        sigemptyset(&m_sigpipe);
        sigaddset(&m_sigpipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &m_sigpipe, &m_before);
    }
    no_sigpipe(const no_sigpipe&) = delete;
    no_sigpipe& operator=(const no_sigpipe&) = delete;
    ~no_sigpipe() {
        const timespec at_once{};
        sigtimedwait(&m_sigpipe, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }

  private:
    sigset_t m_sigpipe{};
    sigset_t m_before{};
};

} // namespace

temporary_folder::temporary_folder() {
    const char* root = std::getenv("TMPDIR");
    std::string name = std::string(root != nullptr ? root : "/tmp") + "/causeway-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw_errno("making " + name);
    }
    m_path = name;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

void descriptor::close() {
    if (m_fd >= 0) {
        ::close(std::exchange(m_fd, -1));
    }
}

stream open_stream(const std::string& path, const char* mode) {
    stream opened(std::fopen(path.c_str(), mode));
    if (!opened) {
        throw_errno("opening " + path);
    }
    return opened;
}

stream open_stream(descriptor end, const char* mode) {
    stream opened(fdopen(end.get(), mode));
    if (!opened) {
        throw_errno("fdopen");
    }
    static_cast<void>(end.give_up());
    return opened;
}

descriptor open_descriptor(const std::string& path, int flags) {
    descriptor opened(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    if (opened.get() < 0) {
        throw_errno("opening " + path);
    }
    return opened;
}

connected_pair make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw_errno("pipe2");
    }
    return {descriptor(ends[0]), descriptor(ends[1])};
}

void write_file(const std::string& path, const bytes& contents) {
    const descriptor file = open_descriptor(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!write_all(file.get(), contents)) {
        throw_errno("writing " + path);
    }
}

bytes file_contents(const std::string& path) {
    const descriptor file = open_descriptor(path, O_RDONLY);
    struct stat status{};
    if (fstat(file.get(), &status) != 0) {
        throw_errno("fstat " + path);
    }
    return read_all(file.get(), static_cast<std::size_t>(status.st_size));
}

bytes file_contents(const std::string& path, std::int64_t offset, std::size_t size) {
    const descriptor file = open_descriptor(path, O_RDONLY);
    if (lseek(file.get(), offset, SEEK_SET) != offset) {
        throw_errno("lseek " + path);
    }
    return read_all(file.get(), size);
}

bool write_all(int fd, const bytes& contents) {
    const no_sigpipe guard;
    for (std::size_t done = 0; done < contents.size();) {
        const ssize_t moved = ::write(fd, contents.data() + done, contents.size() - done);
        if (moved < 0 && errno != EINTR) {
            return false;
        }
        done += moved > 0 ? static_cast<std::size_t>(moved) : 0;
    }
    return true;
}

bytes read_all(int fd, std::size_t size) {
    bytes result(size);
    std::size_t done = 0;
    while (done < size) {
        const ssize_t moved = ::read(fd, result.data() + done, size - done);
        if (moved == 0 || (moved < 0 && errno != EINTR)) {
            break;
        }
        done += moved > 0 ? static_cast<std::size_t>(moved) : 0;
    }
    result.resize(done);
    return result;
}

twin_streams::twin_streams(const bytes& contents, const char* mode) {
    write_file(transferred_path(), contents);
    write_file(reference_path(), contents);
    m_transferred = open_stream(transferred_path(), mode);
    m_reference = open_stream(reference_path(), mode);
}

testing::AssertionResult twin_streams::agree() const {
    if (ftello(transferred()) != ftello(reference())) {
        return testing::AssertionFailure()
               << "the position is " << ftello(transferred()) << ", stdio's would be " << ftello(reference());
    }
    if ((std::feof(transferred()) != 0) != (std::feof(reference()) != 0)) {
        return testing::AssertionFailure()
               << "feof is " << std::feof(transferred()) << ", stdio's would be " << std::feof(reference());
    }
    on_both([](std::FILE* file) { std::fflush(file); });
    const auto contents = same_bytes(file_contents(reference_path()), file_contents(transferred_path()));
    return contents ? contents : testing::AssertionFailure() << "the file's contents: " << contents.message();
}

} // namespace support
