// SPDX-License-Identifier: Apache-2.0
// Transfers while no thread can be made: threadless_program <scenario> <device> <file>.
#include "plain_program.hpp"

#include <causeway/causeway.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

using namespace programs;

namespace {

std::atomic<bool> refuses{false};

/// As when RLIMIT_NPROC or the memory for stacks is used up.
class no_new_threads {
  public:
    no_new_threads() { refuses = true; }
    no_new_threads(const no_new_threads&) = delete;
    no_new_threads& operator=(const no_new_threads&) = delete;
    ~no_new_threads() { refuses = false; }
};

struct transfer {
    cl_event event = nullptr;
    ~transfer() {
        if (event != nullptr) {
            clReleaseEvent(event);
        }
    }
    [[nodiscard]] cl_int end() const {
        // NVIDIA's driver 580 returns success here for a failed user event.
        static_cast<void>(clWaitForEvents(1, &event));
        cl_int status = CL_QUEUED;
        check(clGetTransferInfo(event, CL_TRANSFER_STATUS, sizeof status, &status, nullptr), "clGetTransferInfo");
        return status;
    }
    [[nodiscard]] std::string text() const {
        char message[256] = "";
        clGetTransferInfo(event, CL_TRANSFER_ERROR_MESSAGE, sizeof message, message, nullptr);
        return message;
    }
};

void expect(bool holds, const std::string& what) {
    if (!holds) {
        give_up("expected that " + what + "; it", -1);
    }
}

void expect_out_of_threads(const transfer& done) {
    expect(done.end() == CL_OUT_OF_RESOURCES, "the transfer fails for want of a thread");
    expect(done.text().find("thread") != std::string::npos, "the message tells of the thread: " + done.text());
}

/// The device's own threads, and the engine's, are there after it.
void warm_up(const program& work) {
    check(clEnqueuePeerCopyBuffer(work.queue, work.buffer, work.queue, work.buffer, CL_TRUE, 0, size / 2, size / 2, 0,
                                  nullptr, nullptr),
          "clEnqueuePeerCopyBuffer");
    check(clFinish(work.queue), "clFinish");
}

void enqueue_file(const program& work, std::size_t bytes, transfer& done) {
    check(clEnqueueReadBufferToFile(work.queue, work.buffer, CL_FALSE, 0, bytes, work.fd, 0, 0, nullptr, &done.event),
          "clEnqueueReadBufferToFile");
}

void without_engine(const program& work) {
    check(clFinish(work.queue), "clFinish");
    for (int attempt = 0; attempt < 2; ++attempt) {
        const no_new_threads now;
        cl_event event = nullptr;
        expect(clEnqueueReadBufferToFile(work.queue, work.buffer, CL_TRUE, 0, size, work.fd, 0, 0, nullptr, &event) ==
                   CL_OUT_OF_RESOURCES,
               "a call without an engine is refused");
        expect(event == nullptr, "a refused call sets no event");
        const std::string text = causeway_error_last_message();
        expect(text.find("thread") != std::string::npos, "the message tells of the thread: " + text);
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        expect(sigismember(&blocked, SIGINT) == 0, "the caller still takes signals");
    }
}

void without_file_worker(const program& work) {
    warm_up(work);
    const no_new_threads now;
    transfer failed;
    enqueue_file(work, size, failed);
    expect_out_of_threads(failed);
}

void with_one_file_worker(const program& work) {
    transfer first;
    enqueue_file(work, 1, first);
    expect(first.end() == CL_COMPLETE, "the first transfer completes");
    const no_new_threads now;
    transfer second;
    enqueue_file(work, size, second);
    expect(second.end() == CL_COMPLETE, "the worker that there is does the work: " + second.text());
}

void without_stream_worker(const program& work) {
    warm_up(work);
    int ends[2];
    if (pipe(ends) != 0) {
        give_up("pipe", -1);
    }
    const unsigned char sent[] = {1, 2, 3};
    expect(write(ends[1], sent, sizeof sent) == sizeof sent, "a pipe takes three bytes");
    std::FILE* const pipe_end = fdopen(ends[0], "r");
    const auto enqueue = [&](transfer& done) {
        check(clEnqueueWriteBufferFromStdioFile(work.queue, work.buffer, CL_FALSE, 0, sizeof sent, pipe_end, 0, nullptr,
                                                &done.event),
              "clEnqueueWriteBufferFromStdioFile");
    };
    {
        const no_new_threads now;
        transfer failed;
        enqueue(failed);
        expect_out_of_threads(failed);
    }
    transfer next;
    enqueue(next);
    expect(next.end() == CL_COMPLETE, "the stream has lost nothing: " + next.text());
    // What this scenario leaves in the file is as in the others.
    const unsigned char value = 0x5a;
    check(clEnqueueFillBuffer(work.queue, work.buffer, &value, 1, 0, size, 0, nullptr, nullptr), "clEnqueueFillBuffer");
}

} // namespace

/// Stands before the C library's, for this program and the libraries that it uses.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                                                                     void* (*start)(void*), void* argument) {
    if (refuses) return EAGAIN;
    static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return real(thread, how, start, argument);
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: threadless_program <scenario> <device> <file>\n", stderr);
        return 98;
    }
    const std::string_view scenario = argv[1];
    const program work(find_device(std::strtoul(argv[2], nullptr, 10)), argv[3]);
    if (scenario == "engine") {
        without_engine(work);
    } else if (scenario == "file_worker") {
        without_file_worker(work);
    } else if (scenario == "second_file_worker") {
        with_one_file_worker(work);
    } else if (scenario == "stream_worker") {
        without_stream_worker(work);
    } else {
        return 97;
    }
    // Whatever was refused, the next transfer finds all as it should be.
    transfer last;
    enqueue_file(work, size, last);
    expect(last.end() == CL_COMPLETE, "the last transfer completes: " + last.text());
    return 7;
}
