/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it lets another process come first whenever PoCL removes a program from its cache to write
 * it anew, but not twice in a row. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int remove(const char* path) {
    static int is_first = 1;
    int (*real)(const char*);
    *(void**)&real = dlsym(RTLD_NEXT, "remove");
    const int code = real(path);
    const char* const name = strrchr(path, '/');
    if (code != 0 || name == NULL || strcmp(name, "/program.bc") != 0) return code;
    is_first = !is_first;
    if (is_first) return 0;
    fprintf(stderr, "lost_links: %s is removed\n", path);
    errno = ENOENT;
    return -1;
}
