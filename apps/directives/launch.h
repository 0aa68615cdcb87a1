/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, each waited for, of a kernel that does next to nothing. */
#define LAUNCHES 1000
