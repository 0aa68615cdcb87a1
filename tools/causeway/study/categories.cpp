// SPDX-License-Identifier: Apache-2.0
// Kinds by parts of names, the special ones first.
#include "study/categories.hpp"

#include <utility>

namespace study {

std::string_view category_of(std::string_view function) {
    // The first that is part of the name decides.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 46> kinds{{
        {"ExtensionFunction", "extensions"},
        {"GetEventProfilingInfo", "profiling"},
        {"SetKernelArg", "arguments"},
        {"SetKernelExecInfo", "arguments"},
        {"EnqueueMap", "map"},
        {"EnqueueUnmap", "map"},
        {"clEnqueueMarker", "synchronisation"},
        {"clEnqueueBarrier", "synchronisation"},
        {"clEnqueueWaitForEvents", "synchronisation"},
        {"WaitForEvents", "synchronisation"},
        {"clFinish", "synchronisation"},
        {"clFlush", "synchronisation"},
        {"EnqueueBroadcastBuffer", "extensions"},
        {"EnqueueScatterBuffer", "extensions"},
        {"EnqueueGatherBuffer", "extensions"},
        {"EnqueueAllGatherBuffer", "extensions"},
        {"EnqueueAlltoAllBuffer", "extensions"},
        {"ReduceBuffer", "extensions"},
        {"ReduceScatterBuffer", "extensions"},
        {"ScanBuffer", "extensions"},
        {"AttachBuffer", "extensions"},
        {"clEnqueue", "enqueued commands"},
        {"CommandQueue", "queue"},
        {"UserEvent", "event"},
        {"Event", "event"},
        {"Sampler", "sampler"},
        {"KernelsInProgram", "kernel"},
        {"BuiltInKernels", "program"},
        {"Program", "program"},
        {"UnloadCompiler", "program"},
        {"UnloadPlatformCompiler", "program"},
        {"Kernel", "kernel"},
        {"SubBuffer", "buffer"},
        {"Image", "image"},
        {"Pipe", "buffer"},
        {"Buffer", "buffer"},
        {"MemObject", "buffer"},
        {"SVM", "buffer"},
        {"Context", "context"},
        {"DeviceAndHostTimer", "profiling"},
        {"HostTimer", "profiling"},
        {"SubDevices", "device"},
        {"Device", "device"},
        {"clGetPlatform", "platform"},
        {"clIcdGetPlatform", "platform"},
        {"Platform", "platform"},
    }};
    for (const auto& [part, kind] : kinds)
        if (function.find(part) != std::string_view::npos) return kind;
    return "extensions";
}

bool compiles(std::string_view function) {
    return function == "clBuildProgram" || function == "clCompileProgram" || function == "clLinkProgram";
}

bool waits(std::string_view function) {
    return function == "clFinish" || function == "clWaitForEvents" || function == "clEnqueueWaitForEvents";
}

} // namespace study
