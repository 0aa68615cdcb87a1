// SPDX-License-Identifier: Apache-2.0
// Loops over gangs, workers and vector lanes, and their reductions.
#include "kernel_writer.hpp"

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>

namespace directive {

using namespace clang;

void kernel_writer::spread(const loop_node& node, position at) {
    const bool gang = node.gang && m_gangs_allowed;
    const bool workers = node.worker && !m_one_worker && m_any_worker;
    const bool lanes = node.vector && !m_one_lane && m_any_vector;
    std::string how = gang ? " gang" : "";
    if (node.worker) how += m_one_worker ? "" : " worker";
    if (node.vector) how += m_one_lane ? "" : " vector";
    line("{ /* line " + std::to_string(line_of(node.loops.front().loop->getForLoc())) + ":" +
         (how.empty() ? " in order" : how) + " */");
    ++m_indent;
    auto reductions = node.reductions;
    // A loop that is spread without a clause inside of one that reduces the variable reduces it, too.
    if (workers || lanes)
        for (const auto& [variable, operation] : m_active_reductions)
            if (std::none_of(reductions.begin(), reductions.end(),
                             [&, v = variable](const auto& each) { return each.variable == v; }) &&
                is_changed(node.body, variable))
                reductions.push_back({variable, operation});
    // A loop around this one joins at its end what the threads have.
    std::erase_if(reductions, [&](const auto& each) { return m_deferred.contains(each.variable); });
    const auto deferred_before = m_deferred.size();
    std::map<const VarDecl*, levels> joined;
    for (const auto& each : reductions) {
        joined[each.variable] = {workers, lanes};
        if (!gang || workers || lanes) continue;
        if (const auto inside = deferred_levels(node, each))
            m_deferred[each.variable] = joined[each.variable] = *inside;
    }
    const bool joins = !reductions.empty() && (gang || workers || lanes);
    std::map<const VarDecl*, naming> on_device; // of which threads have a copy meanwhile
    if (joins && (workers || lanes || m_deferred.size() > deferred_before) && !at.uniform) give_up_levels(at);
    if (joins)
        for (const auto& each : reductions) {
            const auto variable = identifier(each.variable->getNameAsString());
            const auto known = m_print.names().find(each.variable);
            const auto name = known != m_print.names().end() ? known->second.text : variable;
            const auto type = m_program.types.name(each.variable->getType().getUnqualifiedType(), node.location());
            const auto identity = begins_with_value(each.operation)
                                      ? "acc_before_" + variable
                                      : reduction_identity(each.operation, each.variable->getType());
            line(type + " acc_before_" + variable + " = " + name + ";");
            if (known != m_print.names().end() && known->second.on_device) {
                on_device[each.variable] = known->second;
                known->second = naming{"acc_own_" + variable};
                line(type + " acc_own_" + variable + " = " + identity + ";");
            } else {
                line(name + " = " + identity + ";");
            }
        }
    const auto actives = m_active_reductions.size();
    for (const auto& each : reductions) m_active_reductions.emplace_back(each.variable, each.operation);
    auto any_order = node.is_spread() ? m_any_order : std::set<const VarDecl*>{};
    if (node.is_spread())
        for (const auto& each : node.reductions) any_order.insert(each.variable);
    any_order.swap(m_any_order);
    std::vector<std::pair<const VarDecl*, std::optional<naming>>> outside;
    for (const auto& each : node.loops) {
        const auto known = m_print.names().find(each.variable);
        outside.emplace_back(each.variable,
                             known == m_print.names().end() ? std::nullopt : std::optional(known->second));
    }
    const auto value = loops(node, at, gang, workers, lanes);
    for (const auto& [variable, known] : outside) {
        m_print.names().erase(variable);
        if (known) m_print.names().emplace(variable, *known);
    }
    if (node.leaves_value) leave_value(node, at, gang, value);
    any_order.swap(m_any_order);
    m_active_reductions.resize(actives);
    for (const auto& each : reductions) m_deferred.erase(each.variable);
    if (joins)
        for (const auto& each : reductions) {
            join(each, node, joined[each.variable].workers, joined[each.variable].lanes);
            const auto device = on_device.find(each.variable);
            if (device == on_device.end()) continue;
            line(device->second.text + " = " + m_print.names()[each.variable].text + ";");
            m_print.names()[each.variable] = device->second;
        }
    --m_indent;
    line("}");
    if (joins || !(workers || lanes) || at.last) return;
    if (at.uniform)
        barrier();
    else
        give_up_levels(at);
}

bool kernel_writer::is_changed(const Stmt* body, const VarDecl* variable) {
    const auto all = accesses_in(body);
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& each) { return each.root == variable && each.writes && !each.memory; });
}

kernel_writer::levels kernel_writer::levels_of(const loop_node& node) const {
    return {node.worker && !m_one_worker && m_any_worker, node.vector && !m_one_lane && m_any_vector};
}

std::optional<kernel_writer::levels> kernel_writer::deferred_levels(const loop_node& node,
                                                                    const reduction& each) const {
    std::optional<levels> found;
    std::set<const Expr*> inside;
    for (const auto* inner : node.inner) {
        const bool reduces = std::any_of(inner->reductions.begin(), inner->reductions.end(), [&](const auto& other) {
            return other.variable == each.variable && other.operation == each.operation;
        });
        if (!reduces && !is_changed(inner->body, each.variable)) continue;
        const auto own = levels_of(*inner);
        if ((!own.workers && !own.lanes) || (found && !(*found == own))) return std::nullopt;
        // All threads of a gang that repeat a loop would count it as often.
        if (own.workers != (m_any_worker && !m_one_worker) || own.lanes != (m_any_vector && !m_one_lane))
            return std::nullopt;
        if (!inner->inner.empty()) return std::nullopt;
        found = own;
        for (const auto& use : accesses_in(inner->body)) inside.insert(use.expression);
    }
    for (const auto& use : accesses_in(node.body))
        if (use.root == each.variable && !inside.contains(use.expression)) return std::nullopt;
    return found;
}

const loop_node* kernel_writer::only_inner(const loop_node& node) const {
    if (node.inner.size() != 1 || node.repeated || !node.reductions.empty() || !node.privates.empty() ||
        has_reductions() || !m_scratches.empty() || !m_active_reductions.empty() ||
        std::any_of(m_region.captures.begin(), m_region.captures.end(),
                    [](const auto& each) { return each.own_array; }))
        return nullptr;
    const auto* inner = node.inner.front();
    const auto spread = levels_of(*inner);
    if (!spread.lanes || !inner->reductions.empty() || !inner->inner.empty() || changes_what_all_read(*inner))
        return nullptr;
    const auto is_inner = [&](const Stmt* each) {
        const auto of = directive_of(m_unit, each);
        return (of && of.body ? m_tree.find(of.body) : m_tree.find(each)) == inner;
    };
    if (is_inner(node.body)) return inner;
    const auto* block = dyn_cast<CompoundStmt>(node.body);
    if (!block || block->body_empty() || !is_inner(block->body_back())) return nullptr;
    for (const auto* each : block->body())
        if (each != block->body_back() && !(isa<DeclStmt>(each) && !effects_of(each).memory)) return nullptr;
    return inner;
}

bool kernel_writer::is_on_device(const access& use) const {
    const auto named = m_print.names().find(use.root);
    return use.memory || (named != m_print.names().end() && named->second.on_device);
}

bool kernel_writer::gangs_use_memory() const {
    const levels all = {m_any_worker && !m_one_worker, m_any_vector && !m_one_lane};
    if (all == levels{}) return false;
    std::set<const Expr*> spread;
    for (const auto* each : m_region.loops) {
        levels found;
        for (const auto* node = each; node; node = node->parent) {
            const auto own = levels_of(*node);
            found = {found.workers || own.workers, found.lanes || own.lanes};
        }
        if (!(found == all)) continue;
        for (const auto& use : accesses_in(each->body)) spread.insert(use.expression);
    }
    for (const auto* statement : m_statements)
        for (const auto& use : accesses_in(statement))
            if (is_on_device(use) && !spread.contains(use.expression)) return true;
    return false;
}

bool kernel_writer::changes_what_all_read(const loop_node& node) const {
    std::set<const VarDecl*> written;
    for (const auto& each : accesses_in(node.body)) {
        if (each.writes && is_on_device(each)) written.merge(m_pointees.reached(each.root));
    }
    if (written.empty()) return false;
    // Loops that are spread end with a barrier.
    std::set<const Expr*> spread;
    for (const auto* each : m_region.loops) {
        const auto levels = levels_of(*each);
        if (each != &node && ((!levels.workers && !levels.lanes) || within(&node, each))) continue;
        for (const auto& use : accesses_in(each->body)) spread.insert(use.expression);
    }
    for (const auto* statement : m_statements)
        for (const auto& each : accesses_in(statement)) {
            if (!each.reads || spread.contains(each.expression) || !is_on_device(each)) continue;
            const auto all = m_pointees.reached(each.root);
            if (written.contains(nullptr) || all.contains(nullptr) ||
                std::any_of(all.begin(), all.end(), [&](const auto* one) { return written.contains(one); }))
                return true;
        }
    return false;
}

void kernel_writer::join(const reduction& each, const loop_node& node, bool workers, bool lanes) {
    const auto variable = identifier(each.variable->getNameAsString());
    const auto name = m_print.names().contains(each.variable) ? m_print.names()[each.variable].text : variable;
    const auto type = m_program.types.name(each.variable->getType().getUnqualifiedType(), node.location());
    if (workers || lanes) {
        line("{");
        ++m_indent;
        line("__local " + type + " *acc_part = (__local " + type + " *)acc_scratch;");
        const std::string lane = "get_local_id(0)", worker = "get_local_id(1)", width = "get_local_size(0)";
        line("const int acc_self = " + worker + " * " + width + " + " + lane + ";");
        if (workers && lanes)
            line("const int acc_of = get_local_size(0) * get_local_size(1), acc_rank = acc_self, acc_apart = 1, "
                 "acc_first = 0;");
        else if (lanes)
            line("const int acc_of = get_local_size(0), acc_rank = " + lane + ", acc_apart = 1, acc_first = " + worker +
                 " * " + width + ";");
        else
            line("const int acc_of = get_local_size(1), acc_rank = " + worker + ", acc_apart = " + width +
                 ", acc_first = " + lane + ";");
        barrier();
        line("acc_part[acc_self] = " + name + ";");
        barrier();
        // At least one round: PoCL doubles what follows a barrier that may be passed by.
        line("int acc_step = acc_half(acc_of);");
        line("do {");
        const std::string mine = "acc_part[acc_self]", other = "acc_part[acc_self + acc_step * acc_apart]";
        line("    if (acc_rank < acc_step && acc_rank + acc_step < acc_of) " + mine + " = " +
             reduction_step(each.operation, mine, other, "acc_before_" + variable) + ";");
        line("    barrier(CLK_LOCAL_MEM_FENCE);");
        line("    acc_step /= 2;");
        line("} while (acc_step > 0);");
        line(name + " = acc_part[acc_first];");
        barrier();
        --m_indent;
        line("}");
    }
    line(name + " = " + reduction_step(each.operation, "acc_before_" + variable, name, "acc_before_" + variable) + ";");
}

namespace {

bool continues(const Stmt* body) {
    bool found = false;
    walk(body, [&](const Stmt* each) {
        found |= isa<ContinueStmt>(each);
        return !isa<ForStmt, WhileStmt, DoStmt>(each);
    });
    return found;
}

bool declares_in_block(const Stmt* body, const std::vector<std::string>& names) {
    const auto* block = dyn_cast<CompoundStmt>(body);
    return block && std::any_of(block->body_begin(), block->body_end(), [&](const Stmt* each) {
               const auto* declaration = dyn_cast<DeclStmt>(each);
               return declaration &&
                      std::any_of(declaration->decl_begin(), declaration->decl_end(), [&](const Decl* one) {
                          const auto* named = dyn_cast<NamedDecl>(one);
                          return named &&
                                 std::find(names.begin(), names.end(), named->getNameAsString()) != names.end();
                      });
           });
}

} // namespace

void kernel_writer::leave_value(const loop_node& node, const position& at, bool gang, const std::string& value) {
    const auto* variable = node.loops.front().variable;
    const auto known = m_print.names().find(variable);
    const auto name = known == m_print.names().end() ? identifier(variable->getNameAsString()) : known->second.text;
    const auto text = name + " = " + value + ";";
    if (gang && m_kept.contains(variable))
        return line("if (get_global_id(0) == 0 && get_global_id(1) == 0) *acc_at_" + text);
    if (known == m_print.names().end() || !known->second.on_device) return line(text);
    if (gang) return line("if (get_global_id(0) == 0 && get_global_id(1) == 0) " + text);
    if (!redundant(at)) return line(text);
    if (!at.uniform) {
        give_up_levels(at);
        return line(text);
    }
    barrier();
    line("if (" + first_thread(at) + ") " + text);
    barrier();
}

std::string kernel_writer::loops(const loop_node& node, position at, bool gang, bool workers, bool lanes) {
    const std::string type = is_short(node) ? "int" : "long";
    const auto id = std::to_string(line_of(node.loops.front().loop->getForLoc())) + "_" + std::to_string(m_indent);
    const auto total = "acc_n" + id, at_name = "acc_k" + id;
    // Where C counts anew before each iteration, what the loop writes may move its end.
    const auto end_uses = accesses_in(node.loops.front().last);
    const bool end_moves = m_region.kernels && !node.of.directive &&
                           std::any_of(end_uses.begin(), end_uses.end(), [](const auto& each) { return each.memory; });
    std::vector<std::string> lengths, firsts;
    for (std::size_t each = 0; each < node.loops.size(); ++each) {
        lengths.push_back(node.loops.size() == 1 ? total : total + "_" + std::to_string(each));
        line((end_moves ? "" : "const ") + type + " " + lengths.back() + " = " + trips(node.loops[each]) + ";");
        // What the loop writes must not move where it has begun.
        const auto& loop = node.loops[each];
        const auto first = m_print.operand(loop.first);
        firsts.push_back(converted(first, loop.first, loop, loop.type, language::kernel));
        if (host_text(loop.first)) continue;
        firsts.back() = "acc_first" + id + "_" + std::to_string(each);
        line("const " + m_program.types.name(loop.variable->getType().getUnqualifiedType(), loop.loop->getForLoc()) +
             " " + firsts.back() + " = " + first + ";");
    }
    const auto product = [](const std::vector<std::string>& factors, std::size_t first) {
        std::string all;
        for (auto each = first; each < factors.size(); ++each) all += (all.empty() ? "" : " * ") + factors[each];
        return all;
    };
    // A tile's elements follow each other; where it hangs over the end of a loop, they have nothing to do.
    std::vector<std::string> sizes, tiles;
    if (node.tile)
        for (std::size_t each = 0; each < lengths.size(); ++each) {
            const auto number = id + "_" + std::to_string(each);
            const auto& size = node.tile->items[each].base;
            // `*` leaves it to us: rows of 32 next to each other, a few of them together.
            const std::string chosen = each + 1 == lengths.size() ? "32" : each + 2 == lengths.size() ? "8" : "1";
            sizes.push_back("acc_t" + number);
            tiles.push_back("acc_tiles" + number);
            line("const long " + sizes.back() + " = " + (size ? m_print.print(tree_of(node.of, size)) : chosen) + ";");
            line("const long " + tiles.back() + " = (" + lengths[each] + " + " + sizes.back() + " - 1) / " +
                 sizes.back() + ";");
        }
    if (node.loops.size() > 1)
        line("const long " + total + " = " + product(node.tile ? tiles : lengths, 0) +
             (node.tile ? " * " + product(sizes, 0) : "") + ";");
    std::string lane, width;
    const auto cast = "(" + type + ")";
    if (workers && lanes) {
        lane = cast + "(get_local_id(1) * get_local_size(0) + get_local_id(0))";
        width = cast + "(get_local_size(0) * get_local_size(1))";
    } else if (lanes) {
        lane = cast + "get_local_id(0)";
        width = cast + "get_local_size(0)";
    } else if (workers) {
        lane = cast + "get_local_id(1)";
        width = cast + "get_local_size(1)";
    }
    std::string from = "0", to = total, step = "1";
    if (gang && m_has_gang_loop && m_host_trips != "0") {
        const auto trips = host_trips(node).value_or("0");
        if (trips == "0" || (workers || lanes) != m_lanes_share)
            m_host_trips = "0";
        else if (trips != m_host_trips)
            m_host_trips = "causeway_acc_larger(" + m_host_trips + ", " + trips + ")";
    }
    if (gang && !std::exchange(m_has_gang_loop, true)) {
        m_host_trips = host_trips(node).value_or("0");
        m_lanes_share = workers || lanes;
        m_split = at.uniform && !workers && !lanes && m_gang_loops == 1 ? only_inner(node) : nullptr;
        if (m_split) m_inner_trips = host_trips(*m_split).value_or("0");
        const levels all = {m_any_worker && !m_one_worker, m_any_vector && !m_one_lane};
        m_one_each = m_gang_loops == 1 && host_trips(node) && !continues(node.body) &&
                     (!m_lanes_share || levels{workers, lanes} == all) &&
                     (!m_split || (host_trips(*m_split) && !continues(m_split->body) && levels_of(*m_split) == all));
    }
    const bool one_each = m_one_each && (gang || &node == m_split);
    if (gang) {
        const auto part = "acc_part" + id, rest = "acc_rest" + id, begin = "acc_from" + id, end = "acc_to" + id;
        // Where groups share the lanes' loop, the rows of threads are gangs: several in a group if it has no workers.
        const std::string gangs = cast + (!m_split       ? "get_num_groups(0)"
                                          : m_any_worker ? "get_num_groups(1)"
                                                         : "get_global_size(1)");
        const std::string self = cast + (!m_split       ? "get_group_id(0)"
                                         : m_any_worker ? "get_group_id(1)"
                                                        : "get_global_id(1)");
        const auto in_turn = "ACC_IN_TURN(" + total + ")", at_once = width.empty() ? "1" : width;
        // Parts differ by one iteration at most, so that no gang is without one that another has twice.
        line("const " + type + " " + part + " = " + in_turn + " ? " + at_once + " : " + total + " / " + gangs + ", " +
             rest + " = " + in_turn + " ? 0 : " + total + " % " + gangs + ";");
        // Not min(): a variable of the program may have that name.
        line("const " + type + " " + begin + " = " + part + " * " + self + " + (" + self + " < " + rest + " ? " + self +
             " : " + rest + ");");
        line("const " + type + " " + end + " = " + in_turn + " ? " + total + " : " + begin + " + " + part + " + (" +
             self + " < " + rest + ");");
        from = begin;
        to = end;
        step = "acc_apart" + id;
        line("const " + type + " " + step + " = " + in_turn + " ? " + (width.empty() ? gangs : gangs + " * " + width) +
             " : " + at_once + ";");
    }
    if (&node == m_split) {
        lane += " + " + cast + "get_group_id(0) * " + width;
        width += " * " + cast + "get_num_groups(0)";
    }
    if (!lane.empty()) {
        from = from == "0" ? lane : from + " + " + lane;
        if (!gang) step = width;
    }
    if ((workers || lanes) && changes_what_all_read(node)) {
        if (at.uniform)
            barrier();
        else
            give_up_levels(at);
    }
    // Intel's runtime (2025) makes vectors of c[i] += c[i - 3] that are as wide as four.
    if (!gang && lane.empty() && !node.independent) line("#pragma clang loop vectorize(disable)");
    const auto until = !end_moves
                           ? to
                           : "ACC_END(" + to + ", " + total + " = " +
                                 trip_count(node.loops.front(), firsts.front(),
                                            m_print.operand(node.loops.front().last),
                                            node.loops.front().step ? m_print.operand(node.loops.front().step) : "1",
                                            language::kernel) +
                                 ")";
    if (one_each)
        line("ACC_FOR(" + type + ", " + at_name + ", " + from + ", " + to + ", " + step + ") {");
    else
        line("for (" + type + " " + at_name + " = " + from + "; " + at_name + " < " + until + "; " + at_name +
             " += " + step + ") {");
    ++m_indent;
    std::string inside_tile;
    for (std::size_t each = 0; each < node.loops.size(); ++each) {
        std::string index = at_name;
        const auto digit = [&](const std::string& of, const std::vector<std::string>& bases) {
            const auto below = product(bases, each + 1);
            const auto quotient = below.empty() ? of : "acc_quotient(" + of + ", " + below + ")";
            return each > 0 ? "acc_rest(" + quotient + ", " + bases[each] + ")" : quotient;
        };
        if (node.tile) {
            const auto elements = product(sizes, 0);
            index = "acc_i" + id + "_" + std::to_string(each);
            line("const long " + index + " = " + digit("acc_quotient(" + at_name + ", " + elements + ")", tiles) +
                 " * " + sizes[each] + " + " + digit("acc_rest(" + at_name + ", " + elements + ")", sizes) + ";");
            inside_tile += (inside_tile.empty() ? "" : " && ") + index + " < " + lengths[each];
        } else if (node.loops.size() > 1) {
            index = digit(at_name, lengths);
        }
        line(loop_variable(node.loops[each], firsts[each], index));
    }
    for (const auto* entry : node.privates) own_variable(node, *entry);
    const auto begin = m_out->size();
    if (node.tile) {
        line("if (" + inside_tile + ") {");
        ++m_indent;
    }
    position inside = at;
    inside.workers |= workers;
    inside.vector |= lanes;
    if (workers || lanes) inside.uniform = false;
    inside.last = gang || workers || lanes;
    // Iterations in turn: what one wrote the next may read.
    if (!gang && !workers && !lanes && !node.independent) inside.last = false;
    // A block of its own may declare the loop's names anew.
    std::vector<std::string> names;
    for (const auto& each : node.loops) names.push_back(each.variable->getNameAsString());
    for (const auto* each : node.privates) names.push_back(each->base.text);
    const bool own_block = declares_in_block(node.body, names);
    --m_indent;
    if (own_block) line("    {");
    block(node.body, inside);
    if (own_block) line("    }");
    if (node.tile) {
        line("}");
        may_be_passed(begin);
        --m_indent;
    }
    line("}");
    return value_at(node.loops.front(), firsts.front(), lengths.front());
}

void kernel_writer::own_variable(const loop_node& node, const item& entry) {
    const auto* variable = variable_of(node.of, entry);
    if (!variable) throw unsupported{entry.location, "'" + entry.base.text + "' in the clause 'private'"};
    const auto name = identifier(variable->getNameAsString());
    const auto type = variable->getType();
    auto& names = m_print.names();
    for (const auto& counted : node.loops)
        if (counted.variable == variable) return;
    names[variable] = naming{name};
    if (has_rows(type) && !entry.sections.empty())
        throw unsupported{entry.location, "for each thread a copy of what the pointers in '" + name + "' point to"};
    if ((type->isPointerType() && !entry.sections.empty()) || type->isVariablyModifiedType()) {
        const auto key = name + std::to_string(node.of.directive->id);
        if (m_made_scratches.insert(key).second &&
            std::none_of(m_scratches.begin(), m_scratches.end(), [&](const auto& each) { return each.name == key; }))
            m_scratches.push_back({key, record_of(m_unit, node.of, entry, "CREATE").bytes});
        names[variable] = naming{name, true, false, true, true};
        const auto low = entry.sections.empty() || !entry.sections.front().low
                             ? std::string("0")
                             : m_print.print(tree_of(node.of, entry.sections.front().low));
        return line(own_array(variable, key, low));
    }
    line(m_program.types.declare(type.getUnqualifiedType(), name, entry.location) + ";");
}

bool kernel_writer::is_short(const loop_node& node) const {
    return node.loops.size() == 1 && m_unit.context.getTypeSize(node.loops[0].variable->getType()) <= 32;
}

std::string kernel_writer::trips(const counted_loop& loop) {
    return trip_count(loop, m_print.operand(loop.first), m_print.operand(loop.last),
                      loop.step ? m_print.operand(loop.step) : "1", language::kernel);
}

std::optional<std::string> kernel_writer::host_text(const Expr* expression) const {
    const auto known = [&](const auto& self, const Stmt* part) -> bool {
        if (const auto* use = dyn_cast<DeclRefExpr>(part)) {
            if (isa<EnumConstantDecl>(use->getDecl())) return true;
            const auto* variable = dyn_cast<VarDecl>(use->getDecl());
            const auto* taken = variable ? m_region.find(variable) : nullptr;
            return taken && taken->how == role::value && !taken->written;
        }
        if (const auto* operation = dyn_cast<BinaryOperator>(part)) {
            if (operation->isAssignmentOp() || operation->isLogicalOp()) return false;
        } else if (const auto* unary = dyn_cast<UnaryOperator>(part)) {
            if (unary->getOpcode() != UO_Minus && unary->getOpcode() != UO_Plus) return false;
        } else if (!isa<IntegerLiteral, ParenExpr, ImplicitCastExpr, CStyleCastExpr>(part)) {
            return false;
        }
        const auto parts = part->children();
        return std::all_of(parts.begin(), parts.end(), [&](const Stmt* each) { return self(self, each); });
    };
    if (!known(known, expression)) return std::nullopt;
    std::string text;
    llvm::raw_string_ostream out(text);
    expression->printPretty(out, nullptr, m_unit.context.getPrintingPolicy());
    return "(" + text + ")";
}

std::optional<std::string> kernel_writer::host_trips(const loop_node& node) const {
    if (node.repeated || node.tile) return std::nullopt;
    std::string product;
    for (const auto& loop : node.loops) {
        const auto first = host_text(loop.first), last = host_text(loop.last);
        const auto step = loop.step ? host_text(loop.step) : std::optional<std::string>("1");
        if (!first || !last || !step) return std::nullopt;
        const auto trips = trip_count(loop, *first, *last, *step, language::host);
        product += (product.empty() ? "" : " * ") + (is_short(node) ? "causeway_acc_short(" + trips + ")" : trips);
    }
    return product;
}

std::string kernel_writer::value_at(const counted_loop& loop, const std::string& first, const std::string& index) {
    const auto type = m_program.types.name(loop.variable->getType().getUnqualifiedType(), loop.loop->getForLoc());
    const auto counted = "(" + type + ")(" + index + ")";
    const auto step = loop.step ? m_print.operand(loop.step) : "1";
    return first + (loop.down ? " - " : " + ") + counted + (step == "1" ? "" : " * " + step);
}

std::string kernel_writer::loop_variable(const counted_loop& loop, const std::string& first, const std::string& index) {
    const auto type = m_program.types.name(loop.variable->getType().getUnqualifiedType(), loop.loop->getForLoc());
    const auto name = identifier(loop.variable->getNameAsString());
    m_print.names()[loop.variable] = naming{name};
    return type + " " + name + " = " + value_at(loop, first, index) + ";";
}

} // namespace directive
