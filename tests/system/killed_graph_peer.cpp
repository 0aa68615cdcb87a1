// SPDX-License-Identifier: Apache-2.0
// A program for two ranks: rank 1 kills itself in the middle of its graph's run; the graphs of rank 0 must fail in
// time.
#include "device.hpp"

#include <causeway/graph_mpi.hpp>

#include <csignal>
#include <cstdio>

#include <unistd.h>

namespace {

using namespace system_test;
using causeway::stream_graph;

constexpr std::size_t token = 256 << 10;

/// Copies tokens from `source` to `target`, and calls `look` with the number of each.
void connect(stream_graph& graph, const std::string& source, const std::string& target,
             std::function<void(uint64_t)> look) {
    const auto name = source + " to " + target;
    graph.add_host_function(name, [look = std::move(look)](uint64_t number, const void* const* in, void* const* out) {
        look(number);
        std::memcpy(out[0], in[0], token);
    });
    graph.connect(source, name, token);
    graph.connect(name, target, token);
}

void add_camera(stream_graph& graph) {
    graph.add_input_stream("camera", [](uint64_t, void*, size_t size) { return size; }, token);
}

/// Whether a run fails because of the other rank, and names `stream`.
bool fails_at(stream_graph& graph, const std::string& stream) {
    try {
        graph.execute();
        std::printf("%s: no failure\n", stream.c_str());
    } catch (const causeway::graph_error& error) {
        std::printf("%s: %d, %s\n", stream.c_str(), error.code(), error.what());
        return error.code() == CL_TRANSFER_PEER_FAILED &&
               std::string(error.what()).find("'" + stream + "', token ") == 0;
    }
    return false;
}

} // namespace

int main(int argc, char** argv) {
    alarm(200); // a busy machine takes long to make the buffers
    int provided = MPI_THREAD_SINGLE, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const rank_device own(rank);
    // Both ways at once, in one graph at rank 1 and in two at rank 0.
    if (rank == 1) {
        stream_graph graph(own.context(), own.device());
        add_camera(graph);
        causeway::add_output_rank(graph, "answers", 0, 2, MPI_COMM_WORLD, token);
        connect(graph, "camera", "answers", [](uint64_t) {});
        causeway::add_input_rank(graph, "questions", 0, 1, MPI_COMM_WORLD, token);
        graph.add_output_stream("screen", [](uint64_t, const void*, size_t) {}, token);
        connect(graph, "questions", "screen", [](uint64_t number) {
            if (number == 20) raise(SIGKILL);
        });
        graph.initialize();
        graph.execute();
        return 1;
    }
    bool sender_good = false;
    std::thread sender([&] {
        stream_graph graph(own.context(), own.device());
        add_camera(graph);
        causeway::add_output_rank(graph, "questions", 1, 1, MPI_COMM_WORLD, token);
        connect(graph, "camera", "questions", [](uint64_t) {});
        graph.initialize();
        sender_good = fails_at(graph, "questions");
    });
    stream_graph graph(own.context(), own.device());
    causeway::add_input_rank(graph, "answers", 1, 2, MPI_COMM_WORLD, token);
    graph.add_output_stream("screen", [](uint64_t, const void*, size_t) {}, token);
    connect(graph, "answers", "screen", [](uint64_t) {});
    graph.initialize();
    const bool receiver_good = fails_at(graph, "answers");
    sender.join();
    std::printf("verdict: %s\n", sender_good && receiver_good ? "passed" : "FAILED");
    std::fflush(stdout);
    // MPI cannot be finalised with a dead rank.
    _exit(sender_good && receiver_good ? 0 : 1);
}
