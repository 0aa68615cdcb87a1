# SPDX-License-Identifier: Apache-2.0
# Made when the package is installed (CMakeLists.txt).
LIBRARY: str
