// SPDX-License-Identifier: Apache-2.0
// Copies between devices, with every call that they make failing once.
#include "faults/scenes.hpp"

#include <mpi.h>

using namespace faults;

namespace {

constexpr std::size_t size = (300 << 10) + 5;

class peer_copy_faults : public shaped_test {
  protected:
    void SetUp() override {
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (ranks > 1) GTEST_SKIP() << "needs no second rank";
    }
};
INSTANTIATE_TEST_SUITE_P(devices, peer_copy_faults,
                         testing::Combine(testing::ValuesIn(one_device_each()), testing::ValuesIn(all_shapes())),
                         shaped_name);

class peer_copy final : public scenario {
  public:
    /// Within `source`'s context, or from one context to another.
    peer_copy(const device_scene& source, const device_scene& target)
        : m_source(source), m_target(target), m_from(source, size), m_to(target, size) {}

    void reset() override {
        m_from.fill(m_bytes);
        m_to.fill(support::pattern(size, 3));
    }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueuePeerCopyBuffer(m_source.queue(), m_from.buffer(), m_target.queue(), m_to.buffer(), CL_FALSE,
                                           m_from.offset(), m_to.offset(), size, 0, nullptr, event);
        }));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        m_from.expect(m_bytes, size, true, failed);
        m_to.expect(m_bytes, endings[0].moved, endings[0].refused != CL_SUCCESS, failed);
        if (endings[0].succeeded()) {
            EXPECT_EQ(endings[0].moved, size);
        }
    }
    void touch() override {
        m_from.touch();
        m_to.touch();
    }
    std::vector<cl_context> contexts() const override { return {m_source.context(), m_target.context()}; }
    std::vector<cl_command_queue> queues() const override { return {m_source.queue(), m_target.queue()}; }

  private:
    const device_scene& m_source;
    const device_scene& m_target;
    framed_range m_from, m_to;
    support::bytes m_bytes = support::pattern(size);
};

} // namespace

TEST_P(peer_copy_faults, a_copy_between_contexts) {
    const device_scene source(device()), target(device());
    peer_copy run(source, target);
    fail_every_call(run);
}

TEST_P(peer_copy_faults, a_copy_within_a_queue) {
    const device_scene both(device());
    peer_copy run(both, both);
    fail_every_call(run);
}

TEST_P(peer_copy_faults, a_copy_by_the_device_itself) {
    const support::option_scope direct("strategy", "direct");
    const device_scene both(device());
    peer_copy run(both, both);
    fail_every_call(run);
}
