// SPDX-License-Identifier: Apache-2.0
// The policies that look at no data: one queue, or one deque for each worker.
#include "tasks/policy.hpp"

namespace causeway::tasks {

namespace {

grouping one_group(std::span<const unsigned> node_of_worker) {
    grouping made;
    made.group_of_worker.assign(node_of_worker.size(), 0);
    made.node_of_group = {node_of_worker.empty() ? 0 : node_of_worker.front()};
    made.victims.resize(1);
    return made;
}

class work_stealing final : public policy {
  public:
    grouping group(const topology::machine&, std::span<const unsigned> node_of_worker) override {
        return one_group(node_of_worker);
    }
    bool deals() const override { return false; }
    unsigned deal(const deal_question&) const override { return own_queue; }
};

class central final : public policy {
  public:
    grouping group(const topology::machine&, std::span<const unsigned> node_of_worker) override {
        return one_group(node_of_worker);
    }
    unsigned deal(const deal_question&) const override { return 0; }
};

} // namespace

std::unique_ptr<policy> work_stealing_policy() { return std::make_unique<work_stealing>(); }
std::unique_ptr<policy> central_policy() { return std::make_unique<central>(); }

} // namespace causeway::tasks
