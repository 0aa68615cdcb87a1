// SPDX-License-Identifier: Apache-2.0
// Workers that wait for the test, a step, and a file, for tests of file endpoints.
#pragma once

#include "base/error.hpp"
#include "transfer/workers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

/// Runs a job when the test says so.
struct patient_workers final : causeway::transfer::worker_pool {
    void run(const causeway::transfer::job_origin& from, work job, causeway::transfer::step& done) override {
        last_origin = from;
        jobs.emplace_back(std::move(job), &done);
    }
    void run_shared(const causeway::transfer::job_origin& from, work job, attempt here,
                    causeway::transfer::step& done) override {
        attempts.push_back(std::move(here));
        run(from, std::move(job), done);
    }
    void run_waiting(work job, causeway::transfer::step& done) override {
        jobs.emplace_back(std::move(job), &done);
        ++own_workers;
    }
    void finish_first() {
        auto [job, done] = std::move(jobs.front());
        jobs.erase(jobs.begin());
        done->finish(job());
    }
    std::vector<std::pair<work, causeway::transfer::step*>> jobs;
    std::vector<attempt> attempts; // of jobs that the engine shares
    causeway::transfer::job_origin last_origin;
    int own_workers = 0; ///< that were asked for
};

/// There are no threads to be had.
struct no_workers final : causeway::transfer::worker_pool {
    void run(const causeway::transfer::job_origin&, work job, causeway::transfer::step& done) override {
        ++asked;
        if (has_file_workers) {
            done.finish(job());
        } else {
            refuse(done);
        }
    }
    void run_waiting(work, causeway::transfer::step& done) override {
        ++asked;
        refuse(done);
    }
    bool has_file_workers = false; ///< made before there were none to be had
    int asked = 0;

  private:
    static void refuse(causeway::transfer::step& done) {
        done.finish({0, {causeway::status::out_of_resources, 0, 0, "no thread can be made"}});
    }
};

struct waiter final : causeway::transfer::step_owner {
    void step_finished() override { ++told; }
    causeway::transfer::step work{*this};
    int told = 0;
};

/// A file of which the file system is not known to be this machine's.
struct strange_file {
    strange_file() = default;
    ~strange_file() { ::close(fd); }
    strange_file(const strange_file&) = delete;
    strange_file& operator=(const strange_file&) = delete;
    int fd = ::open("/proc/self/comm", O_RDWR | O_CLOEXEC);
};

/// Without a name.
struct scratch_file {
    scratch_file() {
        const char* const folder = std::getenv("TMPDIR");
        std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/causeway-test-XXXXXX";
        fd = ::mkstemp(name.data());
        ::unlink(name.c_str());
    }
    ~scratch_file() { ::close(fd); }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    int fd;
};
