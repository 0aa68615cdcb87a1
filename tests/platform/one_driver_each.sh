#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rank of a cluster whose ranks have different drivers: rank 0 has one device of PoCL, the others have Intel's runtime.
export CAUSEWAY_CLUSTER=1
case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} in
0) export CAUSEWAY_DEVICES=pocl:0 ;;
*) export CAUSEWAY_DEVICES=intel ;;
esac
exec "$@"
