// The small cluster on the start page: a shared scenario, played over the connection as the workbench plays it.
// It steps by itself while it is in view, until somebody touches it; never by itself under reduced motion.

import type { ComponentChildren } from "preact";
import { Icon } from "../kit/icon.tsx";
import { place } from "../kit/place.ts";
import { ailments } from "../lib/ailments.ts";
import type { Light, NodeState, Opened, Parts, PrioritiesPart, Sentence, Source, Window } from "../lib/protocol.js";
import { aboveLeast, amount, clock, count, cpu, memory, plural, short, shortReason } from "../lib/quantity.ts";
import { Cluster } from "../workbench/playback/cluster.ts";
import { meet } from "../workbench/playback/podtable.ts";
import { Verdict } from "../workbench/playback/verdict.ts";
import { link } from "./link.ts";

const EVERY = 2400; // milliseconds a cycle stays
const CYCLES = 100;
const FIRST = 24; // where it begins: the cluster is filled, and something is about to happen
const BLOCKS = 12;
const OUTCOMES: Record<string, [tone: string, sign: string]> = {
  scheduled: ["pass", "check"],
  unschedulable: ["fail", "cross"],
  error: ["stale", "warn"],
};
/** Of a cycle's story: what the filters left, and how the node was chosen among these. */
const TELLING = [/\b(is|are) left\b|every filter/, /highest total|without ranking/];

/** The predicates' answers, and the scores. */
type Answers = { verdict: Verdict; totals: Map<number, number> };

/** Play the scenario named by `data-mini` in `host`. */
export async function mini(host: HTMLElement) {
  const source: Source = { scenario: host.dataset.mini ?? "" };
  link().on("down", () => host.classList.add("is-still"));
  link().on("up", () => host.classList.remove("is-still"));
  const opened: Opened = await link().call("scenario.open", { source });
  const known = opened.pods.keys.length;
  const part: Window = await link().call("cycles.window", { source, from: 1, count: CYCLES, pods: known });
  if (part.pods) meet(opened.pods, new Map(), part.pods); // those that controllers make on the way
  new Miniature(host, source, opened, part).begin();
}

const partsOf = (sentence: Sentence) =>
  [sentence].flat().map((part) => (typeof part === "string" ? part : [short(Object.values(part)[0] as string)]));
const plain = (sentence: Sentence) => partsOf(sentence).flat().join("");

/** What operations and controllers did since the last cycle, in a line; null for nothing. */
function happened({ operations, events }: Light) {
  const evicted = events.filter(([, reason]) => reason.includes("Eviction")).length;
  const nodes = events.filter(([, reason, object]) => object.startsWith("node/") && reason !== "TaintsChanged");
  const all = [
    ...operations.map((text) => `${text[0].toUpperCase()}${text.slice(1)}`),
    ...nodes.map(([, , , message]) => message),
    ...(evicted ? [`${plural(evicted, "pod")} evicted`] : []),
  ];
  return all.length ? <span class="mini-since">{all.join(" · ")}</span> : null;
}

class Miniature {
  #asked = new Map<number, Promise<Answers | null>>();
  #states = new Map<number, NodeState | null>(); // of nodes that operations and controllers changed
  #timer = 0;
  #inView = true;
  #head: ComponentChildren = null;
  #cards: ComponentChildren[] = []; // of each node
  #story: ComponentChildren = null;
  #shown = 0; // the cycle that these are of
  readonly cluster: Cluster;
  readonly cycles: Light[];
  at = 0;
  playing = false;

  constructor(
    readonly host: HTMLElement,
    readonly source: Source,
    readonly opened: Opened,
    private readonly part: Window,
  ) {
    this.cycles = part.cycles;
    this.cluster = new Cluster(opened.nodes, opened.pods);
  }

  begin() {
    this.host.classList.add("is-live");
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    this.play(!still.matches);
    still.addEventListener("change", () => still.matches && this.play(false));
    void this.go(Math.min(FIRST, this.cycles.length));
    new IntersectionObserver(([entry]) => (this.#inView = entry.isIntersecting), { threshold: 0.3 }).observe(this.host);
  }

  play(on: boolean) {
    this.playing = on;
    clearInterval(this.#timer);
    const next = () => this.#inView && !document.hidden && void this.go((this.at % this.cycles.length) + 1);
    if (on) this.#timer = setInterval(next, EVERY);
    this.#draw();
  }

  by(steps: number) {
    this.play(false);
    void this.go(1 + ((this.at - 1 + steps + this.cycles.length) % this.cycles.length));
  }

  async go(index: number) {
    if (index < this.at || this.at === 0) {
      this.cluster.reset(this.part.placement);
      this.#states = new Map(this.part.nodes ?? []);
      this.at = 0;
    }
    for (; this.at < index; this.at += 1) {
      this.cluster.apply(this.cycles[this.at].changes);
      for (const [node, state] of this.cycles[this.at].nodes) this.#states.set(node, state);
    }
    const answers = await this.#answersOf(index);
    if (index !== this.at) return; // somebody went on in the meantime
    this.#look(this.cycles[index - 1], answers);
    this.#shown = index;
    this.#draw();
    void this.#answersOf((index % this.cycles.length) + 1);
  }

  /** The predicates and scores of a cycle, asked for once. */
  #answersOf(index: number) {
    const asked: Promise<Answers | null> =
      this.#asked.get(index)
      ?? link()
        .call("cycle.get", { source: this.source, step: String(index), parts: ["predicates", "priorities"] })
        .then(({ predicates, priorities }: Parts) => {
          if (!predicates) return null;
          const { nodes = [], totals = [] }: Partial<PrioritiesPart> =
            priorities && "nodes" in priorities ? priorities : {};
          const verdict = new Verdict(predicates, this.opened.nodes.names.length);
          return { verdict, totals: new Map(nodes.map((node, i) => [node, totals[i]])) };
        })
        .catch(() => {
          this.#asked.delete(index);
          return null;
        });
    this.#asked.set(index, asked);
    return asked;
  }

  /** Keep what a cycle shows: the cluster goes on while the answers of the next one are on their way. */
  #look(cycle: Light, answers: Answers | null) {
    const { pods } = this.opened;
    const [tone, sign] = OUTCOMES[cycle.result];
    this.#head = (
      <>
        <i class={`dot ${this.#colour(cycle.pod)}`} />
        <b>{short(pods.keys[cycle.pod])}</b>
        <span class="dim nowrap mini-wants">{this.#wants(cycle.pod)}</span>
        <span class="grow" />
        <span class={`pill ${tone}`}>
          <Icon name={sign} />
          {cycle.result}
        </span>
      </>
    );
    this.#cards = this.opened.nodes.names.map((name, node) => this.#card(name, node, cycle, answers));
    const chosen = TELLING.map((pattern) => cycle.story.find((sentence) => pattern.test(plain(sentence)))).filter(
      Boolean,
    );
    const sentences = (chosen as Sentence[]).map((sentence) => [
      ...partsOf(sentence).map((part) => (typeof part === "string" ? part : <b>{part}</b>)),
      " ",
    ]);
    this.#story = [happened(cycle), cycle.result === "scheduled" ? sentences : <code>{cycle.message}</code>];
  }

  #wants(pod: number) {
    const { pods } = this.opened;
    const more = Object.entries(pods.extended ?? {})
      .filter(([, amounts]) => amounts[pod])
      .map(([name, amounts]) => `${amount(name, amounts[pod])} ${name.split("/").pop()}`);
    return [`${cpu(pods.cpu[pod])} cpu`, memory(pods.memory[pod]), ...more].join(" · ");
  }

  #colour(pod: number) {
    return `g${this.opened.pods.group[pod] % 10}`;
  }

  #card(name: string, node: number, cycle: Light, answers: Answers | null) {
    const { cluster } = this;
    const { nodes, pods } = this.opened;
    const chosen = cycle.node === node;
    const fits = answers?.verdict.fits(node) ?? true;
    const rail = (used: number, of: number, amounts: number[]) => {
      const part = Math.max(0, (used - (chosen ? amounts[cycle.pod] : 0)) / of);
      const more = fits || chosen ? Math.min(1 - part, amounts[cycle.pod] / of) : 0;
      return <span class="rail" style={{ backgroundSize: `${part * 100}% 100%, ${(part + more) * 100}% 100%` }} />;
    };
    const totals = [...(answers?.totals.values() ?? [])];
    const total = answers?.totals.get(node);
    const state = this.#states.get(node);
    const ailing = ailments(state?.conditions ?? [], state?.unschedulable);
    const why = fits ? [] : (answers?.verdict.reasonsOf(node) ?? []);
    const reasons = [...new Set(why.map(shortReason))].map((word) => (word === "anti" ? "anti-affinity" : word));
    const own = [...cluster.podsOn(node)]
      .filter((pod) => !(chosen && pod === cycle.pod))
      .sort((a, b) => pods.group[a] - pods.group[b]);
    return (
      <div key={name} class={`mini-node ${fits && !ailing.length ? "fits" : "failed"}${chosen ? " chosen" : ""}`}>
        <span class="mini-name">
          <b>{name}</b>
          {total === undefined ? (
            <span class="mini-score" />
          ) : (
            <span class={`mini-score ${total === Math.max(...totals) ? "best" : ""}`} title={`score ${count(total)}`}>
              {aboveLeast(total, Math.min(...totals), Math.max(...totals))}
            </span>
          )}
        </span>
        {rail(cluster.cpu[node], nodes.cpu[node], pods.cpu)}
        {rail(cluster.memory[node], nodes.memory[node], pods.memory)}
        <span class="mini-pods">
          {own.slice(0, BLOCKS).map((pod) => (
            <i class={this.#colour(pod)} title={short(pods.keys[pod])} />
          ))}
          {chosen ? <i class="ghost" title="the pod of this cycle" /> : null}
        </span>
        <span class="mini-why" title={why.join(", ")}>
          {(ailing.length ? ailing : reasons).join(", ")}
        </span>
      </div>
    );
  }

  #draw() {
    const { playing, cycles, at } = this;
    const { nodes, pods } = this.opened;
    if (!this.#shown) return;
    const cycle = cycles[this.#shown - 1];
    const many = cycles.length;
    place(
      <>
        <div class="mini-head">{this.#head}</div>
        <div class="mini-nodes" role="group" aria-label="Nodes by zone">
          {[...new Set(nodes.zone)].map((zone) => (
            <div key={zone} class="mini-zone">
              <p class="mini-zone-name">{zone ? `zone ${zone}` : "no zone"}</p>
              {this.#cards.filter((_, node) => nodes.zone[node] === zone)}
            </div>
          ))}
        </div>
        {/* Silent while it plays by itself; only what somebody asked for is announced. */}
        <p class="mini-story" aria-live={playing ? "off" : "polite"}>
          {this.#story}
        </p>
        <div class="mini-track">
          <div class="mini-marks" aria-hidden="true">
            {cycles.map(({ result, index }) => (
              <i class={index === cycle.index ? `${result} now` : result} />
            ))}
          </div>
          <input
            type="range"
            min={1}
            max={many}
            step={1}
            aria-label="Cycle"
            aria-valuetext={`cycle ${this.#shown} of ${many}: ${short(pods.keys[cycle.pod])}, ${cycle.result}`}
            value={at}
            onInput={(event) => {
              void this.go(Number(event.currentTarget.value));
              this.play(false);
            }}
          />
        </div>
        <div class="mini-acts">
          <button type="button" class="btn square" aria-label="Step back" onClick={() => this.by(-1)}>
            <Icon name="back" />
          </button>
          <button type="button" class="btn primary" onClick={() => this.by(1)}>
            Step
            <Icon name="step" />
          </button>
          <button type="button" class="btn" onClick={() => this.play(!playing)}>
            <Icon name={playing ? "pause" : "play"} />
            <span>{playing ? "Pause" : "Play"}</span>
          </button>
          <span class="dim num nowrap">{`cycle ${this.#shown} / ${many} · ${clock(cycle.time)}`}</span>
          <span class="grow" />
          <a class="mini-open" href={`/s/${this.source.scenario}/?step=${this.#shown}`}>
            Open in the workbench
          </a>
        </div>
      </>,
      this.host,
    );
  }
}
