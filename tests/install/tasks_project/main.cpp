// SPDX-License-Identifier: Apache-2.0
// Spawns two tasks in order.
#include <causeway/tasks.hpp>

int main() {
    causeway::task_pool pool;
    causeway::task_group group(pool);
    int value = 1;
    group.spawn([&] { value += 1; }, {causeway::inout(&value)});
    group.spawn([&] { value *= 21; }, {causeway::inout(&value)});
    group.wait();
    return value == 42 ? 0 : 1;
}
