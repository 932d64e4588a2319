// The columns of the nodes as a table.

import { amount, count, cpu, memory } from "../../lib/quantity.ts";
import { markOf } from "../view/windows.ts";
import { ailmentsOf, describePast } from "../view/nodewords.ts";
import type { Column } from "../../lib/grid.ts";
import type { View } from "../view/view.ts";

const EXTENDED = 4; // columns of extended resources in the table

/** The columns of the table for what is shown. */
export function nodeColumns(view: View) {
  const { nodes, cluster } = view.playback;
  const { facts } = view;
  const number = (key: string, label: string, value: (node: number) => number, text: (node: number) => string) => ({
    key,
    label,
    className: "num",
    downFirst: true,
    compare: (a: number, b: number) => value(a) - value(b),
    text,
  });
  const found = {
    fits: () => "fits",
    failed: (node: number) => facts.verdict?.reasonsOf(node).join(", ") ?? "",
    past: (node: number) => describePast(view, node),
    unreached: () => "",
    unknown: () => "",
  };
  const verdict = (node: number) => (facts.chosen === node ? "chosen" : found[view.verdictOf(node)](node));
  const state = (node: number) =>
    [...ailmentsOf(view, node), ...nodes.taints[node], ...(markOf(view, node)?.sentences ?? [])].join(", ");
  const columns: Column[] = [
    {
      key: "name",
      label: "node",
      compare: (a, b) => nodes.names[a].localeCompare(nodes.names[b], "en", { numeric: true }),
      text: (node) => nodes.names[node],
    },
    {
      key: "zone",
      label: "zone",
      compare: (a, b) => nodes.zone[a].localeCompare(nodes.zone[b]),
      text: (node) => nodes.zone[node],
    },
    number(
      "cpu",
      "cpu",
      (node) => cluster.cpu[node] / (nodes.cpu[node] || 1),
      (node) => `${cpu(cluster.cpu[node])} / ${cpu(nodes.cpu[node])}`,
    ),
    number(
      "memory",
      "memory",
      (node) => cluster.memory[node] / (nodes.memory[node] || 1),
      (node) => `${memory(cluster.memory[node])} / ${memory(nodes.memory[node])}`,
    ),
    number(
      "pods",
      "pods",
      (node) => cluster.count[node],
      (node) => `${cluster.count[node]} / ${nodes.pods[node]}`,
    ),
    ...Object.keys(nodes.extended)
      .filter((resource) => nodes.extended[resource].some(Boolean))
      .slice(0, EXTENDED)
      .map((resource) =>
        number(
          resource,
          resource,
          (node) => cluster.extendedUsed(node, resource) / (nodes.extended[resource][node] || 1),
          (node) =>
            nodes.extended[resource][node]
              ? [cluster.extendedUsed(node, resource), nodes.extended[resource][node]]
                  .map((value) => amount(resource, value))
                  .join(" / ")
              : "",
        ),
      ),
    { key: "state", label: "state", compare: (a, b) => state(a).localeCompare(state(b)), text: state },
    {
      key: "verdict",
      label: "this cycle",
      className: "wide",
      compare: (a, b) => verdict(a).localeCompare(verdict(b)),
      text: verdict,
    },
    number(
      "score",
      "score",
      (node) => facts.totals?.get(node) ?? -1,
      (node) => (facts.totals?.has(node) ? count(facts.totals.get(node) ?? 0) : ""),
    ),
  ];
  return columns;
}
