// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of MPI that the library calls, by their profiling names.
#include "faults/point_lists.hpp"

#include <mpi.h>

using namespace faults;

namespace {

fault_point isend{"PMPI_Isend", layer::mpi, MPI_ERR_OTHER};
fault_point irecv{"PMPI_Irecv", layer::mpi, MPI_ERR_OTHER};
fault_point testsome{"PMPI_Testsome", layer::mpi, MPI_ERR_OTHER};
fault_point test{"PMPI_Test", layer::mpi, MPI_ERR_OTHER};
fault_point cancel{"PMPI_Cancel", layer::mpi, MPI_ERR_OTHER};
fault_point get_attribute{"PMPI_Comm_get_attr", layer::mpi, MPI_ERR_OTHER};
fault_point set_attribute{"PMPI_Comm_set_attr", layer::mpi, MPI_ERR_OTHER};
fault_point group{"PMPI_Comm_group", layer::mpi, MPI_ERR_OTHER};
fault_point group_size{"PMPI_Group_size", layer::mpi, MPI_ERR_OTHER};
fault_point translate{"PMPI_Group_translate_ranks", layer::mpi, MPI_ERR_OTHER};
fault_point size{"PMPI_Comm_size", layer::mpi, MPI_ERR_OTHER};
fault_point test_inter{"PMPI_Comm_test_inter", layer::mpi, MPI_ERR_OTHER};
fault_point query_thread{"PMPI_Query_thread", layer::mpi, MPI_ERR_OTHER};

} // namespace

std::vector<fault_point*> faults::mpi_points() {
    return {&isend, &irecv,      &testsome,  &test, &cancel,     &get_attribute, &set_attribute,
            &group, &group_size, &translate, &size, &test_inter, &query_thread};
}

int PMPI_Isend(const void* bytes, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request* request) {
    if (isend.fails(__builtin_return_address(0))) return isend.code;
    return real<&PMPI_Isend>(isend)(bytes, count, type, destination, tag, comm, request);
}

int PMPI_Irecv(void* bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    if (irecv.fails(__builtin_return_address(0))) return irecv.code;
    return real<&PMPI_Irecv>(irecv)(bytes, count, type, source, tag, comm, request);
}

int PMPI_Testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
    if (testsome.fails(__builtin_return_address(0))) return testsome.code;
    return real<&PMPI_Testsome>(testsome)(count, requests, ended, indices, statuses);
}

int PMPI_Test(MPI_Request* request, int* complete, MPI_Status* status) {
    if (test.fails(__builtin_return_address(0))) return test.code;
    return real<&PMPI_Test>(test)(request, complete, status);
}

int PMPI_Cancel(MPI_Request* request) {
    if (cancel.fails(__builtin_return_address(0))) return cancel.code;
    return real<&PMPI_Cancel>(cancel)(request);
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
    if (get_attribute.fails(__builtin_return_address(0))) return get_attribute.code;
    return real<&PMPI_Comm_get_attr>(get_attribute)(comm, key, value, found);
}

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    if (set_attribute.fails(__builtin_return_address(0))) return set_attribute.code;
    return real<&PMPI_Comm_set_attr>(set_attribute)(comm, key, value);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* members) {
    if (group.fails(__builtin_return_address(0))) return group.code;
    return real<&PMPI_Comm_group>(group)(comm, members);
}

int PMPI_Group_size(MPI_Group members, int* count) {
    if (group_size.fails(__builtin_return_address(0))) return group_size.code;
    return real<&PMPI_Group_size>(group_size)(members, count);
}

int PMPI_Group_translate_ranks(MPI_Group from, int count, const int* ranks, MPI_Group to, int* translated) {
    if (translate.fails(__builtin_return_address(0))) return translate.code;
    return real<&PMPI_Group_translate_ranks>(translate)(from, count, ranks, to, translated);
}

int PMPI_Comm_size(MPI_Comm comm, int* count) {
    if (size.fails(__builtin_return_address(0))) return size.code;
    return real<&PMPI_Comm_size>(size)(comm, count);
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* is_inter) {
    if (test_inter.fails(__builtin_return_address(0))) return test_inter.code;
    return real<&PMPI_Comm_test_inter>(test_inter)(comm, is_inter);
}

int PMPI_Query_thread(int* provided) {
    if (query_thread.fails(__builtin_return_address(0))) return query_thread.code;
    return real<&PMPI_Query_thread>(query_thread)(provided);
}
