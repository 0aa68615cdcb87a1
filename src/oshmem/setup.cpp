// SPDX-License-Identifier: Apache-2.0
// Begin and end, queries, memory, teams and contexts.
#include "oshmem/teams.hpp"

#include <causeway/oshmem/shmem.h>
#include <causeway/oshmem/shmemg.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <string>
#include <thread>

using namespace causeway::oshmem;

extern "C" {
causeway_shmem_team causeway_shmem_world, causeway_shmem_shared;
causeway_shmem_context causeway_shmem_default_context{&causeway_shmem_world, 0};
}

namespace {

int thread_level = SHMEM_THREAD_SINGLE;

void start() {
    job::start();
    causeway_shmem_world.who = job::instance().world();
    causeway_shmem_shared.who = job::instance().neighbours();
    causeway_shmem_shared.slot.number = job::shared_number;
}

device_heap& device(const char* call) {
    try {
        auto& all = job::required(call);
        all.meet_all(call); // who takes part in what follows; libcauseway waits for all without end
        return all.need_device();
    } catch (const std::exception& error) {
        give_up(call, error.what());
    }
}

} // namespace

extern "C" {

void shmem_init(void) { start(); }

int shmem_init_thread(int requested, int* provided) {
    start();
    constexpr int device_bits = SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT;
    const int requested_level = std::clamp(requested & ~device_bits, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
    thread_level = requested_level;
    if ((requested & SHMEM_DEVICE_HOST_INIT) != 0) {
        try {
            (void)job::instance().need_device();
            thread_level |= SHMEM_DEVICE_HOST_INIT;
        } catch (const std::exception&) { // the program sees that it is not provided; shmemg_malloc() says why
        }
    }
    if (requested_level != SHMEM_THREAD_SINGLE) job::instance().allow_threads();
    if (requested_level > SHMEM_THREAD_FUNNELED) job::expect_others();
    if (provided != nullptr) *provided = thread_level;
    return 0;
}

void shmem_query_thread(int* provided) { *provided = thread_level; }
void shmem_finalize(void) { job::finish(); }
void shmem_global_exit(int status) {
    // As exit() does, but a stream in which another thread waits for input is left after a while.
    std::promise<void> flushed;
    std::thread([&flushed] {
        std::fflush(nullptr);
        flushed.set_value();
    }).detach();
    flushed.get_future().wait_for(std::chrono::seconds(1));
    job::exit_all(status);
}

int shmem_my_pe(void) { return job::known("shmem_my_pe").pe(); }
int shmem_n_pes(void) { return job::known("shmem_n_pes").pes(); }
int shmem_pe_accessible(int pe) { return pe >= 0 && pe < job::known("shmem_pe_accessible").pes() ? 1 : 0; }
int shmem_addr_accessible(const void* address, int pe) {
    const auto& all = job::known("shmem_addr_accessible");
    return all.is_symmetric(address) && pe >= 0 && pe < all.pes() ? 1 : 0;
}
void* shmem_ptr(const void* address, int pe) { return job::known("shmem_ptr").find(address, pe); }

void shmem_info_get_version(int* major, int* minor) {
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
void shmem_info_get_name(char* name) { std::memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING); }
void shmem_pcontrol(int, ...) {}

void* shmem_malloc(size_t size) { return job::required("shmem_malloc").allocate("shmem_malloc", size, 1); }
void* shmem_calloc(size_t count, size_t size) {
    auto& all = job::required("shmem_calloc");
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    auto* const made = all.allocate("shmem_calloc", bytes, 1);
    if (made != nullptr) std::memset(made, 0, bytes);
    if (bytes != 0) all.meet_all("shmem_calloc");
    return made;
}
void* shmem_align(size_t alignment, size_t size) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    return job::required("shmem_align").allocate("shmem_align", size, alignment);
}
void* shmem_malloc_with_hints(size_t size, long) { return shmem_malloc(size); }
void* shmem_realloc(void* address, size_t size) {
    return job::required("shmem_realloc").reallocate("shmem_realloc", address, size);
}
void shmem_free(void* address) { job::required("shmem_free").free("shmem_free", address); }

void* shmemg_malloc(size_t size) { return size == 0 ? nullptr : device("shmemg_malloc").allocate(size, 1); }
void* shmemg_calloc(size_t count, size_t size) {
    return count == 0 || size == 0 ? nullptr : device("shmemg_calloc").allocate_cleared(count, size);
}
void* shmemg_align(size_t alignment, size_t size) {
    return size == 0 ? nullptr : device("shmemg_align").allocate(size, alignment);
}
void shmemg_free(void* address) {
    if (address != nullptr) device("shmemg_free").free("shmemg_free", address);
}

int shmem_team_my_pe(shmem_team_t team) {
    return team == nullptr ? -1 : team->who.index_of(job::known("shmem_team_my_pe").pe());
}
int shmem_team_n_pes(shmem_team_t team) { return team == nullptr ? -1 : team->who.size; }
int shmem_team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config) {
    if (team == nullptr) return -1;
    if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 && config != nullptr) *config = team->config;
    return 0;
}
int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) {
    if (from == nullptr || to == nullptr || pe < 0 || pe >= from->who.size) return -1;
    return to->who.index_of(from->who.world(pe));
}

int shmem_team_split_strided(shmem_team_t parent, int first, int stride, int size, const shmem_team_config_t* config,
                             long mask, shmem_team_t* made) {
    auto& all = job::required("shmem_team_split_strided");
    *made = nullptr;
    if (parent == nullptr) return -1;
    const auto& above = parent->who;
    const auto last = static_cast<long long>(first) + static_cast<long long>(size - 1) * stride;
    bool is_made = size > 0 && (stride != 0 || size == 1) && first >= 0 && first < above.size && last >= 0 &&
                   last < above.size;
    if (!is_made) {
        all.meet("shmem_team_split_strided", above, slot_of(parent));
        return -1;
    }
    const members who{above.world(first), size == 1 ? 1 : stride * above.stride, size};
    team_slot slot;
    is_made = all.make_slot("shmem_team_split_strided", above, slot_of(parent), who, slot);
    if (is_made && who.index_of(all.pe()) >= 0) {
        *made = new causeway_shmem_team{who, std::move(slot), {}};
        if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 && config != nullptr) (*made)->config = *config;
    }
    return is_made ? 0 : -1;
}

int shmem_team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                        shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask, shmem_team_t* yteam) {
    *xteam = *yteam = nullptr;
    if (parent == nullptr || xrange <= 0) return -1;
    const int size = parent->who.size, own = shmem_team_my_pe(parent);
    const int width = std::min(xrange, size), rows = (size + width - 1) / width;
    // All take part in each split, in the same order.
    shmem_team_t of_others = nullptr;
    for (int row = 0; row < rows; ++row) {
        if (shmem_team_split_strided(parent, row * width, 1, std::min(width, size - row * width), xconfig, xmask,
                                     own / width == row ? xteam : &of_others) != 0)
            return -1;
    }
    for (int column = 0; column < width; ++column) {
        if (shmem_team_split_strided(parent, column, width, (size - column + width - 1) / width, yconfig, ymask,
                                     own % width == column ? yteam : &of_others) != 0)
            return -1;
    }
    return 0;
}

void shmem_team_destroy(shmem_team_t team) {
    if (team == nullptr || team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED) return;
    auto& all = job::required("shmem_team_destroy");
    all.meet("shmem_team_destroy", team->who, team->slot);
    all.free_slot(team->slot);
    delete team;
}

int shmem_ctx_create(long options, shmem_ctx_t* ctx) { return shmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx); }
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
    *ctx = nullptr;
    if (team == nullptr) return -1;
    *ctx = new causeway_shmem_context{team, options};
    return 0;
}
void shmem_ctx_destroy(shmem_ctx_t ctx) {
    if (ctx == nullptr) return;
    shmem_quiet();
    if (ctx != SHMEM_CTX_DEFAULT) delete ctx;
}
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
    *team = ctx == nullptr ? nullptr : ctx->team;
    return ctx == nullptr ? -1 : 0;
}

void start_pes(int) { start(); }
int _my_pe(void) { return shmem_my_pe(); }
int _num_pes(void) { return shmem_n_pes(); }
int my_pe(void) { return shmem_my_pe(); }
int num_pes(void) { return shmem_n_pes(); }
void* shmalloc(size_t size) { return shmem_malloc(size); }
void shfree(void* address) { shmem_free(address); }
void* shrealloc(void* address, size_t size) { return shmem_realloc(address, size); }
void* shmemalign(size_t alignment, size_t size) { return shmem_align(alignment, size); }
void shmem_clear_cache_inv(void) {}
void shmem_set_cache_inv(void) {}
void shmem_clear_cache_line_inv(void*) {}
void shmem_set_cache_line_inv(void*) {}
void shmem_udcflush(void) {}
void shmem_udcflush_line(void*) {}

} // extern "C"
