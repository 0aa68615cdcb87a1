// SPDX-License-Identifier: Apache-2.0
// Files and progress of the applications, implemented.
#include "common/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace apps {

file open_file(const std::string& path, const char* mode) {
    const bool standard = path == "-";
    file opened(standard ? fdopen(dup(*mode == 'r' ? STDIN_FILENO : STDOUT_FILENO), mode)
                         : std::fopen(path.c_str(), mode));
    if (!opened) throw std::runtime_error("cannot open " + path);
    // A pipe's usual 64 KiB are soon full and soon empty. What is no pipe refuses.
    (void)fcntl(fileno(opened.get()), F_SETPIPE_SZ, 1 << 20);
    return opened;
}

class progress_line::repeater {
  public:
    repeater(progress_line& line, std::function<std::string()> text)
        : m_thread([this, &line, text = std::move(text)] {
              std::unique_lock lock(m_mutex);
              while (!m_changed.wait_for(lock, std::chrono::milliseconds(500), [this] { return m_ended; }))
                  line.show(text());
          }) {}
    ~repeater() {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

  private:
    std::mutex m_mutex; // guards m_ended
    std::condition_variable m_changed;
    bool m_ended = false;
    std::thread m_thread; // last: it uses the others
};

progress_line::progress_line(when shown) : m_shown(shown == when::always || isatty(STDERR_FILENO) != 0) {}

progress_line::~progress_line() {
    m_repeater.reset();
    show("");
    if (m_shown) std::fputc('\r', stderr);
}

void progress_line::show(const std::string& text) {
    if (m_shown) std::fprintf(stderr, "\r%-60s", text.c_str());
}

void progress_line::repeat(std::function<std::string()> text) {
    if (m_shown) m_repeater = std::make_unique<repeater>(*this, std::move(text));
}

} // namespace apps
