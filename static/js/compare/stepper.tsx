// Both runs, stepped together: transport, the track, and what each decided, with the rule that made the difference.

import { render, type ComponentChildren } from "preact";
import { Button } from "../kit/button.tsx";
import { Segmented } from "../kit/segmented.tsx";
import { signal } from "../kit/signals.ts";
import { $, announce, targetOf, typing } from "../lib/dom.ts";
import type { Comparison } from "../lib/protocol.js";
import { count, plural, short } from "../lib/quantity.ts";
import { termsOf } from "../workbench/playback/terms.ts";
import { Elsewhere } from "./elsewhere.ts";
import { decidingRule, stoppedBy } from "./rule.ts";
import { Rows } from "./rows.ts";
import { Compared, isTab, Side, type Tab } from "./side.tsx";
import { Track } from "./track.tsx";
import { follow } from "../workbench/playback/store.ts";

const TABS = [
  ["predicates", "filterTab"],
  ["priorities", "scoreTab"],
] as const;

/** What the tabs are called; where the sides' releases have different words, by both. */
const labels = (releases: string[]) =>
  TABS.map(([tab, term]): [Tab, string] => [
    tab,
    [...new Set(releases.map((one) => termsOf(one)[term]))].sort().join(" / "),
  ]);

export class Stepper {
  row = 0;
  tab: Tab = "predicates";
  readonly rows: Rows;
  readonly sides: readonly [Side, Side];
  readonly elsewhere: Elsewhere;
  /** The cycles of the row, as tables name them. */
  readonly pair = signal("");
  verdict: ComponentChildren = "";
  options = labels([""]);
  onMove: (() => void) | null = null;
  #chosen = false; // whether somebody chose a tab: else it follows the rule that decided

  constructor(
    private readonly host: HTMLElement,
    readonly found: Comparison,
  ) {
    this.rows = new Rows(found);
    const side = (name: "left" | "right") =>
      new Side(name, found[name], Boolean(found.living?.includes(name)), () => this.#changed());
    this.sides = [side("left"), side("right")];
    this.elsewhere = new Elsewhere(this.sides);
    for (const { view } of this.sides)
      follow(view.store.tab, () => {
        if (isTab(view.tab) && view.tab !== this.tab) this.#setTab(view.tab);
      });
    this.#draw();
    host.hidden = false;
    this.#keys();
  }

  /** Open both runs, and show a row, else the first difference. */
  async open(row: number, tab: string) {
    if (isTab(tab)) this.choose(tab);
    await Promise.allSettled(this.sides.map((side) => side.open()));
    this.options = labels(this.sides.map(({ playback }) => playback.release));
    this.goto(row || this.rows.different[0] || 0);
  }

  goto(row: number) {
    this.row = Math.max(0, Math.min(this.rows.count, row));
    const pair = this.rows.at(this.row);
    const passed = this.rows.upTo(this.row);
    for (const side of this.sides) {
      const { name, playback } = side;
      if (playback.nodes) void side.goto(passed[name], !this.row || pair[name] > 0);
    }
    this.#changed();
    this.onMove?.();
  }

  /** Go to a decision of the tables. */
  show(pair: string) {
    const [left, right] = pair.split("/").map(Number);
    this.goto(this.rows.of("left", left) || this.rows.of("right", right));
    this.host.scrollIntoView({ block: "start" });
    $("[role=slider]", this.host).focus({ preventScroll: true });
  }

  seek(direction: 1 | -1) {
    const row = this.rows.seek(this.row, direction);
    if (row) this.goto(row);
    else
      announce(direction > 0 ? "There is no further different decision." : "There is no earlier different decision.");
  }

  choose(tab: Tab) {
    this.#chosen = true;
    this.#setTab(tab);
  }

  #setTab(tab: Tab) {
    this.tab = tab;
    for (const side of this.sides) side.setTab(tab);
    this.#draw();
    for (const side of this.sides) side.update();
    this.onMove?.();
  }

  #draw() {
    render(<Both stepper={this} />, this.host);
  }

  /** Find the pods that are on different nodes at this row: they are listed, and marked on both stages. */
  #compareStages() {
    const passed = this.rows.upTo(this.row);
    if (!this.sides.every(({ name, playback }) => playback.nodes && playback.index === passed[name])) return;
    this.elsewhere.update();
  }

  #changed() {
    this.#compareStages();
    const different = this.rows.different.includes(this.row);
    const pair = this.rows.at(this.row);
    const { left, right } = pair;
    const [one, other] = this.sides;
    const ready = this.sides.every(({ name, playback }) => playback.index === pair[name] && playback.parts);
    const first = this.row > 0 && left === right && left === this.found.first?.index;
    const decided = different && ready ? decidingRule(one.view, other.view) : null;
    const rule = (first ? this.found.first?.rule : decided) ?? "";
    this.verdict = this.row ? said({ different, both: left > 0 && right > 0, rule, ready }) : "";
    this.host.classList.toggle("is-different", different);
    this.pair.value = `${left}/${right}`;
    for (const side of this.sides) side.rule = rule;
    if (rule && ready && !this.#chosen) {
      // A plugin of v1.37 may both filter and score: a rule that stopped no node is one that scored it.
      const tab = stoppedBy(one.view, other.view) === rule ? "predicates" : "priorities";
      if (tab !== this.tab) {
        this.#setTab(tab);
        return;
      }
    }
    this.#draw();
    for (const side of this.sides) side.mark();
  }

  /** The page's keys, as in the workbench; a matrix that has the focus keeps its own. */
  #keys() {
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.goto(this.row + 1),
      ArrowLeft: () => this.goto(this.row - 1),
      n: () => this.seek(1),
      N: () => this.seek(-1),
    };
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || typing(event) || $("dialog[open]")) return;
      if (targetOf(event).closest?.("table, select, [role=radiogroup]")) return;
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }
}

type Decision = { different: boolean; both: boolean; rule: string; ready: unknown };

function said({ different, both, rule, ready }: Decision): ComponentChildren {
  if (!different) return "Both decide the same here.";
  if (!both) return "Only one of the runs has this cycle.";
  if (rule) return ["Decided differently by ", <code>{rule}</code>, "."];
  return ready
    ? "No single rule explains the difference: it comes from the queue, a tie, the clusters or the nodes evaluated."
    : "Decided differently.";
}

function Both({ stepper }: { stepper: Stepper }) {
  const { sides, elsewhere, options, tab, verdict } = stepper;
  const rest = elsewhere.count - elsewhere.listed.length;
  return (
    <>
      <Transport stepper={stepper} />
      <Track stepper={stepper} />
      <div class="both-head">
        <p class="both-rule" role="status">
          {verdict}
        </p>
        <Segmented label="Matrix" options={options} value={tab} onChange={(to) => stepper.choose(to as Tab)} />
      </div>
      <div class="both-columns">
        {sides.map((side, at) => (
          <Compared key={side.name} side={side} flags={elsewhere.flags[at]} />
        ))}
      </div>
      <details class="both-elsewhere" hidden={!elsewhere.count}>
        <summary>{`${plural(elsewhere.count, "pod")} elsewhere at this step`}</summary>
        <ul class="needs">
          {elsewhere.listed.map(([pod, left, right]) => (
            <li key={pod}>
              <b>{short(pod)}</b>
              {`: ${left} on the left, ${right} on the right`}
            </li>
          ))}
          {rest ? <li class="dim">{`and ${count(rest)} more`}</li> : null}
        </ul>
      </details>
    </>
  );
}

function Transport({ stepper }: { stepper: Stepper }) {
  const { rows, row, found } = stepper;
  const many = rows.different.length;
  const button = (icon: string, label: string, act: () => void, text = "") => (
    <Button icon={icon} label={label} act={act} look={text ? "" : "square"}>
      {text ? <span>{text}</span> : null}
    </Button>
  );
  return (
    <div class="both-transport" role="group" aria-label="Transport">
      {button("first", "To the start (Home)", () => stepper.goto(0))}
      {button("back", "Both one cycle back (←)", () => stepper.goto(row - 1))}
      {button("step", "Both one cycle on (→)", () => stepper.goto(row + 1))}
      {button("last", "To the end (End)", () => stepper.goto(rows.count))}
      <output class="num both-place">{`${count(row)} of ${count(rows.count)}`}</output>
      <span class="grow" />
      {many ? (
        <>
          <span class="dim">{`${plural(many, "different decision")}${found.moreDifferences ? " and more" : ""}`}</span>
          {button("left", "Previous different decision (Shift N)", () => stepper.seek(-1), "Previous")}
          {button("spot", "First different decision", () => stepper.goto(rows.different[0]), "First")}
          {button("right", "Next different decision (N)", () => stepper.seek(1), "Next")}
        </>
      ) : (
        <span class="dim">Every decision is the same</span>
      )}
    </div>
  );
}
