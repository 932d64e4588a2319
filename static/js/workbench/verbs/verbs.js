// What operators do, from menus: on nodes, groups of them, workloads and pods.

import { openMenu } from "../../kit/menu.tsx";
import { toast } from "../../lib/dom.js";
import { Moment } from "../events/moment.tsx";
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
} from "./table.js";
import { whatIf } from "./whatif.tsx";
/** @import { Verb } from "../../lib/protocol.js" */
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */
/** @import { Place, Section } from "../../kit/menu.tsx" */
/** @import { About } from "./table.js" */
/** @import { VerbWish } from "./whatif.tsx" */

const NAMED = 20; // nodes by name in the palette
const WORKLOADS = 500;

/** @param {(About | null)[]} abouts */
const some = (...abouts) => abouts.filter((about) => about !== null);

/**
 * What a menu is wanted for: a node or a pod by index, what is lit up, or a group of the stage; `place` is where.
 *
 * @typedef {{
 *   node?: number,
 *   pod?: number,
 *   workload?: number,
 *   about?: About | null,
 *   target?: string,
 *   group?: [label: string, members: number[]],
 *   place?: Place,
 * }} ActWish
 */

/** @param {string} name */
const verbNamed = (name) => /** @type {Verb} */ (verbs().find((one) => one.verb === name));

export class Verbs {
  /**
   * @param {View} view
   * @param {Edit} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
    /** @type {((wish: VerbWish) => unknown) | null} */
    this.apply = edit.options.mine ? (/** @type {VerbWish} */ wish) => edit.operate(wish, "bundle.verb") : null;
    this.tryWish = (/** @type {VerbWish} */ wish, /** @type {string} */ words) => whatIf(view, wish, words, this.apply);
    view.on("act", (wish) => this.menu(wish));
  }

  /** @param {ActWish} wish */
  menu({ place, ...wish }) {
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

  /**
   * @param {About} about
   * @returns {Section}
   */
  #section(about) {
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

  /**
   * What is tried in a branch by one click.
   *
   * @param {About} about
   * @returns {Section[]}
   */
  #tried(about) {
    const rows = verbsFor(this.view, about).filter(({ question }) => question);
    const entries = rows.map(({ verb, question }) => ({
      text: `… ${question}?`,
      icon: "fork",
      title: "In a branch that is run to its end and compared with this",
      run: () => this.tryOut(verb, about),
    }));
    return entries.length ? [{ heading: "What if…", entries }] : [];
  }

  /**
   * What a menu offers verbs for: what was asked for, and what it belongs to.
   *
   * @param {ActWish} wish
   * @returns {About[]}
   */
  #abouts({ node = -1, pod = -1, workload = -1, about = null, group, target }) {
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

  /**
   * What the palette finds: verbs on what is selected, on zones, and on nodes and workloads whose name is typed.
   *
   * @param {string} typed
   */
  named(typed) {
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

  /**
   * @param {Verb} verb
   * @param {About} about
   */
  #question({ verb, title }, about) {
    return {
      id: `what-if ${verb} ${about.targets}`,
      group: "Operate",
      name: `What if: ${title.toLowerCase()} ${about.label}`,
      run: () => this.tryOut(verb, about),
    };
  }

  /**
   * @param {string} typed
   * @returns {About[]}
   */
  #nameable(typed) {
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
      /** @type {About} */ ({ kind: "Node", targets: ["*"], label: "all nodes", domain: true }),
      ...hits.slice(0, NAMED).map((node) => aboutNode(view, node)),
      ...some(...pods.groups.slice(0, WORKLOADS).map(aboutWorkload)),
    ];
  }

  /**
   * Ask about a verb; where the scheduler cannot do it, say why.
   *
   * @param {string} name
   * @param {About} [about]
   */
  start(name, about) {
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

  /**
   * Try a verb in a branch at the moment on screen, without asking.
   *
   * @param {string} name
   * @param {About} about
   */
  async tryOut(name, about) {
    const { view } = this;
    const verb = verbNamed(name);
    view.emit("hold");
    const when = await new Moment(view.playback, { timed: true }).read();
    if (!when) return;
    const wish = wishOf(view, verb, about, when, verb.value?.default);
    this.tryWish(wish, `${verb.title.toLowerCase()} ${about.label}`);
  }
}
