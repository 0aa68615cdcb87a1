/* SPDX-License-Identifier: Apache-2.0 */
/* <mpp/shmem.h>, the header's name in earlier versions. */
#include <shmem.h>
