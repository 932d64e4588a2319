// What the parts of the Cache tab share: links to nodes, cycles and rows of the invalidation table, and lighting up
// nodes.

import type { ComponentChildren } from "preact";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import type { NodeIndex } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import type { Answer } from "../view/asking.tsx";
import type { View } from "../view/view.ts";
import { reference } from "./cachewords.ts";
import { nodeLink as named } from "../view/nouns.tsx";

const NAME = 26; // characters of a node's name in running text

/** A swatch for one meaning; never alone, a word stands beside it. */
export const swatch = (name: string) => <i class={`cache-mark ${name}`} aria-hidden="true" />;

export const nodeLink = (view: View, node: NodeIndex, max = NAME) => named(view, node, max);

export function cycleLink(view: View, index: number) {
  return (
    <Inline
      act={(event) => view.playback.goto(index, event.timeStamp)}
      title={`go to cycle ${index}`}
      class="link num"
      aria-label={`cycle ${index}`}
    >{`#${count(index)}`}</Inline>
  );
}

/** A row of the invalidation table, on the page that explains it. */
export function ruleLink(rule: string, text = rule) {
  return (
    <a
      class="link"
      href={reference(rule)}
      target="_blank"
      rel="noopener"
      title={`row ${rule} of the invalidation table`}
    >
      {text}
      <span class="sr">, opens the reference in another page</span>
    </a>
  );
}

/** A cause whose row is a link. */
export function because(text: string) {
  const [, cause, rule, rest] = /^(.*)\(rule ([\w-]+)\)(.*)$/s.exec(text) ?? [];
  return rule ? [cause, "(row ", ruleLink(rule), `)${rest}`] : text;
}

/** Why hits were stale, each cause with how many were. */
export const CauseList = ({ causes }: { causes: [cause: string, hits: number][] }) => (
  <ul>
    {causes.map(([cause, hits]) => (
      <li>
        <b class="num stale-text">{count(hits)}</b>
        <span>{because(cause)}</span>
      </li>
    ))}
  </ul>
);

/** Listeners that light up nodes on the stage while the pointer is there; a click keeps them lit. */
export function lighting(view: View, nodes: NodeIndex[], label: string) {
  let passing = false;
  return {
    onPointerEnter: (event: PointerEvent) => {
      if (event.pointerType !== "mouse" || view.lit?.label === label) return;
      passing = true;
      view.light(nodes, label);
    },
    onPointerLeave: () => {
      if (passing) {
        passing = false;
        view.light(null);
      }
    },
    onClick: () => {
      if (passing) passing = false;
      else view.light(nodes, label);
    },
  };
}

/** A few nodes by name, or how many there are; lights them up. `total` null: all nodes. */
export function nodesLink(view: View, nodes: NodeIndex[], total: number | null, label: string) {
  if (total === 1 && nodes.length === 1) return nodeLink(view, nodes[0]);
  const all = total === null;
  const lit = all ? [...view.playback.nodes.names.keys()].filter((node) => view.exists(node)) : nodes;
  const few = !all && total > lit.length ? `highlight the first ${lit.length} on the stage` : "highlight on the stage";
  return (
    <button type="button" class="link lights" title={few} {...lighting(view, lit, label)}>
      {all ? "all nodes" : plural(total, "node")}
    </button>
  );
}

/** `fits`, or the reasons why not: an answer of a predicate. */
export function answer(reasons: string[], fit = reasons.length === 0) {
  return fit ? (
    <span class="answer pass-text">
      <Icon name="check" />
      fits
    </span>
  ) : (
    <span class="answer fail-text">
      <Icon name="cross" />
      {reasons.join(", ") || "does not fit"}
    </span>
  );
}

type FetchedProps<T> = { of: Answer<T> | null; wish: string; children: (value: T) => ComponentChildren };

/** What the server was asked for by `wish`; until that is there what was shown stays, dimmed. */
export function Fetched<T>({ of, wish, children }: FetchedProps<T>) {
  const there = of?.value !== undefined;
  return (
    <div class={there && of.key !== wish ? "cache-rows waiting" : "cache-rows"}>
      {of?.error ? (
        <p class="note error">{of.error}</p>
      ) : there ? (
        children(of.value as T)
      ) : (
        <p class="loading" role="status">
          Bringing the cache to this cycle…
        </p>
      )}
    </div>
  );
}
