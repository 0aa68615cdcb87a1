// SPDX-License-Identifier: Apache-2.0
// What went wrong with a transfer: a status code of OpenCL or of ours, its cause and a sentence.
#pragma once

#include <stdexcept>
#include <string>

namespace causeway {

/// Status codes as the public headers define them; the C API checks that they agree.
namespace status {
inline constexpr int complete = 0;
inline constexpr int running = 1;
inline constexpr int submitted = 2;
inline constexpr int queued = 3;
inline constexpr int mem_object_allocation_failure = -4;
inline constexpr int out_of_resources = -5;
inline constexpr int out_of_host_memory = -6;
inline constexpr int mem_copy_overlap = -8;
inline constexpr int wait_list_failed = -14;
inline constexpr int invalid_value = -30;
inline constexpr int invalid_context = -34;
inline constexpr int invalid_command_queue = -36;
inline constexpr int invalid_mem_object = -38;
inline constexpr int invalid_event_wait_list = -57;
inline constexpr int invalid_event = -58;
inline constexpr int invalid_operation = -59;
inline constexpr int end_of_file = -31001;
inline constexpr int io_error = -31002;
inline constexpr int message_truncated = -31003;
inline constexpr int peer_failed = -31004;
inline constexpr int cancelled = -31005;
} // namespace status

/// A failure as data, for events and queries.
struct failure {
    int status = status::complete; ///< `complete` means that there is no failure
    int error_number = 0;          ///< errno behind it, or 0
    int mpi_error_class = 0;       ///< MPI error class behind it, or 0 (MPI_SUCCESS)
    std::string message;           ///< what failed, where, why

    explicit operator bool() const { return status != status::complete; }
};

/// A failure on its way to whoever turns it into a code: the C boundary or an event.
class transfer_error : public std::runtime_error {
  public:
    transfer_error(int status, const std::string& message, int error_number = 0, int mpi_error_class = 0)
        : std::runtime_error(message), m_status(status), m_error_number(error_number),
          m_mpi_error_class(mpi_error_class) {}
    explicit transfer_error(const failure& known)
        : transfer_error(known.status, known.message, known.error_number, known.mpi_error_class) {}

    [[nodiscard]] int code() const { return m_status; }
    [[nodiscard]] failure as_failure() const { return {m_status, m_error_number, m_mpi_error_class, what()}; }

  private:
    int m_status;
    int m_error_number;
    int m_mpi_error_class;
};

/// The failure behind the exception that is being handled. Call inside a catch block only.
[[nodiscard]] failure current_failure() noexcept;

/// "4 MiB": the count in its largest whole unit, for texts such as "reading 4 MiB at 12 MiB of input.dat".
[[nodiscard]] std::string bytes_text(unsigned long long bytes);

/// The text of an errno, safe for any thread.
[[nodiscard]] std::string errno_text(int error_number);

/// One line to standard error, in one write(2) so that threads do not mix theirs. For users who asked for it.
void tell_user(const std::string& text);

/// One line to standard error, once for each text. For what the user should know and no call can return.
void warn_once(const std::string& text);

} // namespace causeway
