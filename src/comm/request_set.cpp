// SPDX-License-Identifier: Apache-2.0
// Tests all requests in one call.
#include "comm/request_set.hpp"

#include <algorithm>
#include <string>

namespace causeway::comm {

namespace {

std::string error_text(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    return text;
}

arrival arrival_of(const MPI_Status& status) {
    arrival result{.source = status.MPI_SOURCE, .tag = status.MPI_TAG};
    int bytes = 0, cancelled = 0;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    PMPI_Test_cancelled(&status, &cancelled);
    result.bytes = bytes == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(bytes);
    result.cancelled = cancelled != 0;
    return result;
}

} // namespace

failure mpi_failure(const char* what, int code) {
    int error_class = code;
    PMPI_Error_class(code, &error_class);
    return {status::peer_failed, 0, error_class, std::string(what) + ": " + error_text(code)};
}

void request_set::add(MPI_Request request, operation& done) {
    m_requests.push_back(request);
    m_operations.push_back(&done);
}

void request_set::watch(MPI_Request request, operation& done) {
    // MPI_Testsome never reports null and inactive requests.
    int complete = 0;
    MPI_Status status;
    const int code = PMPI_Test(&request, &complete, &status);
    if (code != MPI_SUCCESS) {
        done.over({.error = mpi_failure("MPI_Test", code)});
    } else if (complete != 0) {
        done.over(arrival_of(status));
    } else {
        add(request, done);
    }
}

std::size_t request_set::find(const operation& done) const {
    const auto found = std::find(m_operations.begin(), m_operations.end(), &done);
    return static_cast<std::size_t>(found - m_operations.begin());
}

void request_set::remove(std::size_t index) {
    m_requests[index] = m_requests.back();
    m_operations[index] = m_operations.back();
    m_requests.pop_back();
    m_operations.pop_back();
}

/// While another thread is in MPI, Open MPI (4.1.4) can report a receive as cancelled although a message has just
/// matched it. That message is lost. So cancel only receives that no message of a live exchange can match: one that the
/// program itself gives up, blocks of a message whose sender has failed (their tag is used by that message only), and
/// listeners of a communicator that ends or that this rank no longer hears.
void request_set::cancel(operation& done) {
    const auto index = find(done);
    if (index == m_requests.size()) return;
    PMPI_Cancel(&m_requests[index]);
    MPI_Status status;
    int complete = 0;
    PMPI_Test(&m_requests[index], &complete, &status);
    if (complete == 0) return;
    const auto result = arrival_of(status);
    remove(index);
    done.over(result);
}

void request_set::abandon(operation& done) {
    const auto index = find(done);
    if (index < m_requests.size()) remove(index);
    for (auto& [each, result] : m_over)
        if (each == &done) each = nullptr;
}

/// When MPI_Testsome fails and no request is to blame; without this none would ever end.
bool request_set::poll_one_by_one() {
    for (auto i = m_requests.size(); i-- > 0;) {
        int complete = 0;
        MPI_Status status;
        const int code = PMPI_Test(&m_requests[i], &complete, &status);
        if (code == MPI_SUCCESS && complete == 0) continue;
        m_over.emplace_back(m_operations[i],
                            code == MPI_SUCCESS ? arrival_of(status) : arrival{.error = mpi_failure("MPI_Test", code)});
        remove(i);
    }
    return tell();
}

bool request_set::tell() {
    // One that is told may abandon others.
    for (std::size_t i = 0; i < m_over.size(); ++i)
        if (m_over[i].first != nullptr) m_over[i].first->over(m_over[i].second);
    const bool any = !m_over.empty();
    m_over.clear();
    return any;
}

bool request_set::poll() {
    if (m_requests.empty()) return false;
    const auto count = static_cast<int>(m_requests.size());
    m_indices.resize(m_requests.size());
    m_statuses.resize(m_requests.size());
    int ended = 0;
    // Open MPI's MPI_Testsome does not look again after it made progress: what that finished is seen by the second
    // call.
    for (int attempt = 0; attempt < 2 && ended == 0; ++attempt) {
        const int code = insist(
            [&] { return PMPI_Testsome(count, m_requests.data(), &ended, m_indices.data(), m_statuses.data()); });
        if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return poll_one_by_one();
        if (code == MPI_SUCCESS)
            for (int i = 0; i < ended; ++i) m_statuses[static_cast<std::size_t>(i)].MPI_ERROR = MPI_SUCCESS;
        if (ended == MPI_UNDEFINED) ended = 0;
    }
    if (ended == 0) return false;

    for (int i = 0; i < ended; ++i) {
        const auto& status = m_statuses[static_cast<std::size_t>(i)];
        auto result = arrival_of(status);
        if (status.MPI_ERROR != MPI_SUCCESS) result.error = mpi_failure("MPI", status.MPI_ERROR);
        result.too_long = result.error && result.error.mpi_error_class == MPI_ERR_TRUNCATE;
        m_over.emplace_back(m_operations[static_cast<std::size_t>(m_indices[static_cast<std::size_t>(i)])], result);
    }
    std::sort(m_indices.begin(), m_indices.begin() + ended);
    for (int i = ended; i-- > 0;) remove(static_cast<std::size_t>(m_indices[static_cast<std::size_t>(i)]));
    return tell();
}

} // namespace causeway::comm
