// SPDX-License-Identifier: Apache-2.0
// What launchers say in the environment.
#include "base/launch.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace launch = causeway::launch;

namespace {

const char* const all_variables[] = {"OMPI_COMM_WORLD_RANK",
                                     "OMPI_COMM_WORLD_SIZE",
                                     "OMPI_COMM_WORLD_LOCAL_RANK",
                                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                                     "PMIX_RANK",
                                     "PMIX_NAMESPACE",
                                     "OMPI_MCA_ess_base_jobid",
                                     "PMI_RANK",
                                     "PMI_SIZE",
                                     "PMI_JOBID",
                                     "PMI_FD",
                                     "PMI_PORT",
                                     "PMI_LOCAL_RANK",
                                     "PMI_LOCAL_SIZE",
                                     "MPI_LOCALRANKID",
                                     "MPI_LOCALNRANKS",
                                     "SLURM_PROCID",
                                     "SLURM_LOCALID",
                                     "SLURM_STEP_ID",
                                     "SLURM_STEP_NUM_TASKS",
                                     "SLURM_NTASKS",
                                     "SLURM_JOB_ID",
                                     "SLURM_NODEID",
                                     "SLURM_STEP_TASKS_PER_NODE",
                                     "SLURM_TASKS_PER_NODE"};

/// The environment has these variables of launchers, and no others; afterwards it is what it was.
class environment {
  public:
    explicit environment(const std::map<std::string, std::string>& given) {
        for (const auto* name : all_variables) {
            if (const char* const value = std::getenv(name)) m_before[name] = value;
            unsetenv(name);
        }
        for (const auto& [name, value] : given) setenv(name.c_str(), value.c_str(), 1);
    }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() {
        for (const auto* name : all_variables) unsetenv(name);
        for (const auto& [name, value] : m_before) setenv(name.c_str(), value.c_str(), 1);
    }

  private:
    std::map<std::string, std::string> m_before;
};

const std::map<std::string, std::string> batch_script = {
    {"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}};

std::map<std::string, std::string> in_batch_script(const std::map<std::string, std::string>& more) {
    auto all = more;
    all.insert(batch_script.begin(), batch_script.end());
    return all;
}

} // namespace

TEST(launch, says_nothing_where_nobody_launched) {
    const environment none({});
    EXPECT_EQ(launch::rank(), std::nullopt);
    EXPECT_EQ(launch::ranks(), 1);
    EXPECT_EQ(launch::local_rank(), std::nullopt);
    EXPECT_EQ(launch::local_ranks(), 1);
}

TEST(launch, takes_the_word_of_mpirun) {
    const environment open_mpi({{"OMPI_COMM_WORLD_RANK", "3"},
                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                {"PMIX_RANK", "3"},
                                {"PMIX_NAMESPACE", "12345"}});
    EXPECT_EQ(launch::rank(), 3);
    EXPECT_EQ(launch::ranks(), 4);
    EXPECT_EQ(launch::local_rank(), 1);
    EXPECT_EQ(launch::local_ranks(), 2);
    EXPECT_EQ(launch::job(), "12345");
}

TEST(launch, knows_a_job_of_mpich_by_its_socket_to_the_launcher) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    const environment mpich({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_FD", std::to_string(ends[1])}});
    const auto launcher = "launcher-" + std::to_string(getpid());
    EXPECT_EQ(launch::job(), launcher);
    EXPECT_FALSE(launch::is_job_told());
    // As a script's child, of which this process is not the parent.
    const auto script = fork();
    if (script == 0) {
        const auto rank = fork();
        if (rank == 0) _exit(launch::job() == launcher ? 0 : 1);
        int status = 0;
        waitpid(rank, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    int status = 1;
    waitpid(script, &status, 0);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(status, 0) << "a script between launcher and rank makes another job";
    EXPECT_EQ(launch::job(), "launcher-" + std::to_string(getppid())) << "there is no socket any more";
}

TEST(launch, knows_a_job_of_mpich_by_its_port) {
    const environment mpich({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_PORT", "host:4711"}});
    EXPECT_EQ(launch::job(), "host:4711");
    EXPECT_TRUE(launch::is_job_told());
}

TEST(launch, knows_a_task_of_a_slurm_step) {
    const environment task({{"SLURM_JOB_ID", "17"},
                            {"SLURM_STEP_ID", "2"},
                            {"SLURM_STEP_NUM_TASKS", "4"},
                            {"SLURM_NTASKS", "8"},
                            {"SLURM_PROCID", "3"},
                            {"SLURM_LOCALID", "1"}});
    EXPECT_EQ(launch::rank(), 3);
    EXPECT_EQ(launch::ranks(), 4);
    EXPECT_EQ(launch::local_rank(), 1);
    EXPECT_EQ(launch::job(), "17.2");
}

TEST(launch, counts_the_tasks_of_a_node_of_slurm) {
    const auto local_ranks = [](const char* variable, const char* list, const char* node) {
        const environment task(
            {{"SLURM_JOB_ID", "17"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NODEID", node}, {variable, list}});
        return launch::local_ranks();
    };
    const auto* const step = "SLURM_STEP_TASKS_PER_NODE";
    EXPECT_EQ(local_ranks(step, "2(x3),1", "0"), 2);
    EXPECT_EQ(local_ranks(step, "2(x3),1", "2"), 2);
    EXPECT_EQ(local_ranks(step, "2(x3),1", "3"), 1);
    EXPECT_EQ(local_ranks(step, "8", "0"), 8);
    EXPECT_EQ(local_ranks(step, "3,16(x2),4", "2"), 16);
    EXPECT_EQ(local_ranks("SLURM_TASKS_PER_NODE", "4(x2)", "1"), 4);
    // What is no such list, or has no such node, says nothing.
    EXPECT_EQ(local_ranks(step, "2(x3),1", "4"), 1);
    EXPECT_EQ(local_ranks(step, "2(x3),1", "-1"), 1);
    EXPECT_EQ(local_ranks(step, "", "0"), 1);
    EXPECT_EQ(local_ranks(step, "nonsense(x", "1"), 1);
}

TEST(launch, counts_those_of_a_step_before_those_of_its_allocation) {
    const environment task({{"SLURM_JOB_ID", "17"},
                            {"SLURM_STEP_ID", "0"},
                            {"SLURM_NODEID", "0"},
                            {"SLURM_TASKS_PER_NODE", "8"},
                            {"SLURM_STEP_TASKS_PER_NODE", "2"}});
    EXPECT_EQ(launch::local_ranks(), 2);
    const environment script({{"SLURM_JOB_ID", "17"}, {"SLURM_NODEID", "0"}, {"SLURM_TASKS_PER_NODE", "8"}});
    EXPECT_EQ(launch::local_ranks(), 1) << "a batch script is none of them";
}

TEST(launch, does_not_take_a_batch_script_for_a_rank) {
    const environment script(batch_script);
    EXPECT_EQ(launch::rank(), std::nullopt);
    EXPECT_EQ(launch::ranks(), 1);
    EXPECT_EQ(launch::local_rank(), std::nullopt);
    EXPECT_EQ(launch::job(), "17");
}

TEST(launch, does_not_take_the_steps_of_scripts_and_shells_for_those_of_ranks) {
    for (const char* const step : {"4294967291", "-5", "4294967290", "-6"}) {
        const environment shell(in_batch_script({{"SLURM_STEP_ID", step}, {"SLURM_STEP_NUM_TASKS", "8"}}));
        EXPECT_EQ(launch::rank(), std::nullopt) << step;
        EXPECT_EQ(launch::ranks(), 1) << step;
    }
}

TEST(launch, believes_mpirun_before_the_slurm_job_around_it) {
    const environment both(
        in_batch_script({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}));
    EXPECT_EQ(launch::rank(), 5);
    EXPECT_EQ(launch::ranks(), 6);
}
