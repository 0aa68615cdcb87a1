// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/version.hpp"

namespace bt_mz {

namespace {

void copy_faces(const std::vector<face_copy>& faces, const double* from, double* to) {
    for (const auto& face : faces)
        for (int m = 0; m < 5; ++m)
            for (int b = 0; b < face.up; ++b)
                for (int a = 0; a < face.along; ++a)
                    to[face.to + m * face.to_component + b * face.to_up + a * face.to_along] =
                        from[face.from + m * face.from_component + b * face.from_up + a * face.from_along];
}

} // namespace

// communication begin
host_exchange::host_exchange(exchange_plan plan) : m_plan(std::move(plan)), m_out(m_plan.values), m_in(m_plan.values) {}
// communication end

void host_exchange::run(std::span<double> field) {
    // communication begin
    copy_faces(m_plan.outgoing, field.data(), m_out.data());
    std::vector<MPI_Request> requests;
    for (const auto& part : m_plan.parts) {
        MPI_Irecv(&m_in[part.in], int(part.values), MPI_DOUBLE, part.peer, 0, MPI_COMM_WORLD, &requests.emplace_back());
        MPI_Isend(&m_out[part.out], int(part.values), MPI_DOUBLE, part.peer, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
    }
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    copy_faces(m_plan.incoming, m_in.data(), field.data());
    // communication end
    copy_faces(m_plan.local, field.data(), field.data());
}

} // namespace bt_mz
