// What operators do, from menus: on nodes, groups of them, workloads and pods.

import { openMenu } from "../../kit/menu.tsx";
import { toast } from "../../lib/dom.ts";
import { Moment } from "../edit/moment.tsx";
import { askVerb, wishOf } from "./dialog.tsx";
import {
  aboutGroup,
  aboutNode,
  aboutNodes,
  aboutOwner,
  aboutPod,
  aboutTarget,
  aboutWorkload,
  aboutZone,
  canDo,
  verbs,
  verbsFor,
  whyNot,
  zones,
} from "./table.ts";
import { whatIf } from "./whatif.tsx";
import type { Verb } from "../../lib/protocol.js";
import type { ActWish } from "../view/actions.ts";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import type { Section } from "../../kit/menu.tsx";
import type { About } from "../view/about.ts";
import type { VerbWish } from "./whatif.tsx";

const NAMED = 20; // nodes by name in the palette
const WORKLOADS = 500;

const some = (...abouts: (About | null)[]) => abouts.filter((about) => about !== null);

const verbNamed = (name: string) => verbs().find((one) => one.verb === name) as Verb;

export class Verbs {
  apply: ((wish: VerbWish) => unknown) | null;
  tryWish: (wish: VerbWish, words: string) => Promise<void>;
  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    this.apply = edit.options.mine ? (wish: VerbWish) => edit.operate(wish, "bundle.verb") : null;
    this.tryWish = (wish: VerbWish, words: string) => whatIf(view, wish, words, this.apply);
    view.actions.act.on((wish) => this.menu(wish));
    view.actions.operate.on((verb, about) => this.start(verb, about));
  }

  menu({ place, ...wish }: ActWish) {
    const abouts = this.#abouts(wish).filter((about) => verbsFor(this.view, about).length);
    if (!abouts.length) {
      toast("Select a node or a pod first: what can be done with it is listed then.", { name: "help" });
      return;
    }
    const at = place ?? document.querySelector(".sheet:not([hidden]) [data-act]") ?? { x: 40, y: 80 };
    const [first, ...others] = abouts;
    const more = others.map((about) => ({
      text: `${about.label[0].toUpperCase()}${about.label.slice(1)}…`,
      icon: "right",
      run: () => openMenu(`What to do with ${about.label}`, [this.#section(about), ...this.#tried(about)], at),
    }));
    const beyond = more.length ? [{ heading: "It belongs to", entries: more }] : [];
    openMenu(`What to do with ${first.label}`, [this.#section(first), ...this.#tried(first), ...beyond], at);
  }

  #section(about: About): Section {
    return {
      heading: about.label,
      entries: verbsFor(this.view, about).map((verb) => ({
        text: `${verb.title}…`,
        icon: verb.icon,
        title: verb.help,
        run: () => this.start(verb.verb, about),
      })),
    };
  }

  /** What is tried in a branch by one click. */
  #tried(about: About): Section[] {
    const rows = verbsFor(this.view, about).filter(({ question }) => question);
    const entries = rows.map(({ verb, question }) => ({
      text: `… ${question}?`,
      icon: "fork",
      title: "In a branch that is run to the end and compared with this one",
      run: () => this.tryOut(verb, about),
    }));
    return entries.length ? [{ heading: "What if…", entries }] : [];
  }

  /** What a menu offers verbs for: what was asked for, and what it belongs to. */
  #abouts({ node = -1, pod = -1, workload = -1, about = null, group, target }: ActWish): About[] {
    const { view } = this;
    if (workload >= 0) return some(aboutWorkload(view.playback.pods.groups[workload]));
    if (target) return some(aboutTarget(target));
    if (about) return [about];
    if (group) return some(aboutGroup(view, ...group));
    if (pod >= 0) return some(aboutPod(view, pod), aboutOwner(view, pod));
    const { lit } = view;
    const several = lit?.nodes.size && (node < 0 || lit.nodes.has(node)) ? [...lit.nodes] : [];
    const chosen =
      lit && several.length > 1 ? aboutNodes(view, several, `${several.length} nodes: ${lit.label}`) : null;
    if (node < 0) return some(chosen);
    return some(aboutNode(view, node), chosen, aboutZone(view, node));
  }

  /** What the palette finds: verbs on what is selected, on zones, and on nodes and workloads whose name is typed. */
  named(typed: string) {
    const said = typed.toLowerCase().replace(/^what if:? /, "");
    const word = said.split(" ")[0];
    const rows = verbs().filter(({ title }) => word.length > 1 && title.toLowerCase().includes(word));
    if (!rows.length) return [];
    const abouts = new Map(this.#nameable(said).map((about) => [about.targets.join(), about]));
    return rows.flatMap((verb) => {
      if (!canDo(this.view, verb))
        return [{ id: `verb ${verb.verb}`, group: "Operate", name: verb.title, run: () => this.start(verb.verb) }];
      return [...abouts.values()]
        .filter((about) => verbsFor(this.view, about).includes(verb))
        .flatMap((about) => [
          {
            id: `verb ${verb.verb} ${about.targets}`,
            group: "Operate",
            name: `${verb.title} ${about.label}`,
            run: () => this.start(verb.verb, about),
          },
          ...(verb.question ? [this.#question(verb, about)] : []),
        ]);
    });
  }

  #question({ verb, title }: Verb, about: About) {
    return {
      id: `what-if ${verb} ${about.targets}`,
      group: "Operate",
      name: `What if: ${title.toLowerCase()} ${about.label}`,
      run: () => this.tryOut(verb, about),
    };
  }

  #nameable(typed: string): About[] {
    const { view } = this;
    const { nodes, pods } = view.playback;
    const last = typed
      .split(" ")
      .slice(1)
      .join(" ")
      .toLowerCase()
      .replace(/^node /, "");
    const hits = last ? nodes.names.flatMap((name, node) => (name.includes(last) ? [node] : [])) : [];
    return [
      ...this.#abouts({ node: view.node }),
      ...(view.pod >= 0 ? this.#abouts({ pod: view.pod }) : []),
      ...zones(view),
      { kind: "Node", targets: ["*"], label: "all nodes", domain: true } as About,
      ...hits.slice(0, NAMED).map((node) => aboutNode(view, node)),
      ...some(...pods.groups.slice(0, WORKLOADS).map(aboutWorkload)),
    ];
  }

  /** Ask about a verb; where the scheduler cannot do it, say why. */
  start(name: string, about?: About) {
    const verb = verbNamed(name);
    if (!canDo(this.view, verb)) {
      toast(whyNot(this.view, verb), { name: "help", ms: 6000 });
      return;
    }
    if (this.edit.options.mine && this.edit.options.dirty()) {
      toast("The YAML has changes that are not applied. Apply or discard them first.", { name: "warn", ms: 6000 });
      this.edit.options.onText();
      return;
    }
    if (about) askVerb(this.view, this.edit, { verb, about, tryOut: this.tryWish });
  }

  /** Try a verb in a branch at the moment on screen, without asking. */
  async tryOut(name: string, about: About) {
    const { view } = this;
    const verb = verbNamed(name);
    view.actions.hold();
    const when = await new Moment(view.playback, { timed: true }).read();
    if (!when) return;
    const wish = wishOf(view, verb, about, when, verb.value?.default);
    this.tryWish(wish, `${verb.title.toLowerCase()} ${about.label}`);
  }
}
