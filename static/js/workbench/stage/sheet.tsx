// The sheet under the stage: all about the node or the pod that is selected.

import { render, type ComponentChild, type ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { amount, count, cpu, memory, short } from "../../lib/quantity.ts";
import { EDIT } from "../view/actions.ts";
import { BreakButton } from "../breakpoints/breakbutton.tsx";
import { ABSENT } from "../playback/cluster.ts";
import { condition } from "../breakpoints/conditions.ts";
import { ailmentsOf, describePast, pastVerdict, plainReason } from "../view/nodewords.ts";
import { whereIs } from "./where.ts";
import { markOf } from "../view/windows.ts";
import { UNREACHED } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";
import { reads } from "../playback/store.ts";

const PODS_LISTED = 60;
const FEW_LABELS = 4; // that are listed at once

type Wish = { node?: number; pod?: number };

/** The element of the sheet, which the stage gives its place. */
export function sheetOf(view: View) {
  const element = Object.assign(document.createElement("section"), {
    className: "sheet",
    ariaLabel: "Selected",
    hidden: true,
  });
  render(<Selected view={view} element={element} />, element);
  return element;
}

function Selected({ view, element }: { view: View; element: HTMLElement }) {
  const { store } = view;
  const { node, pod } = store.selection.value;
  reads(store.scenario, store.look, ...store.shown);
  if (pod >= 0) reads(store.known); // which cycle the pod has may be known now
  const kept = useRef<ComponentChild>(null); // what is opened again stays as it was until a step of it is shown
  if (view.playback.index >= 0) {
    element.hidden = node < 0 && pod < 0;
    kept.current =
      node >= 0 ? <NodeSheet view={view} node={node} /> : pod >= 0 ? <PodSheet view={view} pod={pod} /> : null;
  }
  return kept.current;
}

type Fact = readonly [term: string, value: ComponentChildren] | null | false;

type FrameProps = {
  view: View;
  kind: string;
  name: string;
  badges: ComponentChildren;
  facts: Fact[];
  children?: ComponentChildren;
};

function Frame({ view, kind, name, badges, facts, children }: FrameProps) {
  const close = () => {
    view.selectNode(-1);
    view.selectPod(-1);
  };
  return (
    <>
      <header>
        <span class="dim">{kind}</span>
        <h2>{name}</h2>
        {badges}
        <span class="grow" />
        <Button look="quiet square" icon="close" aria-label={`Close ${name}`} act={close} />
      </header>
      <div class="sheet-body">
        <dl>
          {facts.map(
            (fact) =>
              fact && (
                <div key={fact[0]}>
                  <dt>{fact[0]}</dt>
                  <dd>{fact[1]}</dd>
                </div>
              ),
          )}
        </dl>
        {children}
      </div>
    </>
  );
}

type ActsProps = { view: View; wish: Wish; there: boolean; why: [text: string, about: Wish] | null; at: string };

/** What can be asked about it and done with it; what changes it while it is there alone. */
function Acts({ view, wish, there, why, at }: ActsProps) {
  const editing = view.store.editing.value;
  return (
    <span class="sheet-acts">
      {why ? (
        <Button look="small" icon="help" data-why act={() => view.actions.why(why[1])}>
          {why[0]}
        </Button>
      ) : null}
      {there && editing ? (
        <>
          <Button
            look="small"
            icon="more"
            data-act
            aria-haspopup="menu"
            title="Drain, cordon, evict, scale … (a)"
            onClick={({ currentTarget }) => view.actions.act({ ...wish, place: currentTarget })}
          >
            Operate
          </Button>
          <Button look="small" icon="edit" data-edit title="e" act={() => view.actions.edit(wish)}>
            {EDIT[editing]}
          </Button>
        </>
      ) : null}
      {(there || wish.pod !== undefined) && authors() ? (
        <Button
          look="small"
          icon="hand"
          data-ask-here
          title="A question about it for a lesson (q)"
          onClick={({ currentTarget }) => view.actions.question({ ...wish, target: currentTarget })}
        >
          Ask
        </Button>
      ) : null}
      <BreakButton view={view} at={at} />
    </span>
  );
}

/** Whether stops of a lesson can be made of what is on screen. */
function authors() {
  const { room, locked } = document.querySelector<HTMLElement>("[data-workbench]")?.dataset ?? {};
  return !room && locked === undefined && !document.body.classList.contains("embedded");
}

/** The extended resources that a node has, or a pod asks for. */
const extendedOf = ({ extended = {} }: { extended?: Record<string, ArrayLike<number>> }, at: number) =>
  Object.entries(extended).flatMap(([name, amounts]): [string, number][] => (amounts[at] ? [[name, amounts[at]]] : []));

const chips = (texts: string[]) =>
  texts.map((text) => (
    <code key={text} class="chip">
      {text}
    </code>
  ));

/** What the cycle on screen says of a node. */
function Verdict({ view, node }: { view: View; node: number }) {
  const { chosen, verdict } = view.facts;
  const state = view.verdictOf(node);
  if (chosen === node) return <span class="pill accent">chosen</span>;
  if (state === "unreached" || !verdict) return state === "unreached" ? <span class="pill">{UNREACHED}</span> : null;
  if (state === "past") return <span class="pill">{pastVerdict(verdict, node)}</span>;
  if (state !== "fits" && state !== "failed") return null;
  const fits = state === "fits";
  return (
    <span class={`pill ${fits ? "pass" : "fail"}`}>
      <Icon name={fits ? "check" : "cross"} />
      {fits ? "fits" : verdict.stopper(node)}
    </span>
  );
}

function NodeSheet({ view, node }: { view: View; node: number }) {
  const { nodes, cluster, pods } = view.playback;
  const { facts } = view;
  const state = view.verdictOf(node);
  const mark = markOf(view, node);
  const here = cluster.podsOn(node);
  const labels = Object.entries(nodes.labels?.[node] ?? {});
  const taints = nodes.taints[node] ?? [];
  const conditions = nodes.conditions[node] ?? [];
  const there = view.exists(node);
  const name = nodes.names[node] ?? "";
  const reasons = state === "failed" ? (facts.verdict?.reasonsOf(node) ?? []) : [];
  const score = facts.totals?.get(node);
  return (
    <Frame
      view={view}
      kind="node"
      name={name}
      badges={
        <>
          <Verdict view={view} node={node} />
          {there ? null : <span class="pill">does not exist at this step</span>}
          {ailmentsOf(view, node).map((text) => (
            <span key={text} class="pill fail">
              {text}
            </span>
          ))}
          <Acts
            view={view}
            wish={{ node }}
            there={there}
            why={
              facts.pod >= 0 && there
                ? [facts.chosen === node ? "Why here?" : "Why not here?", { pod: facts.pod, node }]
                : null
            }
            at={condition("node", name)}
          />
        </>
      }
      facts={[
        ["cpu", `${cpu(cluster.cpu[node])} of ${cpu(nodes.cpu[node])} requested`],
        ["memory", `${memory(cluster.memory[node])} of ${memory(nodes.memory[node])} requested`],
        ["pods", `${cluster.count[node]} of ${nodes.pods[node]}`],
        ...extendedOf(nodes, node).map(([name, all]): Fact => [
          name,
          `${amount(name, cluster.extendedUsed(node, name))} of ${amount(name, all)}`,
        ]),
        nodes.zone[node] ? ["zone", nodes.zone[node]] : null,
        conditions.length > 0 && ["conditions", chips(conditions)],
        ["taints", taints.length ? chips(taints) : "none"],
        reasons.length > 0 && [
          "this cycle",
          <span class="fail-text">{reasons.map((text) => plainReason(view, text, node)).join(", ")}</span>,
        ],
        state === "past" && ["this cycle", describePast(view, node)],
        mark
          ? [
              "views",
              mark.sentences.map((text) => (
                <p key={text} class={mark.ill ? "stale-text" : ""}>
                  {text}
                </p>
              )),
            ]
          : null,
        score === undefined ? null : ["score", `${count(score)}, the best is ${count(facts.best)}`],
      ]}
    >
      <details key={`labels ${name}`} open={labels.length <= FEW_LABELS}>
        <summary>{`Labels (${labels.length})`}</summary>
        <div class="chips">{chips(labels.map((pair) => pair.join("=")))}</div>
      </details>
      <details key={`pods ${name}`} open>
        <summary>{`Pods (${here.length})`}</summary>
        <div class="chips">
          {[...here.subarray(0, PODS_LISTED)].map((pod) => (
            <button key={pod} type="button" class="chip pod-chip" onClick={() => view.selectPod(pod)}>
              <i class={`dot ${view.colour(pod)}`} />
              {short(pods.keys[pod])}
              {view.playback.isTerminating(pod) ? <span class="fail-text">Terminating</span> : null}
            </button>
          ))}
          {here.length > PODS_LISTED ? <span class="dim">{`and ${here.length - PODS_LISTED} more`}</span> : null}
        </div>
      </details>
    </Frame>
  );
}

function PodSheet({ view, pod }: { view: View; pod: number }) {
  const { playback, seen } = view;
  const { pods, nodes, cluster, marks, index, reached } = playback;
  const at = cluster.placement[pod] ?? ABSENT;
  const key = pods.keys[pod] ?? "";
  const group = pods.groups[pods.group[pod] ?? -1];
  const next = marks.ofPod(pod, index - (reached.tried ? 0 : 1)); // the one on screen once its attempt is shown
  const go =
    next === index && reached.tried
      ? `cycle ${next}, shown now`
      : seen.knows(next)
        ? `go to cycle ${next}`
        : "go to its next cycle";
  const { node, text } = whereIs(view, pod);
  return (
    <Frame
      view={view}
      kind="pod"
      name={short(key)}
      badges={
        <>
          <i class={`dot ${view.colour(pod)}`} />
          {playback.isTerminating(pod) ? (
            <span class="pill fail" title="Terminating: deleted, and on its node until the kubelet has ended it">
              Terminating
            </span>
          ) : (
            <span class={at >= 0 ? "pill pass" : "pill"}>
              {at >= 0 ? "placed" : at === ABSENT ? "not there" : "pending"}
            </span>
          )}
          <Acts view={view} wish={{ pod }} there={at !== ABSENT} why={["Why?", { pod }]} at={condition("pod", key)} />
        </>
      }
      facts={[
        [
          "node",
          <>
            {text === "on" ? null : `${text} `}
            {node >= 0 ? (
              <Button look="link" act={() => view.selectNode(node)}>
                {nodes.names[node]}
              </Button>
            ) : null}
          </>,
        ],
        ["requests", `cpu ${cpu(pods.cpu[pod])}, memory ${memory(pods.memory[pod])}`],
        ...extendedOf(pods, pod).map(([name, asked]): Fact => [name, amount(name, asked)]),
        ["priority", String(pods.priority[pod])],
        group?.name ? ["workload", `${group.kind} ${short(group.name)}`] : null,
        [
          "its cycle",
          next ? (
            <Button look="link" act={() => playback.goto(next)}>
              {go}
            </Button>
          ) : (
            "none: it was bound before the first cycle, or is not reached yet"
          ),
        ],
      ]}
    />
  );
}
