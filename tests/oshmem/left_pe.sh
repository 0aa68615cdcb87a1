#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PEs that wait for more of one that has ended: the job must end, with the call and the PE that left.
# shellcheck source=tests/oshmem/leaving.sh
. "$(dirname "$0")/leaving.sh"
for how in exit return finalize; do
    for way in shmem_barrier_all shmem_long_wait_until; do
        expect_end $way $how "causeway: PE .: $way: PE 1 .*ended"
    done
done
for way in patient helped fork; do expect_right $way exit; done
for way in shmem_sync_all shmem_team_sync shmem_team_destroy shmem_team_split_strided shmem_long_sum_reduce shmem_long_broadcast \
    shmem_long_sum_to_all shmem_barrier shmem_malloc shmem_free; do
    expect_end $way exit "causeway: PE .: $way: PE 1 .*ended"
done
expect_end lock exit "causeway: PE .: .*: PE 1 .*ended"
report
