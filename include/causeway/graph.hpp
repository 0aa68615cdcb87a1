// SPDX-License-Identifier: Apache-2.0
// Stream graphs for C++17: causeway/graph.h with names as strings, parameters as objects, failures as exceptions.
#ifndef CAUSEWAY_GRAPH_HPP
#define CAUSEWAY_GRAPH_HPP

#include <causeway/graph.h>

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace causeway {

/// A refused call or a failed run: the code and the sentence of the C interface.
class graph_error : public std::runtime_error {
  public:
    graph_error(cl_int code, const std::string& message) : std::runtime_error(message), m_code(code) {}
    [[nodiscard]] cl_int code() const { return m_code; }

  private:
    cl_int m_code;
};

/// Owns a graph; moves, does not copy. Each function calls that of the C interface, and throws graph_error instead of
/// returning a code.
class stream_graph {
  public:
    /// Fills token `number`, of `size` bytes, counted from 0. Returns the bytes that it filled, 0 at the end.
    using token_reader = std::function<size_t(uint64_t number, void* token, size_t size)>;
    using token_writer = std::function<void(uint64_t number, const void* token, size_t size)>;
    using host_function = std::function<void(uint64_t number, const void* const* inputs, void* const* outputs)>;

    stream_graph(cl_context context, cl_device_id device) : m_state(std::make_unique<state>()) {
        check(causeway_graph_create(context, device, &m_state->raw));
    }

    void add_input_stream(const std::string& name, const void* data, size_t total_size, size_t token_size) {
        check(causeway_graph_add_input_stream(raw(), name.c_str(), data, total_size, token_size));
    }
    void add_output_stream(const std::string& name, void* data, size_t total_size, size_t token_size) {
        check(causeway_graph_add_output_stream(raw(), name.c_str(), data, total_size, token_size));
    }
    void use_page_locked(const std::string& stream) { check(causeway_graph_use_page_locked(raw(), stream.c_str())); }
    void add_input_stream(const std::string& name, token_reader reader, size_t token_size,
                          uint64_t total_size = CAUSEWAY_ENDLESS) {
        auto& kept = keep({std::move(reader), {}, {}});
        check(causeway_graph_add_input_function(raw(), name.c_str(), read, &kept, total_size, token_size));
    }
    void add_output_stream(const std::string& name, token_writer writer, size_t token_size,
                           uint64_t total_size = CAUSEWAY_ENDLESS) {
        auto& kept = keep({{}, std::move(writer), {}});
        check(causeway_graph_add_output_function(raw(), name.c_str(), write, &kept, total_size, token_size));
    }
    void add_input_stream(const std::string& name, FILE* file, size_t token_size,
                          uint64_t total_size = CAUSEWAY_ENDLESS) {
        check(causeway_graph_add_input_file(raw(), name.c_str(), file, total_size, token_size));
    }
    void add_output_stream(const std::string& name, FILE* file, size_t token_size,
                           uint64_t total_size = CAUSEWAY_ENDLESS) {
        check(causeway_graph_add_output_file(raw(), name.c_str(), file, total_size, token_size));
    }
    void add_input_descriptor(const std::string& name, int fd, int64_t file_offset, size_t token_size,
                              uint64_t total_size = CAUSEWAY_ENDLESS) {
        check(causeway_graph_add_input_descriptor(raw(), name.c_str(), fd, file_offset, total_size, token_size));
    }
    void add_output_descriptor(const std::string& name, int fd, int64_t file_offset, size_t token_size,
                               uint64_t total_size = CAUSEWAY_ENDLESS) {
        check(causeway_graph_add_output_descriptor(raw(), name.c_str(), fd, file_offset, total_size, token_size));
    }
    void set_file_offset(const std::string& stream, int64_t file_offset) {
        check(causeway_graph_set_file_offset(raw(), stream.c_str(), file_offset));
    }

    void add_kernel(const std::string& name, const causeway_kernel& kernel) {
        check(causeway_graph_add_kernel(raw(), name.c_str(), &kernel));
    }
    /// The paper's form: the parameters are argument 0, by value.
    template <class Parameters> void add_kernel(const std::string& name, causeway_kernel kernel,
                                                const Parameters& parameters) {
        static_assert(std::is_trivially_copyable_v<Parameters>, "the device gets the bytes of the parameters");
        kernel.parameters = &parameters;
        kernel.parameters_size = sizeof parameters;
        add_kernel(name, kernel);
    }
    template <class Value> void set_argument(const std::string& kernel, cl_uint index, const Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>, "the device gets the bytes of the value");
        check(causeway_graph_set_argument(raw(), kernel.c_str(), index, sizeof value, &value));
    }
    void set_local_argument(const std::string& kernel, cl_uint index, size_t size) {
        check(causeway_graph_set_argument(raw(), kernel.c_str(), index, size, nullptr));
    }
    void add_host_function(const std::string& name, host_function function) {
        auto& kept = keep({{}, {}, std::move(function)});
        check(causeway_graph_add_host_function(raw(), name.c_str(), call, &kept));
    }

    void connect(const std::string& source, const std::string& target, size_t token_size) {
        connect(source, 0, target, 0, token_size);
    }
    void connect(const std::string& source, cl_uint source_position, const std::string& target, cl_uint target_position,
                 size_t token_size) {
        check(causeway_graph_connect(raw(), source.c_str(), source_position, target.c_str(), target_position,
                                     token_size));
    }
    void connect(const std::string& source, const std::string& target, const causeway_edge& edge) {
        check(causeway_graph_connect_edge(raw(), source.c_str(), target.c_str(), &edge));
    }

    void initialize() { check(causeway_graph_initialize(raw())); }
    /// Also throws what a function of the graph has thrown.
    void execute() {
        auto& kept = kept_state();
        kept.thrown = nullptr;
        const cl_int code = causeway_graph_execute(raw());
        if (kept.thrown) std::rethrow_exception(std::exchange(kept.thrown, nullptr));
        check(code);
    }
    /// False if no run is under way.
    bool stop() {
        const cl_int code = causeway_graph_stop(raw());
        if (code != CL_INVALID_OPERATION) check(code);
        return code == CL_SUCCESS;
    }

    [[nodiscard]] uint64_t token_count(const std::string& stream) const {
        uint64_t count = 0;
        check(causeway_graph_token_count(raw(), stream.c_str(), &count));
        return count;
    }
    [[nodiscard]] size_t token_size(const std::string& stream) const {
        size_t size = 0;
        check(causeway_graph_token_size(raw(), stream.c_str(), &size));
        return size;
    }
    [[nodiscard]] std::string explain() const { return text(causeway_graph_explain(raw())); }
    [[nodiscard]] std::string to_dot() const { return text(causeway_graph_to_dot(raw())); }

    /// For calls of the C interface; null after a move.
    [[nodiscard]] causeway_graph* raw() const { return m_state ? m_state->raw : nullptr; }

  private:
    struct state;
    struct kept_function {
        token_reader reader;
        token_writer writer;
        host_function function;
        state* owner = nullptr;
    };
    struct state {
        state() = default;
        state(const state&) = delete;
        state& operator=(const state&) = delete;
        ~state() { causeway_graph_release(raw); }

        causeway_graph* raw = nullptr;
        std::vector<std::unique_ptr<kept_function>> functions;
        std::exception_ptr thrown;
    };

    static void check(cl_int code) {
        if (code != CL_SUCCESS) throw graph_error(code, causeway_error_last_message());
    }
    static std::string text(const char* given) {
        if (given == nullptr) throw graph_error(CL_INVALID_OPERATION, causeway_error_last_message());
        return given;
    }

    state& kept_state() {
        if (!m_state) throw graph_error(CL_INVALID_VALUE, "the graph was moved elsewhere");
        return *m_state;
    }
    kept_function& keep(kept_function added) {
        auto& kept = kept_state();
        added.owner = &kept;
        kept.functions.push_back(std::make_unique<kept_function>(std::move(added)));
        return *kept.functions.back();
    }

    // No exception may pass the C interface: it waits in the state for execute().
    template <class Action> static auto caught(void* user, Action action,
                                               decltype(action(*static_cast<kept_function*>(user))) failed) {
        auto& kept = *static_cast<kept_function*>(user);
        try {
            return action(kept);
        } catch (...) {
            if (!kept.owner->thrown) kept.owner->thrown = std::current_exception();
            return failed;
        }
    }
    static size_t read(void* user, uint64_t number, void* token, size_t size) {
        return caught(
            user, [&](kept_function& kept) { return kept.reader(number, token, size); }, CAUSEWAY_TOKEN_FAILED);
    }
    static cl_int write(void* user, uint64_t number, const void* token, size_t size) {
        return caught(
            user,
            [&](kept_function& kept) {
                kept.writer(number, token, size);
                return cl_int{CL_SUCCESS};
            },
            CL_INVALID_OPERATION);
    }
    static cl_int call(void* user, uint64_t number, const void* const* inputs, void* const* outputs) {
        return caught(
            user,
            [&](kept_function& kept) {
                kept.function(number, inputs, outputs);
                return cl_int{CL_SUCCESS};
            },
            CL_INVALID_OPERATION);
    }

    std::unique_ptr<state> m_state;
};

} // namespace causeway

#endif
