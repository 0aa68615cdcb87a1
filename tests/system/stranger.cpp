// SPDX-License-Identifier: Apache-2.0
// A program for two ranks, and another user of the node who takes their guessable names first and pesters their
// sockets: no transfer fails, device windows stay in use, no descriptor gets to the stranger, and none of its stays
// with the ranks.
#include "device.hpp"

#include "base/launch.hpp"
#include "comm/local_socket.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

using namespace system_test;
using causeway::comm::abstract_address;

constexpr uid_t other_user = 65534;
enum verdict { left_alone = 0, cannot_attack = 1, has_received = 3 };

/// Of all sockets of the library that the kernel shows to every user.
std::vector<std::string> names_of_sockets() {
    std::vector<std::string> names;
    std::ifstream all("/proc/net/unix");
    for (std::string line; std::getline(all, line);)
        if (const auto at = line.find("@causeway"); at != std::string::npos) names.push_back(line.substr(at + 1));
    return names;
}

/// Sends what looks like a note of rank 0, with two descriptors, to that socket, of whatever type it is.
void pester(const std::string& name) {
    for (const int type : {SOCK_SEQPACKET, SOCK_DGRAM, SOCK_STREAM}) {
        const causeway::descriptor line(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        name.copy(where.sun_path + 1, sizeof where.sun_path - 1);
        if (::connect(line.get(), reinterpret_cast<sockaddr*>(&where),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) != 0)
            continue;
        std::array<char, 44> note{};
        iovec part{note.data(), note.size()};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> ancillary{};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = ancillary.data();
        header.msg_controllen = ancillary.size();
        auto* const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
        const int numbers[] = {STDERR_FILENO, STDERR_FILENO};
        std::memcpy(CMSG_DATA(rights), numbers, sizeof numbers);
        (void)::sendmsg(line.get(), &header, MSG_NOSIGNAL);
    }
}

/// Something has come to a socket that the stranger has bound.
bool has_come(int socket) {
    const causeway::descriptor line(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    char first = 0;
    return ::recv(line.get() >= 0 ? line.get() : socket, &first, 1, MSG_DONTWAIT) > 0;
}

/// Attacks until standard input ends. Says on standard output when it has begun.
int be_the_stranger(const std::string& job) {
    std::vector<abstract_address> wanted;
    for (int rank = 0; rank < 2; ++rank)
        for (const char* const use : {"causeway", "causeway-post"})
            wanted.emplace_back(use, job, rank); // while this is still the victim's number
    if (::setresgid(other_user, other_user, other_user) != 0 || ::setresuid(other_user, other_user, other_user) != 0)
        return cannot_attack;
    std::vector<causeway::descriptor> taken;
    for (const abstract_address& each : wanted)
        for (const int type : {SOCK_STREAM, SOCK_DGRAM}) { // a name is of both types at once
            causeway::descriptor made(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            if (::bind(made.get(), each.get(), each.length) != 0) continue;
            if (type == SOCK_STREAM) (void)::listen(made.get(), 64);
            taken.push_back(std::move(made));
        }
    std::vector<std::string> own_names;
    for (const abstract_address& each : wanted)
        own_names.emplace_back(each.name.sun_path + 1, each.length - offsetof(sockaddr_un, sun_path) - 1);
    if (taken.size() < wanted.size() || ::write(STDOUT_FILENO, "!", 1) != 1) return cannot_attack;
    bool received = false;
    pollfd end{STDIN_FILENO, POLLIN, 0};
    for (int round = 0; ::poll(&end, 1, 2) == 0; ++round) {
        for (const std::string& name : names_of_sockets())
            if (std::find(own_names.begin(), own_names.end(), name) == own_names.end()) pester(name);
        for (const causeway::descriptor& each : taken) received = received || has_come(each.get());
        if (round == 100) taken.clear(); // whoever had believed in them sees them go
    }
    return received ? has_received : left_alone;
}

class stranger {
  public:
    stranger() {
        int orders[2], answers[2];
        if (::pipe2(orders, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, orders[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, answers[1], STDOUT_FILENO);
        std::string program = "stranger", word = "--stranger", job = causeway::launch::job();
        std::array<char*, 4> arguments{program.data(), word.data(), job.data(), nullptr};
        if (::posix_spawn(&m_process, "/proc/self/exe", &files, nullptr, arguments.data(), environ) != 0)
            throw std::runtime_error("the stranger cannot be started");
        posix_spawn_file_actions_destroy(&files);
        ::close(orders[0]);
        ::close(answers[1]);
        m_orders = causeway::descriptor(orders[1]);
        char begun = 0;
        if (::read(answers[0], &begun, 1) != 1) std::puts("the stranger cannot attack");
        ::close(answers[0]);
    }
    [[nodiscard]] int end() {
        (void)m_orders.close();
        int status = 0;
        ::waitpid(m_process, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : cannot_attack;
    }

  private:
    pid_t m_process = -1;
    causeway::descriptor m_orders;
};

int open_descriptors() {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

} // namespace

int main(int argc, char** argv) {
    alarm(120);
    if (argc == 3 && std::string(argv[1]) == "--stranger") return be_the_stranger(argv[2]);
    if (::geteuid() != 0) {
        std::puts("skipped: only root can start a process of another user");
        return 77;
    }
    int provided = MPI_THREAD_SINGLE, rank = 0, ranks = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<stranger> strangers;
    if (rank == 0) strangers.emplace_back();
    MPI_Barrier(MPI_COMM_WORLD);

    bool good = ranks == 2;
    const rank_device own(rank);
    const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    constexpr std::size_t size = std::size_t{1} << 20;
    constexpr int rounds = 400;
    const buffer outgoing = own.make_buffer(pattern(rank, 1, size));
    const buffer incoming = own.make_buffer(size, 0);
    int before = 0, by_windows = 0;
    for (int round = 0; round < rounds && good; ++round) {
        event moved;
        const cl_int code = clEnqueueSendrecvBuffer(on.get(), outgoing.get(), incoming.get(), CL_TRUE, 0, size,
                                                    1 - rank, 5, 0, size, 1 - rank, 5, MPI_COMM_WORLD, 0, nullptr,
                                                    moved.out());
        if (code != CL_SUCCESS) {
            std::printf("rank %d: round %d gave %d: %s\n", rank, round, code,
                        transfer_text(moved.get(), CL_TRANSFER_ERROR_MESSAGE).c_str());
            good = false;
        }
        by_windows += transfer_text(moved.get(), CL_TRANSFER_STRATEGY) == "device-window";
        if (round == rounds / 4) before = open_descriptors();
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // so that the stranger gets on
    }
    if (own.read(incoming.get(), 0, size) != pattern(1 - rank, 1, size)) {
        std::printf("rank %d: the bytes are not the other rank's\n", rank);
        good = false;
    }
    if (by_windows < rounds / 2) {
        std::printf("rank %d: only %d of %d messages went by windows of devices\n", rank, by_windows, rounds);
        good = false;
    }
    constexpr int own_business = 8; // of MPI and the driver
    if (const int left = open_descriptors() - before; left > own_business) {
        std::printf("rank %d: %d descriptors more than before\n", rank, left);
        good = false;
    }
    if (rank == 0) {
        const int found = strangers.front().end();
        if (found != left_alone) {
            std::printf("the stranger %s\n", found == has_received ? "was sent something" : "could not attack");
            good = false;
        }
    }
    int all_good = good ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_good == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
