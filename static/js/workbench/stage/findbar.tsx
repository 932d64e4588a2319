// What was found, over the tools of the stage: how many, which one is shown, where it is, and the way to the others.

import { Button } from "../../kit/button.tsx";
import { usePassing } from "../../kit/focus.ts";
import { Icon } from "../../kit/icon.tsx";
import { count, short } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { whereIs } from "./where.ts";

/** `body` takes the focus when the bar goes. */
export function FindBar({ view, body }: { view: View; body: HTMLElement }) {
  const { current, hits, at, text } = view.search;
  const bar = usePassing<HTMLElement>(body);
  const way = (label: string, icon: string, by: number) => (
    <Button look="quiet square tiny" icon={icon} label={label} act={() => view.search.go(by)} />
  );
  return (
    <section ref={bar} class="find-bar" aria-label="Found">
      <Icon name="search" />
      <span class="find-state" role="status">
        <b class="num">{current ? `${count(at + 1)} of ${count(hits.length)}` : ""}</b>
        <span class="find-text">
          {current ? <Match view={view} kind={current[0]} i={current[1]} /> : `No matches for “${text}”.`}
        </span>
      </span>
      <span class="find-ways" hidden={hits.length < 2}>
        {way("Previous match", "left", -1)}
        {way("Next match", "right", 1)}
      </span>
      <Button look="quiet square tiny" icon="close" label="End the search" act={() => view.actions.forget()} />
    </section>
  );
}

function Match({ view, kind, i }: { view: View; kind: "node" | "pod"; i: number }) {
  const { nodes, pods } = view.playback;
  const link = (name = "", act: () => void) => (
    <Button look="link" act={act}>
      {name}
    </Button>
  );
  const nodeLink = (node: number) => link(nodes.names[node], () => view.selectNode(node));
  if (kind === "node") return ["node ", nodeLink(i), view.exists(i) ? "" : " does not exist at this step"];
  const { node, text } = whereIs(view, i);
  return ["pod ", link(short(pods.keys[i]), () => view.selectPod(i)), ` ${text} `, node >= 0 ? nodeLink(node) : null];
}
