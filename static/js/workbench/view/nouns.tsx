// Pods, nodes and PodGroups as links. Pointing at one, or focusing it, shows on the stage where it is; so do rows about
// a node.

import type { ComponentChildren } from "preact";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { ellipsis, short } from "../../lib/quantity.ts";
import type { View } from "./view.ts";

function pointing(view: View, node: number) {
  if (node < 0) return {};
  const on = () => view.hover(node);
  const off = () => view.hover(-1);
  return { "data-points": true, onPointerEnter: on, onPointerLeave: off, onFocus: on, onBlur: off };
}

/** The number of a node by its name or number; -1: there is none. */
const indexOf = (view: View, which: number | string): number =>
  typeof which === "number" ? which : (view.playback.nodeIndex.get(which) ?? -1);

type PodLinkOptions = { dot?: boolean; whole?: boolean };

/** A pod by its key, with the colour of its workload where `dot` is set; `whole`: also the namespace default. */
export function podLink(view: View, key: string, { dot = true, whole = false }: PodLinkOptions = {}) {
  const name = whole ? key : short(key);
  const { playback } = view;
  const pod = playback.podIndex.get(key) ?? -1;
  if (pod < 0) return <span title={`pod ${key}`}>{name}</span>;
  return (
    <Inline
      act={() => view.selectPod(pod)}
      title={`pod ${key}`}
      {...pointing(view, playback.cluster.placement[pod] ?? -1)}
    >
      {dot ? <i class={`dot ${view.colour(pod)}`} /> : null}
      {name}
    </Inline>
  );
}

/** A node by its name or number, cut in the middle to `max` characters. */
export function nodeLink(view: View, which: number | string, max = Infinity) {
  const node = indexOf(view, which);
  const name = typeof which === "number" ? (view.playback.nodes.names[which] ?? "") : which;
  if (node < 0) return <span title={`node ${name}`}>{name}</span>;
  const text = ellipsis(name, max);
  return (
    <Inline
      act={() => view.selectNode(node)}
      class={node === view.node ? "link selected" : "link"}
      data-at={node}
      title={`node ${name}`}
      {...pointing(view, node)}
      aria-label={text === name ? undefined : name}
    >
      {text}
    </Inline>
  );
}

/** Nodes that highlight on the stage together, as long as nothing else is lit. */
export function nodesLink(view: View, text: string, names: string[], label: string) {
  const nodes = names.map((name) => indexOf(view, name)).filter((node) => node >= 0);
  return nodes.length ? (
    <Inline act={() => view.light(nodes, label)} title="highlight them on the stage">
      {text}
    </Inline>
  ) : (
    text
  );
}

/** The attributes of a row about a node: pointing at it lights the node, a click beside its links selects it. */
export function aboutNode(view: View, which: number | string): { "data-of"?: number } {
  const node = indexOf(view, which);
  return node < 0 ? {} : { "data-of": node };
}

/** A text in which the names of pods and nodes are links. */
export function linked(view: View, text: string): ComponentChildren {
  const { nodeIndex, podIndex } = view.playback;
  return text.split(/([A-Za-z0-9][\w.-]*(?:\/[\w.-]*\w)?)/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [, name = "", dot] = /^(.*?)(\.*)$/.exec(part) ?? []; // the full stop of a sentence
    return name.includes("/") && podIndex.has(name)
      ? [podLink(view, name, { dot: false, whole: true }), dot]
      : nodeIndex.has(name)
        ? [nodeLink(view, name), dot]
        : part;
  });
}

/** The button that asks why something is so. */
export const WhyLink = ({ label, act }: { label: string; act: () => void }) => (
  <button type="button" class="why-link" title="Why?" aria-label={label} onClick={act}>
    <Icon name="help" />
  </button>
);

/** The button that asks why a pod waits. */
export const whyWaits = (view: View, key: string) => (
  <WhyLink label={`Why does ${short(key)} wait?`} act={() => view.actions.why({ pod: key })} />
);
