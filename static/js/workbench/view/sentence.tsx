// Sentences whose nouns are links: text, {pod}, {node}, {predicate}, {priority}, {group}, {job}, {tab} and
// {strong}.

import type { Phrase, Sentence } from "../../lib/protocol.js";
import { Inline } from "../../kit/inline.tsx";
import { short } from "../../lib/quantity.ts";
import { termsIn } from "../playback/terms.ts";
import type { View } from "./view.ts";
import { nodeLink, podLink } from "./nouns.tsx";

/** What a link does instead of opening its tab. */
export type Acts = { priority?: (name: string) => void };

/** One sentence as a paragraph. */
export const sentence = (view: View, parts: Sentence, acts: Acts = {}) => (
  <p>{typeof parts === "string" ? parts : parts.map((part) => phrase(view, part, acts))}</p>
);

function phrase(view: View, part: string | Phrase, acts: Acts) {
  if (typeof part === "string") return part;
  const { pod, node, predicate, priority, group, job, tab } = part;
  if (pod !== undefined) return podLink(view, pod, { dot: false });
  if (node !== undefined) return nodeLink(view, node);
  const link = (text: string, act: () => void, title: string) => (
    <Inline act={act} title={title}>
      {text}
    </Inline>
  );
  const shown = (key: string, sub: string) => () => {
    view.setTab(key);
    view.setSub(sub);
  };
  const terms = termsIn(view.playback);
  if (predicate !== undefined)
    return link(
      predicate,
      () => removedBy(view, predicate),
      `light up the nodes it removed, and open the tab ${terms.filterTab}`,
    );
  if (priority !== undefined)
    return acts.priority
      ? link(priority, () => acts.priority?.(priority), "show how it scored")
      : link(priority, () => view.setTab("priorities"), `open the tab ${terms.scoreTab}`);
  if (group !== undefined) return link(short(group), shown("podgroups", group), `PodGroup ${group}`);
  if (job !== undefined) return link(short(job), shown("session", `@${job}`), `job ${job}: its steps in the session`);
  if (tab !== undefined) return link(tab, () => view.setTab(tab.toLowerCase()), `open the tab ${tab}`);
  return <strong>{part.strong}</strong>;
}

/** Light up the nodes that a predicate removed, and open its tab. */
function removedBy(view: View, name: string) {
  const { verdict } = view.facts;
  view.setTab("predicates");
  const at = verdict?.order.indexOf(name) ?? -1;
  if (!verdict || at < 0) return;
  const nodes = [];
  for (let node = 0; node < verdict.count; node += 1)
    if (verdict.first[node] === at && view.exists(node)) nodes.push(node);
  view.light(nodes, `stopped by ${name}`);
}
