/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between devices: what they wait for, and what waits for them. */
#include <openacc.h>
#include <stdio.h>

enum { N = 100000, ROUNDS = 20 };
static int a[N];
static int failures;

static void expect(int holds, const char* rule) {
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", rule);
    ++failures;
}

/* All elements of `a` on device d, by a kernel. */
static void set(int d, int value) {
#pragma acc parallel loop deviceid(d) present(a)
    for (int i = 0; i < N; i++) a[i] = value;
}

static int all(int d, int first, int count, int value) {
    int wrong = 0;
#pragma acc update self(a) deviceid(d)
#pragma acc wait device(d)
    for (int i = first; i < first + count; i++) wrong += a[i] != value;
    return !wrong;
}

/* The same elements go on from device to device. */
static void chain(int devices) {
    for (int round = 0; round < ROUNDS; round++) {
        for (int d = 0; d < devices; d++) set(d, 10 * round + d);
        for (int d = 0; d + 1 < devices; d++) {
#pragma acc update peer to(a[0 : N / 2]) to_device(d + 1) from(a[0 : N / 2]) from_device(d)
        }
        for (int d = 0; d < devices; d++) {
            expect(all(d, 0, N / 2, 10 * round), "a copy comes behind one that writes what it reads");
            expect(all(d, N / 2, N / 2, 10 * round + d), "a copy leaves the rest alone");
        }
    }
}

/* There and back again, of the same elements and of others. */
static void exchange(void) {
    for (int round = 0; round < ROUNDS; round++) {
        set(0, 1), set(1, 2);
#pragma acc update peer to(a[0 : N / 2]) to_device(1) from(a[0 : N / 2]) from_device(0)
#pragma acc update peer to(a[N / 2 : N / 2]) to_device(0) from(a[N / 2 : N / 2]) from_device(1)
        /* Writes what the copies read and wrote. */
#pragma acc parallel loop deviceid(0) present(a)
        for (int i = 0; i < N; i++) a[i] += 10;
#pragma acc update peer to(a[0 : N]) to_device(1) from(a[0 : N]) from_device(0)
#pragma acc update peer to(a[1 : 9]) to_device(0) from(a[N - 9 : 9]) from_device(1)
        expect(all(0, 0, 1, 11) && all(0, 1, 9, 12) && all(0, 10, N / 2 - 10, 11), "commands come behind copies");
        expect(all(1, 0, N / 2, 11) && all(1, N / 2, N / 2, 12), "copies come behind commands");
    }
}

static void queues(void) {
    set(0, 1), set(1, 2);
#pragma acc wait device(0)
#pragma acc wait device(1)
#pragma acc parallel loop deviceid(0) async(3) present(a)
    for (int i = 0; i < N; i++) a[i] = 5;
#pragma acc update peer to(a[0 : N]) to_device(1) from(a[0 : N]) from_device(0) async(3)
#pragma acc parallel loop deviceid(1) async(4) wait(3) present(a)
    for (int i = 0; i < N; i++) a[i]++;
#pragma acc update peer to(a[0 : N]) to_device(0) from(a[0 : N]) from_device(1) async(4) wait(3)
#pragma acc wait(devnum : 0 : queues : 4)
#pragma acc wait(devnum : 1 : queues : 4)
    expect(all(0, 0, N, 6) && all(1, 0, N, 6), "async and wait of 'update peer'");
    set(0, 7);
#pragma acc wait device(0)
    acc_memcpy_d2d_async(a, a, sizeof a, 1, 0, 5);
    acc_wait_device(5, 1);
    expect(all(1, 0, N, 7), "acc_memcpy_d2d_async() and acc_wait_device()");
    set(0, 8);
    acc_update_peer(a, 1, a, 0, sizeof a);
    expect(all(1, 0, N, 8), "acc_update_peer()");
#pragma acc update peer to(a[0 : 10]) to_device(1) from(a[10 : 10]) from_device(1)
    acc_memcpy_d2d(a, a + 20, sizeof *a, 1, 1);
    expect(all(1, 0, N, 8), "copies within a device");
}

/* Each construct goes to the device that it names, and nobody waits for it. */
static void constructs(void) {
    set(0, 1), set(1, 2);
#pragma acc serial deviceid(1) present(a)
    for (int i = 0; i < 9; i++) a[i] += 10;
#pragma acc kernels deviceid(1) present(a)
    for (int i = 9; i < N; i++) a[i] += 20;
#pragma acc kernels loop deviceid(0) present(a)
    for (int i = 0; i < N; i++) a[i] += 40;
    expect(all(1, 0, 9, 12) && all(1, 9, N - 9, 22) && all(0, 0, N, 41), "deviceid on serial and kernels");
}

/* Many that nobody waits for. */
static void loop(void) {
    set(0, 0), set(1, 0);
    for (int time = 0; time < 200; time++) {
#pragma acc parallel loop deviceid(0) present(a)
        for (int i = 0; i < 8; i++) a[i]++;
#pragma acc update peer to(a[0 : 8]) to_device(1) from(a[0 : 8]) from_device(0)
#pragma acc parallel loop deviceid(1) present(a)
        for (int i = 0; i < 8; i++) a[i]++;
#pragma acc update peer to(a[0 : 8]) to_device(0) from(a[0 : 8]) from_device(1)
    }
    expect(all(0, 0, 8, 400), "a value goes to and fro");
    while (!acc_async_test_all_device(0) || !acc_async_test_all_device(1)) {}
}

int main(void) {
    int devices = acc_get_num_devices(acc_device_not_host);
    if (devices < 2) return 0;
    if (devices > 4) devices = 4;
    for (int d = 0; d < devices; d++) {
#pragma acc enter data create(a) deviceid(d)
    }
    chain(devices);
    exchange();
    queues();
    constructs();
    loop();
    for (int d = 0; d < devices; d++) {
#pragma acc exit data delete (a)deviceid(d)
    }
    if (!failures) printf("peers: all rules hold on %d devices\n", devices);
    return failures != 0;
}
