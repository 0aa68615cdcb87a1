/* SPDX-License-Identifier: Apache-2.0 */
/* Where programs of earlier versions look for it. */
#include <shmem.h>
