// Why?: the reasons that keep a pod off a node or off all of them, and changes that were tried out and help.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openPanel } from "../../kit/dialog.tsx";
import { focused } from "../../kit/focus.ts";
import { Icon } from "../../kit/icon.tsx";
import { announce, toast } from "../../lib/dom.ts";
import type { WhyAnswer, WhyChange } from "../../lib/protocol.js";
import { plural, short } from "../../lib/quantity.ts";
import { isRecording, openLive } from "../../lib/recorded.ts";
import type { WhyWish } from "../view/actions.ts";
import { useAnswer } from "../view/asking.tsx";
import { termsIn } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { keepApplied } from "./applied.ts";
import { Changes } from "./changes.tsx";
import { About, GONE, Groups, Leads, NodeReasons, Other, Sections, title } from "./reasons.tsx";
import { Undecided } from "./undecided.tsx";
import { follow, type Asked } from "../playback/store.ts";

export class Why {
  view: View;
  canApply: boolean;
  #box: HTMLDialogElement | null = null;

  constructor(view: View, { canApply }: { canApply: boolean }) {
    this.view = view;
    this.canApply = canApply;
    view.actions.why.on((wish) => (wish ? this.open(wish) : this.#box?.close()));
  }

  /** Ask about a pod, on one node or on all. Without a pod, about the one that is selected or in flight. */
  open({ pod, node, push = true }: WhyWish) {
    const { pods, nodes } = this.view.playback;
    if (!nodes) return;
    const key = typeof pod === "string" ? pod : pods.keys[pod ?? this.#usual()];
    const name = typeof node === "number" ? (nodes.names[node] ?? null) : node || null;
    if (!key) {
      toast("There is no pod to ask about.", { name: "help" });
      return;
    }
    const { why } = this.view.store;
    const before = why.peek();
    const step = this.step;
    if (before?.pod === key && before.node === name && before.step === step) return;
    why.value = { pod: key, node: name, step, push };
    this.#box ??= this.#show();
  }

  /** The step on screen, as the server is asked about it. */
  get step() {
    const { playback } = this.view;
    const shown = playback.partly && playback.wanted === playback.index;
    return String(Math.max(0, shown ? Math.min(playback.asOf, playback.cycles) : playback.wantedCycle));
  }

  /** The pod that is selected, that is in flight, or the first that waits. */
  #usual() {
    const { view } = this;
    if (view.pod >= 0) return view.pod;
    return view.facts.pod >= 0 ? view.facts.pod : view.playback.cluster.placement.indexOf(-1);
  }

  #show() {
    const box = openPanel("why-panel", "", (close) => <Panel why={this} close={close} />);
    box.removeAttribute("aria-label");
    box.setAttribute("aria-labelledby", "why-heading");
    box.addEventListener("close", () => {
      this.#box = null;
      this.view.store.why.value = null;
    });
    return box;
  }
}

/** Whether what is asked about is still being decided in what is shown. */
const isOpen = ({ playback, facts }: View, { pod }: Asked) =>
  playback.partly
  && playback.index <= playback.cycles
  && playback.asOf < playback.index
  && playback.wanted === playback.index
  && pod === playback.pods.keys[facts.light?.pod ?? -1];

function Panel({ why, close }: { why: Why; close: () => void }) {
  const { view } = why;
  const { playback } = view;
  const last = useRef<Asked | null>(null);
  const [tries, again] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  const asked = (last.current = view.store.why.value ?? last.current) as Asked; // while it closes, what was shown
  const { pod, node, step } = asked;
  const open = isOpen(view, asked);
  const key = open ? "" : JSON.stringify([pod, node, step, tries]);
  const found = useAnswer<WhyAnswer>(key, () =>
    playback.socket.call("why.ask", { source: playback.source, pod, ...(node ? { node } : {}), step }),
  );
  const { value, error } = found?.key === key ? found : {};
  useEffect(() => {
    const n = value?.changes.length ?? 0;
    if (value) announce(`${value.summary} ${n ? `${plural(n, "change")} would make it fit.` : ""}`);
  }, [value]);
  const ask = (name: string | null) => why.open({ pod: value?.pod ?? pod, node: name });
  const whole = () => {
    const stop = follow(playback.store.moment, () => {
      stop();
      if (!view.store.why.peek()) return;
      view.store.why.value = { ...asked, step: why.step, push: false };
      heading.current?.focus();
    });
    playback.goto(playback.index);
  };
  let body: ComponentChildren = (
    <p class="why-wait dim" role="status">
      <span class="why-spin" aria-hidden="true" />
      Finding the reasons and trying changes…
    </p>
  );
  if (open) body = <Undecided view={view} node={node} onWhole={whole} />;
  else if (value) body = <Answered why={why} answer={value} asked={asked} ask={ask} close={close} />;
  else if (error)
    body = (
      <>
        <div class="note error" role="alert">
          <Icon name="warn" />
          <span>{error}</span>
        </div>
        <div class="why-row">
          {isRecording() ? (
            <Button act={openLive}>Open live</Button>
          ) : (
            <Button act={() => again(tries + 1)}>Try again</Button>
          )}
          {node ? (
            <Button look="quiet" act={() => ask(null)}>
              Ask about all nodes
            </Button>
          ) : null}
        </div>
      </>
    );
  return (
    <>
      <div class="dialog-head">
        <h2
          ref={(element) => {
            if (element && !heading.current) focused(element);
            heading.current = element;
          }}
          id="why-heading"
          tabIndex={-1}
        >
          {value ? title(value, node) : node ? `Why ${short(pod)} on ${node}, or why not?` : `Why ${short(pod)}?`}
        </h2>
        <span class="grow" />
        <Button look="quiet square" icon="close" aria-label="Close" act={close} />
      </div>
      <div class="why-body" aria-busy={!open && !value && !error}>
        {body}
      </div>
    </>
  );
}

type AnsweredProps = {
  why: Why;
  answer: WhyAnswer;
  asked: Asked;
  ask: (node: string | null) => void;
  close: () => void;
};

function Answered({ why: { view, canApply }, answer, asked: { node, step }, ask, close }: AnsweredProps) {
  const { playback } = view;
  const terms = termsIn(playback);
  /** Change the pod or the node oneself, at the step on screen. */
  const edit = (target: string) => {
    close();
    view.actions.edit({ target });
  };
  const fork = async ({ id }: WhyChange) => {
    const { source } = playback;
    const wish = { source, pod: answer.pod, ...(node ? { node } : {}), step, change: id };
    const made = await playback.socket.call("why.apply", wish);
    keepApplied({ ...made, asked: answer.pod, placed: answer.state === "placed" });
    const query = new URLSearchParams({ ...(made.index ? { step: String(made.index) } : {}), pod: made.pod });
    location.assign(`${new URL(made.url, location.origin).pathname}?${query.toString().replaceAll("%2F", "/")}`);
  };
  return (
    <>
      <About answer={answer} edit={view.editing ? edit : null} />
      <Leads answer={answer} scorer={terms.scorer} />
      {node ? <NodeReasons answer={answer} rule={terms.rule} /> : <Groups answer={answer} ask={ask} />}
      <Sections answer={answer} />
      <Changes answer={answer} apply={canApply ? fork : null} />
      {GONE.has(answer.state) ? null : (
        <Other answer={answer} names={playback.nodes.names.filter((_, one) => view.exists(one))} ask={ask} />
      )}
    </>
  );
}
