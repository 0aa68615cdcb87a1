// SPDX-License-Identifier: Apache-2.0
// Looks for launchers, and asks them which MPI they are of.
#include "launcher.hpp"

#include <mpi.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>

namespace causeway_tool {

namespace {

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> from(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 512> some{};
    while (from && std::fgets(some.data(), some.size(), from.get()) != nullptr) text += some.data();
    return text;
}

bool is_open_mpi(const std::string& text) {
    return text.find("Open MPI") != std::string::npos || text.find("OpenRTE") != std::string::npos ||
           text.find("open-mpi") != std::string::npos;
}

/// srun with the interface by which ranks of this MPI find each other. Where the site has set none, srun would start
/// ranks that do not, though Slurm has one: PMIx for Open MPI, PMI-2 for MPICH. None if it has not.
std::optional<launcher> slurm_launcher(const std::string& srun, bool open_mpi) {
    launcher as_set{launcher::kind::slurm, srun};
    if (std::getenv("SLURM_MPI_TYPE") != nullptr) return as_set;
    std::istringstream settings(output_of("scontrol show config 2>/dev/null"));
    for (std::string name, equals, value; settings >> name;) {
        if (name != "MpiDefault") continue;
        settings >> equals >> value;
        if (value != "none") return as_set;
        std::istringstream known(output_of("'" + srun + "' --mpi=list 2>&1"));
        const std::string wanted = open_mpi ? "pmix" : "pmi2";
        for (std::string each; known >> each;)
            if (each == wanted) return launcher{launcher::kind::slurm, srun, {"--mpi=" + wanted}};
        return {};
    }
    return as_set;
}

} // namespace

std::string mpi_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string name(text, std::size_t(length));
    return name.substr(0, name.find_first_of("\n\r,"));
}

std::string on_path(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto file = (folder.empty() ? "." : folder) + "/" + name;
        std::error_code none;
        if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, none)) return file;
    }
    return "";
}

std::optional<launcher> find_launcher() {
    const auto srun = on_path("srun");
    const bool wants_open_mpi = is_open_mpi(mpi_name());
    if (std::getenv("SLURM_JOB_ID") != nullptr && !srun.empty())
        if (auto found = slurm_launcher(srun, wants_open_mpi)) return found;
    for (const char* const name :
         {wants_open_mpi ? "mpirun.openmpi" : "mpirun.mpich", "mpirun", "mpiexec", "mpiexec.hydra"}) {
        const auto path = on_path(name);
        if (!path.empty() && is_open_mpi(output_of("'" + path + "' --version 2>&1")) == wants_open_mpi)
            return launcher{wants_open_mpi ? launcher::kind::open_mpi : launcher::kind::mpich, path};
    }
    return {};
}

} // namespace causeway_tool
