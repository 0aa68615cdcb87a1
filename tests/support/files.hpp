// SPDX-License-Identifier: Apache-2.0
// Temporary files, streams, descriptors and pipes that clean up after themselves.
#pragma once

#include "support/patterns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace support {

/// A new empty folder, removed with its files at the end.
class temporary_folder {
  public:
    temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder();

    /// The path of a file in the folder; nothing is created.
    [[nodiscard]] std::string path(const std::string& name) const { return m_path + "/" + name; }

  private:
    std::string m_path;
};

struct stream_closer {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using stream = std::unique_ptr<std::FILE, stream_closer>;

/// Owns a file descriptor.
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int adopted) : m_fd(adopted) {}
    descriptor(descriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    ~descriptor() { close(); }

    [[nodiscard]] int get() const { return m_fd; }
    [[nodiscard]] int give_up() { return std::exchange(m_fd, -1); }
    void close();

  private:
    int m_fd = -1;
};

struct connected_pair {
    descriptor reading;
    descriptor writing;
};

// All of these throw std::system_error where the system refuses.
[[nodiscard]] stream open_stream(const std::string& path, const char* mode);
[[nodiscard]] stream open_stream(descriptor end, const char* mode);
[[nodiscard]] descriptor open_descriptor(const std::string& path, int flags);
[[nodiscard]] connected_pair make_pipe();
void write_file(const std::string& path, const bytes& contents);
[[nodiscard]] bytes file_contents(const std::string& path);
[[nodiscard]] bytes file_contents(const std::string& path, std::int64_t offset, std::size_t size);

/// Writes everything; false if the other end is gone. Raises no SIGPIPE on sockets and pipes.
bool write_all(int fd, const bytes& contents);
/// Reads until `size` bytes are there or the other end has closed.
[[nodiscard]] bytes read_all(int fd, std::size_t size);

/// Two files with the same contents, opened alike: transfers use one, fread and fwrite the other.
class twin_streams {
  public:
    twin_streams(const bytes& contents, const char* mode);

    [[nodiscard]] std::FILE* transferred() const { return m_transferred.get(); }
    [[nodiscard]] std::FILE* reference() const { return m_reference.get(); }
    [[nodiscard]] std::string transferred_path() const { return m_folder.path("transferred"); }
    [[nodiscard]] std::string reference_path() const { return m_folder.path("reference"); }

    template <typename Action> void on_both(Action action) const {
        action(m_transferred.get());
        action(m_reference.get());
    }

    /// Same position, end-of-file flag and, after a flush of both, the same contents.
    [[nodiscard]] testing::AssertionResult agree() const;

  private:
    temporary_folder m_folder;
    stream m_transferred;
    stream m_reference;
};

} // namespace support
