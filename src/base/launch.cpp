// SPDX-License-Identifier: Apache-2.0
// Looks the variables up, those of the innermost launcher first: mpirun in a Slurm job sees Slurm's, too.
#include "base/launch.hpp"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

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

/// Slurm says SLURM_PROCID=0 to a batch script and to the shell of salloc, too. Those are in no step or in one with a number
/// above all that srun gives (SLURM_MAX_NORMAL_STEP_ID in slurm.h); some versions print it as a negative one.
bool is_task_of_slurm() {
    constexpr long long numbers_end = 0xfffffff0;
    const char* const text = std::getenv("SLURM_STEP_ID");
    if (text == nullptr) return false;
    const auto number = std::atoll(text);
    return number >= 0 && number < numbers_end;
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

int local_ranks() { return number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"}).value_or(1); }

std::string job() {
    if (const auto told = first_of({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"})) return *told;
    // An allocation may have several steps at once.
    if (const auto told = first_of({"SLURM_JOB_ID"})) return *told + (is_task_of_slurm() ? "." + *first_of({"SLURM_STEP_ID"}) : "");
    // Launchers start all ranks of a node from one process.
    return std::to_string(::getppid());
}

} // namespace causeway::launch
