// SPDX-License-Identifier: Apache-2.0
// The mistakes of the first day, each by what gives it away.
#include "info/checks.hpp"

#include "info/facts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace info {

namespace {

using nlohmann::json;

constexpr const char* pocl = "Portable Computing Language";
constexpr std::uint64_t little_locked_memory = std::uint64_t{256} << 20; // the default of the option staging

class finder {
  public:
    explicit finder(std::vector<problem>& into) : m_into(into) {}
    void stops(const std::string& what, const std::string& advice) { add({problem::weight::stops, what, advice}); }
    void slows(const std::string& what, const std::string& advice) { add({problem::weight::slows, what, advice}); }

  private:
    /// Ranks of one host have the same problems.
    void add(problem found) {
        if (m_known.insert(found.what).second) m_into.push_back(std::move(found));
    }
    std::vector<problem>& m_into;
    std::set<std::string> m_known;
};

void check_vendors(const json& rank, finder& found) {
    const auto& vendors = rank.at("vendors");
    const auto& files = vendors.at("files");
    const auto folder = vendors.at("folder").get<std::string>(), from = vendors.at("from").get<std::string>();
    const bool is_folder = vendors.at("kind") == "folder", is_library = vendors.at("kind") == "library";
    const auto said = from + " names " + folder;
    if (vendors.contains("missing") && from != "default")
        found.stops(said + ", which does not exist",
                    "unset it, so that /etc/OpenCL/vendors counts, or name a folder with .icd files");
    else if (is_folder && files.empty() && from != "default")
        found.stops(said + ", which has no .icd file",
                    "unset it, so that /etc/OpenCL/vendors counts, or put a file there that names the library of an "
                    "OpenCL implementation, for example pocl.icd");
    else if (is_library && !files.empty() && files[0].contains("error"))
        found.stops(
            said + ", which cannot be loaded as a library: " + files[0].at("error").get<std::string>(),
            "unset it, so that /etc/OpenCL/vendors counts, or name a folder with .icd files, one of these, or an "
            "OpenCL implementation's library");
    else if (is_folder && from == "OCL_ICD_VENDORS" && rank.at("platforms").empty() && !folder.ends_with('/'))
        found.slows(said + ", where the loader finds nothing",
                    "end it with a slash: some loaders take a folder for one only then (ocl-icd 2.3.2)");
    for (const auto& each : files)
        if (each.contains("error") && !is_library)
            found.slows(each.at("file").get<std::string>() +
                            " names a library that cannot be loaded: " + each.at("error").get<std::string>(),
                        "install that OpenCL implementation (again), or remove the file");
}

/// What CAUSEWAY_DEVICES asks for, and nothing here is.
void check_chosen_devices(const json& rank, finder& found) {
    const char* const given = std::getenv("CAUSEWAY_DEVICES");
    if (given == nullptr) return;
    const auto& files = rank.at("vendors").at("files");
    std::string names;
    for (const auto& each : files)
        names += (names.empty() ? "" : ", ") +
                 std::filesystem::path(each.at("file").get<std::string>()).filename().string();
    std::istringstream items(given);
    for (std::string item; std::getline(items, item, ',');) {
        const auto name = item.substr(0, item.find(':'));
        if (name.empty() || name == "cpu" || name == "gpu" || name == "accelerator") continue;
        if (std::any_of(files.begin(), files.end(), [&](const json& each) {
                const auto file = std::filesystem::path(each.at("file").get<std::string>()).filename().string();
                return file.find(name) != std::string::npos;
            }))
            continue;
        found.slows("CAUSEWAY_DEVICES names " + name +
                        ", and no driver here is called so: the platform Causeway has no "
                        "device for it",
                    "a name is part of the name of an .icd file" +
                        (names.empty() ? std::string() : "; there are " + names) + "; or cpu, gpu, accelerator");
    }
}

void check_devices(const json& rank, finder& found) {
    std::size_t usable = 0, single_threaded = 0;
    std::vector<std::string> empty;
    for (const auto& platform : rank.at("platforms")) {
        if (platform.at("devices").empty()) empty.push_back(platform.at("name").get<std::string>());
        for (const auto& device : platform.at("devices")) ++(device.at("user_events") ? usable : single_threaded);
    }
    if (single_threaded > 0) {
        const auto* const what = "PoCL's single-threaded device (basic, cpu-minimal) cannot wait for user events, so "
                                 "no transfer can be ordered on it";
        const auto* const advice = "set POCL_DEVICES=pthread, or cpu with PoCL 4 or later";
        usable > 0 ? found.slows(what, advice) : found.stops(what, advice);
    }
    if (usable + single_threaded > 0) return;
    // Where others have devices, one for hardware that is not there is nothing to speak of.
    for (const auto& name : empty)
        found.stops("the OpenCL platform " + name + " has no device on " + rank.at("host").get<std::string>(),
                    name == pocl ? "PoCL needs a folder that it may write to, ~/.cache/pocl or below XDG_CACHE_HOME; "
                                   "POCL_CACHE_DIR names another. POCL_DEVICES, if it is set, must name what it has"
                                 : "look whether the device is there and may be used: its driver in the kernel, the "
                                   "rights to its files in /dev, and in a container whether it was handed in");
    if (empty.empty())
        found.stops(
            "no OpenCL device on " + rank.at("host").get<std::string>(),
            "install an implementation: pocl-opencl-icd for the processor (Debian, Ubuntu), or the vendor's driver "
            "for a GPU; in a container hand the GPU in; clinfo shows what the loader finds");
}

void check_processors(const json& rank, const json& ranks, finder& found) {
    const auto neighbours = std::count_if(ranks.begin(), ranks.end(),
                                          [&](const json& each) { return each.at("host") == rank.at("host"); });
    const auto of_host = rank.at("processors").get<std::int64_t>();
    if (rank.at("usable_processors") == 1 && of_host >= 2 * neighbours)
        found.slows("a rank on " + rank.at("host").get<std::string>() + " may use one of the " +
                        std::to_string(of_host) + " processors, for the program and for the threads that move its data",
                    "start it with causeway run or mpirun --bind-to none, or with more processors for each rank: "
                    "mpirun --map-by slot:PE=4, "
                    "srun --cpus-per-task=4; a container, with a larger --cpus");
}

void check_memory(const json& rank, finder& found) {
    const auto& limit = rank.at("locked_memory_bytes");
    bool has_own_memory = false;
    for (const auto& platform : rank.at("platforms"))
        for (const auto& device : platform.at("devices")) has_own_memory = has_own_memory || !device.at("host_memory");
    if (limit.is_number() && limit.get<std::uint64_t>() < little_locked_memory && has_own_memory)
        found.slows("only " + std::to_string(limit.get<std::uint64_t>() >> 10) +
                        " KiB of memory may be page-locked on " + rank.at("host").get<std::string>(),
                    "raise it: ulimit -l unlimited, or memlock in /etc/security/limits.conf; for containers --ulimit "
                    "memlock=-1. Some drivers lock memory without regard to it; network cards do not");
}

void check_mpi(const json& facts, finder& found) {
    const auto& mpi = facts.at("mpi");
    if (mpi.contains("error"))
        found.stops("MPI does not start: " + mpi.at("error").get<std::string>(),
                    "look at what it says; mpirun -n 1 true shows whether the launcher works");
    else if (mpi.value("thread_level", "MPI_THREAD_MULTIPLE") != "MPI_THREAD_MULTIPLE")
        found.stops("this MPI provides " + mpi.at("thread_level").get<std::string>() + " only",
                    "transfers between ranks need MPI_THREAD_MULTIPLE: take an MPI that was built with it");
    if (!mpi.contains("launcher"))
        found.slows("no MPI launcher of " + mpi.at("library").get<std::string>() + " is on the path",
                    "install it (Debian: openmpi-bin or mpich), or add its folder to PATH; programs of one rank run "
                    "without");
    const auto expected = mpi.value("launched_ranks", 1), there = mpi.value("ranks", 1);
    if (expected > 1 && there == 1)
        found.stops("the launcher has started " + std::to_string(expected) + " ranks, but for MPI each is the only one",
                    "the launcher is of another MPI than " + mpi.at("library").get<std::string>() +
                        ", which this is linked with: start it with that one's mpirun, or by causeway run; srun is "
                        "told the kind of MPI by --mpi "
                        "(srun --mpi=list), also as causeway run --launcher-option --mpi=pmix");
}

void check_files(const json& rank, bool one_host, finder& found) {
    for (const auto& each : rank.at("directories")) {
        const auto name = each.at("directory").get<std::string>() +
                          (one_host ? "" : " on " + rank.at("host").get<std::string>());
        if (each.contains("error")) {
            found.slows(name + ": " + each.at("error").get<std::string>(), "name a directory that is there");
            continue;
        }
        const auto direct = each.at("direct").get<std::string>();
        if (direct != "yes" && !direct.starts_with("not known"))
            found.slows(
                "files in " + name + " (" + each.at("file_system").get<std::string>() +
                    ") cannot be read past the page cache: " + direct,
                "very large files are faster on a file system with direct access (ext4, xfs) in a directory that "
                "you may write to; all works without");
    }
}

} // namespace

std::vector<problem> problems_of(const json& facts) {
    std::vector<problem> all;
    finder found(all);
    const auto& ranks = facts.at("ranks");
    const bool one_host = std::all_of(ranks.begin(), ranks.end(),
                                      [&](const json& each) { return each.at("host") == ranks[0].at("host"); });
    for (const auto& rank : ranks) {
        check_vendors(rank, found);
        check_chosen_devices(rank, found);
        check_devices(rank, found);
        check_processors(rank, ranks, found);
        check_memory(rank, found);
        check_files(rank, one_host, found);
        if (rank.at("mpi_libraries").size() > 1)
            found.stops("this process has two MPI libraries: " + as_text(rank.at("mpi_libraries")),
                        "link the program and all of its libraries with one MPI; ldd shows who brings the other");
    }
    check_mpi(facts, found);
    return all;
}

} // namespace info
