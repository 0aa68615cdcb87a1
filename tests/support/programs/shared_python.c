// SPDX-License-Identifier: Apache-2.0
// Python whose interpreter is a library, as conda's, pyenv's and that of containers often are.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
    void* const library = dlopen(PYTHON_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*run)(int, char**) = (int (*)(int, char**))dlsym(library, "Py_BytesMain");
    return run == NULL ? 1 : run(count, words);
}
