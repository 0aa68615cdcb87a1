// SPDX-License-Identifier: Apache-2.0
// Options of `causeway run`: starts a program on ranks, under the launcher that is there.
#include "run/command.hpp"

#include "beside.hpp"
#include "launched.hpp"
#include "launcher.hpp"
#include "platform_folder.hpp"
#include "vendors.hpp"
#include "words.hpp"

#include <causeway/causeway.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

extern "C" char** environ;

namespace run {

namespace {

using causeway_tool::launcher;
using causeway_tool::usage_error;

const char* const teaching =
    R"(Starts PROGRAM on several ranks. In a Slurm job (in a script of sbatch, or a shell of salloc) srun starts them,
by default one for each task of the job. Elsewhere the mpirun of the MPI that Causeway is linked with does, by default
one. Where Slurm's MpiDefault is none, srun gets the interface that this MPI needs (PMIx, PMI-2 for MPICH); where
Slurm lacks it, mpirun starts the ranks. On one machine there may be more ranks than processors, and no rank is bound
to one. Open MPI's mpirun is allowed to run as root, as in many containers. The variables of Causeway and OpenCL go to
all ranks.

Examples:
  causeway run -n 4 ./program                 four ranks here
  causeway run ./program                      in a Slurm job: all of its tasks
  causeway run -n 4 --dry-run ./program       only print the command
  causeway run -n 2 -- causeway perf --quick  a program with options of its own, behind --
  causeway trace -- causeway run -n 4 ./program
  causeway run --cluster -n 4 ./program       a program without MPI, with the devices of all ranks as its own
  srun causeway run --cluster ./program       the same in ranks that somebody else has started

Exit status: that of PROGRAM; 127 if there is none, 126 if it cannot be executed, 1 if its start fails otherwise,
2 for wrong arguments.)";

struct arguments {
    std::optional<unsigned> ranks;
    bool dry = false, cluster = false;
    std::vector<std::string> launcher_options;
};

using variable = std::pair<std::string, std::string>;

bool goes_to_all_ranks(const std::string& name, bool cluster) {
    for (const char* const prefix :
         {"CAUSEWAY_", "OCL_ICD_", "OPENCL_", "POCL_", "HWLOC_COMPONENTS", "LD_LIBRARY_PATH", "LD_PRELOAD"})
        if (name.starts_with(prefix)) return true;
    if (!cluster) return false;
    // What programs do by: it has to be the same on all nodes.
    for (const char* const prefix :
         {"_CAUSEWAY_", "TERM", "COLUMNS", "LINES", "LANG", "LC_", "TZ", "PYTHON", "PYOPENCL_", "OMP_"})
        if (name.starts_with(prefix)) return true;
    return false;
}

/// Whether a file of settings has a line that begins with `name`, or, without a name, any line but comments.
bool says(const std::filesystem::path& file, std::string_view name) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const auto begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || line[begin] == '#') continue;
        if (std::string_view(line).substr(begin).starts_with(name)) return true;
    }
    return false;
}

/// Whether the ranks are all on this machine, which has no network of the kind that Open MPI has other carriers for.
bool is_plain_machine(const arguments& typed) {
    if (!typed.launcher_options.empty()) return false; // they may name hosts
    for (const char* const job : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "OMPI_MCA_orte_default_hostfile"})
        if (std::getenv(job) != nullptr) return false;
    const char* const home = std::getenv("HOME");
    if (home != nullptr && says(std::filesystem::path(home) / ".openmpi/mca-params.conf", "pml")) return false;
    if (says("/etc/openmpi/openmpi-default-hostfile", "")) return false;
    std::error_code none;
    for (const char* const network : {"/sys/class/infiniband", "/sys/class/cxi", "/dev/hfi1_0", "/dev/ipath"})
        if (std::filesystem::exists(network, none)) return false;
    return true;
}

/// What is not set yet, and should be.
std::vector<variable> settings_for(const launcher& by, const arguments& typed) {
    std::vector<variable> all;
    // hwloc's plugins ask every OpenCL platform, and ten X displays, inside MPI_Init.
    all.emplace_back("HWLOC_COMPONENTS", "-opencl,-gl");
    if (by.what == launcher::kind::open_mpi && geteuid() == 0) {
        all.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
        all.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // What it would choose. It looks for the others' networks first, for half of MPI_Init (4.1.4: 0.1 to 0.2 s).
    if (by.what == launcher::kind::open_mpi && is_plain_machine(typed)) all.emplace_back("OMPI_MCA_pml", "ob1");
    std::erase_if(all, [](const variable& each) { return std::getenv(each.first.c_str()) != nullptr; });
    return all;
}

/// What -n gets: what was typed, else the tasks of the Slurm job, else one, which srun is left to decide.
std::optional<std::string> rank_count(const launcher& by, const arguments& typed) {
    if (typed.ranks) return std::to_string(*typed.ranks);
    if (const char* const tasks = std::getenv("SLURM_NTASKS")) return tasks;
    return by.what == launcher::kind::slurm ? std::nullopt : std::optional<std::string>("1");
}

std::vector<std::string> command_for(const launcher& by, const arguments& typed,
                                     const std::vector<std::string>& program) {
    std::vector<std::string> words{by.path};
    // A job without a number of tasks has nodes: srun knows how many ranks that is.
    if (const auto ranks = rank_count(by, typed)) words.insert(words.end(), {"-n", *ranks});
    // `sbatch --export=NONE` goes on in its script's srun, and would keep what is set from the ranks. Where a rank
    // fails, the others may wait for it: they end, as they do under mpirun.
    if (by.what == launcher::kind::slurm) words.insert(words.end(), {"--export=ALL", "--kill-on-bad-exit=1"});
    if (by.what == launcher::kind::open_mpi) {
        // Ranks have threads of their own, the engine's and the device's: neither slots nor bindings fit them.
        words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
        for (char** each = environ; *each != nullptr; ++each) {
            const std::string name(*each, static_cast<std::size_t>(std::strchr(*each, '=') - *each));
            if (goes_to_all_ranks(name, typed.cluster)) words.insert(words.end(), {"-x", name});
        }
    }
    words.insert(words.end(), by.options.begin(), by.options.end());
    words.insert(words.end(), typed.launcher_options.begin(), typed.launcher_options.end());
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

/// A rank of a cluster becomes the program, which finds the platform Causeway alone. That one looks for drivers where
/// the loader would have looked.
[[noreturn]] void become(const std::vector<std::string>& program) {
    for (const auto& [name, value] : causeway_tool::environment_of_platform_alone())
        value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    setenv("CAUSEWAY_CLUSTER", "1", 1);
    const char* const loaded = std::getenv("LD_PRELOAD");
    const auto preload = causeway_tool::library_file("causeway/libcauseway_run.so");
    setenv("LD_PRELOAD", (preload + (loaded == nullptr ? "" : std::string(":") + loaded)).c_str(), 1);
    // Which rank comes first is chance, and the others would not write their own.
    setenv("PYTHONDONTWRITEBYTECODE", "1", 0);
    // The rank that comes first would build, and the others find what it has left.
    setenv("PYOPENCL_NO_CACHE", "1", 0);
    setenv("LOOPY_NO_CACHE", "1", 0);
    // Each process has an order of its own for sets.
    setenv("PYTHONHASHSEED", "0", 0);
    // All ranks print the same. Launchers give all of them terminals, or none: the others go on to believe that they
    // have one.
    if (!causeway_tool::is_first_rank()) {
        winsize size{};
        if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
            setenv("_CAUSEWAY_TERMINAL", (std::to_string(size.ws_row) + " " + std::to_string(size.ws_col)).c_str(), 1);
        if (std::freopen("/dev/null", "w", stdout) == nullptr)
            throw std::runtime_error(std::string("cannot open /dev/null: ") + std::strerror(errno));
    }
    causeway_tool::become(program);
}

/// Each rank sets its own environment: launchers do not take all of it to other nodes.
std::vector<std::string> as_rank_of_cluster(const std::vector<std::string>& program) {
    std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe").string(), "run", "--cluster", "--"};
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

/// For what ranks ask before they know each other.
std::string chance_of_job() {
    std::random_device device;
    std::string text;
    for (int i = 0; i < 8; ++i) text += std::to_string(device()) + ".";
    return text;
}

std::string in_quotes(const std::string& word) {
    if (!word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string::npos) return word;
    std::string text = "'";
    for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
}

int start(const arguments& typed, const std::vector<std::string>& program) {
    if (program.empty()) throw usage_error("run: no program; for example: causeway run -n 2 ./program");
    if (typed.ranks == 0u) throw usage_error("run: -n 0: a program needs at least one rank");
    if (causeway_tool::launched_rank()) {
        if (typed.cluster) become(program);
        throw usage_error("run: this is a rank of a job already; start causeway run without mpirun or srun");
    }
    const auto found = causeway_tool::find_launcher();
    if (!found)
        throw std::runtime_error(
            "no launcher of " + causeway_tool::mpi_name() +
            " is on the path: install it (Debian: openmpi-bin, or mpich), add its folder to PATH, or "
            "load its module; a program of one rank runs without");
    const auto settings = settings_for(*found, typed);
    std::string shown;
    for (const auto& [name, value] : settings) {
        shown += name + "=" + in_quotes(value) + " ";
        setenv(name.c_str(), value.c_str(), 1);
    }
    if (std::getenv("CAUSEWAY_TRACE") != nullptr) causeway_tool::name_job();
    if (typed.cluster) setenv("_CAUSEWAY_CHANCE", chance_of_job().c_str(), 1);
    const auto words = command_for(*found, typed, typed.cluster ? as_rank_of_cluster(program) : program);
    for (const auto& each : words) shown += in_quotes(each) + " ";
    shown.pop_back();
    if (typed.dry) {
        std::printf("%s\n", shown.c_str());
        return 0;
    }
    // A launcher's own answer says less, and ends with any number. Nodes of a Slurm job may have what this one has not,
    // and a word for the launcher may name another folder to start in.
    if (found->what != launcher::kind::slurm && typed.launcher_options.empty())
        if (const int refused = causeway_tool::refusal_to_start(program.front())) return refused;
    causeway_tool::become(words);
}

} // namespace

std::function<int(const std::vector<std::string>&)> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("run", "start a program on several ranks");
    command->footer(teaching);
    command->prefix_command();
    const auto typed = std::make_shared<arguments>();
    command
        ->add_option("-n,--ranks", typed->ranks,
                     "how many ranks, also -np as for mpirun (default: the tasks of the Slurm job, else 1)")
        ->type_name("N");
    command->add_flag("--cluster", typed->cluster, "show the program the devices of all ranks as its own");
    command->add_flag("--dry-run", typed->dry, "print the command, with what is set for it, and start nothing");
    command->add_option("--launcher-option", typed->launcher_options, "hand this word to the launcher; may be repeated")
        ->allow_extra_args(false)
        ->type_name("WORD");
    return [typed](const std::vector<std::string>& program) { return start(*typed, program); };
}

} // namespace run
