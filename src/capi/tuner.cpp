// SPDX-License-Identifier: Apache-2.0
// The functions of causeway/tuner.h.
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/measuring.hpp"
#include "runtime/ranks.hpp"
#include "runtime/runtime.hpp"
#include "cl/calls.hpp"
#include "endpoints/file/file_system.hpp"

#include <causeway/tuner_mpi.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

using namespace causeway;
using namespace causeway::core;

namespace {

bool always() { return true; }

/// A file without a name in `directory`, open for reading and writing.
descriptor nameless_file(const std::string& directory) {
    descriptor made(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (made.get() >= 0) return made;
    // Not every file system has such files.
    auto name = directory + "/causeway-tune.XXXXXX";
    made = descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (made.get() < 0)
        throw transfer_error(status::invalid_value, "making a file in " + directory + ": " + errno_text(errno), errno);
    ::unlink(name.c_str());
    return made;
}

cl_int keep(runtime& process, std::string_view resource, const std::vector<measured_stage>& stages) {
    for (const auto& [what, model] : stages) process.figures().figures().measured(resource, what, model);
    process.figures().save();
    return CL_SUCCESS;
}

} // namespace

cl_int causeway_tune_device(cl_command_queue queue) {
    return guard([&] {
        const auto checked = check_queue(queue);
        auto& process = runtime::instance();
        process.figures().require_automatic();
        measuring stages(process, effort::thorough, always);
        return keep(process, cl::facts_of(checked.facts.device).identity,
                    stages.device(checked.facts.context, checked.facts.device));
    });
}

cl_int causeway_tune_directory(const char* path) {
    return guard([&] {
        if (path == nullptr) throw transfer_error(status::invalid_value, "the path is null");
        auto& process = runtime::instance();
        process.figures().require_automatic();
        const auto file = nameless_file(path);
        measuring stages(process, effort::thorough, always);
        return keep(process, endpoints::file_system_of(file.get()), stages.file(file.get()));
    });
}

cl_int causeway_tune_rank(cl_command_queue queue, int peer, MPI_Comm comm) {
    return guard([&] {
        constexpr int tag = 0;
        const auto checked = check_queue(queue);
        auto& process = runtime::instance();
        process.figures().require_automatic();
        const std::shared_ptr<transfer::endpoint> destination = make_destination(peer, tag, comm); // checks the
                                                                                                   // arguments
        int own = MPI_PROC_NULL;
        PMPI_Comm_rank(comm, &own);
        if (peer == MPI_PROC_NULL || peer == own)
            throw transfer_error(status::invalid_value,
                                 "no messages can be measured with rank " + std::to_string(peer));
        measuring stages(process, effort::thorough, always);
        const auto found = stages.rank([&] { return make_destination(peer, tag, comm); },
                                       [&] { return make_origin(peer, tag, comm, nullptr); }, own < peer,
                                       checked.facts.context, checked.facts.device);
        // By now the other rank was heard, and it is known where it is.
        const auto resource = process.require_answer("asking for the other rank's resource", [destination] {
            return std::string(destination->traits().resource);
        });
        return keep(process, resource, found);
    });
}

long causeway_tuner_figures(char* text, size_t size) {
    long length = -1;
    (void)guard([&] {
        auto& known = runtime::instance().figures();
        const auto whole = transfer::figures_text(known.figures().all(), known.file().path(), known.problem());
        if (text != nullptr && size > 0) {
            const auto copied = std::min(size - 1, whole.size());
            std::memcpy(text, whole.data(), copied);
            text[copied] = '\0';
        }
        length = static_cast<long>(whole.size());
        return CL_SUCCESS;
    });
    return length;
}

cl_int causeway_tuner_clear(void) {
    return guard([&] {
        auto& known = runtime::instance().figures();
        known.figures().clear();
        if (const auto problem = known.file().remove(); !problem.empty())
            throw transfer_error(status::invalid_operation, problem);
        return CL_SUCCESS;
    });
}
