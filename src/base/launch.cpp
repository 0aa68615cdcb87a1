// SPDX-License-Identifier: Apache-2.0
// Looks the variables up, those of the innermost launcher first: mpirun in a Slurm job sees Slurm's, too.
#include "base/launch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>

namespace causeway::launch {

namespace {

std::optional<std::string> first_of(std::initializer_list<const char*> variables) {
    for (const char* const name : variables)
        if (const char* const value = std::getenv(name)) return value;
    return {};
}

std::optional<int> number_of(std::initializer_list<const char*> variables) {
    const auto text = first_of(variables);
    return text ? std::optional(std::atoi(text->c_str())) : std::nullopt;
}

/// Slurm says SLURM_PROCID=0 to a batch script and to the shell of salloc, too. Those are in no step or in one with a
/// number above all that srun gives (SLURM_MAX_NORMAL_STEP_ID in slurm.h); some versions print it as a negative one.
bool is_task_of_slurm() {
    constexpr long long numbers_end = 0xfffffff0;
    const char* const text = std::getenv("SLURM_STEP_ID");
    if (text == nullptr) return false;
    const auto number = std::atoll(text);
    return number >= 0 && number < numbers_end;
}

/// Slurm's "2(x3),1": two tasks on each of three nodes, and one on the fourth. None if it does not say so for the node.
std::optional<int> tasks_of_node(const std::string& list, int node) {
    std::istringstream nodes(list);
    for (std::string each; node >= 0 && std::getline(nodes, each, ',');) {
        const auto times = each.find("(x");
        node -= times == std::string::npos ? 1 : std::atoi(each.c_str() + times + 2);
        if (node < 0) return std::atoi(each.c_str());
    }
    return {};
}

std::optional<int> local_ranks_of_slurm() {
    // srun hands on what the allocation has in the second.
    const auto list = first_of({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
    const auto node = number_of({"SLURM_NODEID"});
    return is_task_of_slurm() && list && node ? tasks_of_node(*list, *node) : std::nullopt;
}

std::optional<std::string> told_job() {
    if (auto told = first_of({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "PMI_PORT"})) return told;
    // An allocation may have several steps at once.
    auto told = first_of({"SLURM_JOB_ID"});
    if (told && is_task_of_slurm()) told->append(".").append(*first_of({"SLURM_STEP_ID"}));
    return told;
}

/// The process that has made the socket.
std::optional<pid_t> other_end_of(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return {};
    return peer.pid;
}

} // namespace

std::optional<int> rank() {
    if (const auto told = number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})) return told;
    return is_task_of_slurm() ? number_of({"SLURM_PROCID"}) : std::nullopt;
}

int ranks() {
    if (const auto told = number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})) return *told;
    return is_task_of_slurm() ? number_of({"SLURM_STEP_NUM_TASKS"}).value_or(1) : 1;
}

std::optional<int> local_rank() {
    if (const auto told = number_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK"})) return told;
    return is_task_of_slurm() ? number_of({"SLURM_LOCALID"}) : std::nullopt;
}

int local_ranks() {
    if (const auto told = number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"})) return *told;
    return local_ranks_of_slurm().value_or(1);
}

std::string job() {
    if (const auto told = told_job()) return *told;
    // Of MPICH's launcher each rank has a socket, also behind a script, which is another process for each rank.
    const auto launcher = other_end_of(number_of({"PMI_FD"}).value_or(-1));
    // Launchers start all ranks of a node from one process.
    return std::string("launcher-").append(std::to_string(launcher.value_or(::getppid())));
}

bool is_job_told() { return told_job().has_value(); }

} // namespace causeway::launch
