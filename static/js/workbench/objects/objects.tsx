// The objects as a tree: nodes by pool, pods by workload, and what else there is, with a search over them.

import { createRef, render } from "preact";
import { $$, announce, debounce, targetOf } from "../../lib/dom.ts";
import type { ObjectList } from "../../lib/protocol.js";
import { count, ellipsis, plural, short } from "../../lib/quantity.ts";
import { EDIT } from "../view/actions.ts";
import { ABSENT } from "../playback/cluster.ts";
import type { Edit } from "../edit/edit.ts";
import { follow } from "../playback/store.ts";
import type { View } from "../view/view.ts";
import { poolsOf, workloadsOf } from "./grouping.ts";
import { Tree, type More, type Row } from "./tree.tsx";

const FIND_AFTER = 100;
const LIST_AFTER = 200;
const NODE = 11; // characters of the node's name beside a pod
const LISTED = 150; // children of one branch that are in the document
const FEW = 24; // nodes that are no pool where they are the only one
const DRAWN = new Set(["Node", "Pod", "Scenario", "Namespace"]); // kinds that are no other objects

export class Objects {
  readonly element = document.createElement("div");
  readonly #field = createRef<HTMLInputElement>();
  readonly #findSoon = debounce(() => this.#find(), FIND_AFTER);
  readonly #opened = new Set(["nodes", "workloads"]);
  #shown = false;
  #typed = "";
  #filter = "";
  #pools: { pool: string; members: number[]; hits: number[] }[] = [];
  #workloads: (ReturnType<typeof workloadsOf>[number] & { colour: string })[] = [];
  #others: ObjectList["kinds"] | null = null; // what else is there at the step on screen

  /** `edit` is null where nothing can be changed. */
  constructor(
    private readonly view: View,
    private readonly edit: Edit | null,
  ) {
    this.element.className = "objects";
    this.#paint();
    const { scenario, pods, step, moment, selection, stage, look } = view.store;
    follow(scenario, () => {
      this.#others = null;
      this.#markOnStage();
      this.#draw();
    });
    follow(pods, () => {
      this.#markOnStage(false); // controllers have made some
      this.#draw();
    });
    follow([step, moment, selection], () => this.#paint());
    follow(
      step,
      debounce(() => this.#list(), LIST_AFTER),
    );
    follow(look, () => this.#draw());
    follow(stage, ({ search }) => {
      if (search === this.#filter) return;
      this.#typed = search;
      this.#find();
    });
    view.actions.forget.on(() => {
      this.#typed = "";
      view.search.end();
      this.#find();
    });
  }

  /** Draw them from now on, or no more: another tab is open. */
  show(is: boolean) {
    this.#shown = is;
    this.#draw();
  }

  focusSearch() {
    this.#field.current?.focus();
    this.#field.current?.select();
  }

  /** What can be done with the node, the pod or the workload of a row. */
  #act(event: MouseEvent) {
    const row = targetOf(event).closest<HTMLElement>("[data-key]");
    const [kind = "", index] = (row?.dataset.key ?? "").split(":");
    if (!this.edit || !["node", "pod", "group"].includes(kind)) return;
    event.preventDefault();
    const place = event.clientX || event.clientY ? { x: event.clientX, y: event.clientY } : row;
    this.view.actions.act({ [kind === "group" ? "workload" : kind]: Number(index), place });
  }

  // ---- the search

  #find() {
    const text = this.#typed.trim().toLowerCase();
    if (text !== this.#filter) {
      this.#filter = text;
      this.view.setShown({ search: text });
      this.#markOnStage();
    }
    this.#draw();
  }

  #matches = (text: string) => !this.#filter || text.toLowerCase().includes(this.#filter);

  /** Have the stage mark what is found, whichever tab is open, and bring the current match into view. */
  #markOnStage(reveal = true) {
    const { search, playback } = this.view;
    const { nodes, pods } = playback;
    if (!nodes) return;
    if (!this.#filter) search.show("", [], []);
    else
      search.show(
        this.#typed.trim(),
        [...poolsOf(nodes).values()].flat().filter((node) => this.#matches(nodes.names[node] ?? "")),
        workloadsOf(pods, this.#matches).flatMap(({ hits }) => hits),
        { reveal },
      );
  }

  /**
   * Enter selects the exact match, else the first one, then the next, with Shift the one before; the arrow moves on
   * into the tree.
   */
  #key(event: KeyboardEvent) {
    if (event.key === "Escape" && this.#typed) {
      event.preventDefault();
      event.stopPropagation();
      this.view.actions.forget();
      return;
    }
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    this.#find();
    const items = $$("[role=treeitem]", this.element);
    if (event.key === "ArrowDown") {
      items[0]?.focus();
      return;
    }
    const { search } = this.view;
    if (!search.current) return;
    if (this.view.foundSelected) search.go(event.shiftKey ? -1 : 1);
    this.view.selectFound();
    this.view.actions.region("stage");
    const key = search.current.join(":");
    const row = items.find((item) => item.dataset.key === key);
    row?.scrollIntoView({ block: "nearest" });
    announce(`${row?.dataset.name ?? "It"} is selected.`);
  }

  // ---- the tree

  /** Group them again, and draw them. */
  #draw() {
    const { nodes, pods } = this.view.playback;
    if (!nodes || !this.#shown) return;
    this.#pools = [...poolsOf(nodes)].map(([pool, members]) => ({
      pool: pool || "no pool",
      members,
      hits: members.filter((node) => this.#matches(nodes.names[node] ?? "")),
    }));
    this.#workloads = workloadsOf(pods, this.#matches).map((one) => ({
      ...one,
      colour: this.view.colourOf(one.members),
    }));
    this.#paint();
  }

  /** Draw them with what is beside them at the step on screen. */
  #paint() {
    const { playback } = this.view;
    const drawn = this.#shown && Boolean(playback.nodes);
    if (!drawn && this.element.hasChildNodes()) return;
    const rows = drawn ? [...this.#rows()] : [];
    const label = "Find a node or pod";
    render(
      <>
        <input
          ref={this.#field}
          type="search"
          class="field filter"
          placeholder={label}
          aria-label={label}
          data-search
          value={this.#typed}
          onInput={(event) => {
            this.#typed = event.currentTarget.value;
            this.#findSoon();
          }}
          onKeyDown={(event) => this.#key(event)}
        />
        <Tree
          label="Objects"
          rows={rows}
          opened={this.#opened}
          onToggle={(key) => this.#toggle(key)}
          onContextMenu={(event) => this.#act(event)}
        />
        {this.#filter && drawn && !rows.length ? (
          <p class="dim fine">{`No matches for “${this.#typed.trim()}”.`}</p>
        ) : null}
      </>,
      this.element,
    );
  }

  #toggle(key: string) {
    if (!this.#opened.delete(key)) this.#opened.add(key);
    this.#paint();
    if (key === "others") void this.#list();
  }

  /** A branch, and where it is open what is in it; while something is looked for, every one is. */
  *#branch(row: Row, children: () => Iterable<Row | More>): Generator<Row | More> {
    const open = this.#filter !== "" || this.#opened.has(row.key);
    yield { ...row, open };
    if (open) yield* children();
  }

  /** A row for each, as far as they are listed; null is none that is there. */
  *#leaves<T>(items: T[], level: number, make: (item: T, level: number) => Row | null) {
    for (const item of items.slice(0, LISTED)) {
      const row = make(item, level);
      if (row) yield row;
    }
    if (items.length > LISTED) yield { more: `and ${count(items.length - LISTED)} more: type to find one`, level };
  }

  /** How many are there, or how many of them are found. */
  #of(groups: { members: number[]; hits: number[] }[]) {
    const all = groups.reduce((sum, { members }) => sum + members.length, 0);
    const found = groups.reduce((sum, { hits }) => sum + hits.length, 0);
    return this.#filter ? found && `${count(found)} of ${count(all)}` : count(all);
  }

  *#rows() {
    const { cluster } = this.view.playback;
    const [nodes, pods] = [this.#of(this.#pools), this.#of(this.#workloads)];
    if (nodes) yield* this.#branch({ key: "nodes", level: 1, label: "Nodes", beside: nodes }, () => this.#inNodes());
    const beside = this.#filter ? `${pods} pods` : plural(cluster.present, "pod");
    if (pods)
      yield* this.#branch({ key: "workloads", level: 1, label: "Workloads", beside }, () => this.#inWorkloads());
    if (!this.#filter) yield* this.#rest();
  }

  *#inNodes() {
    const [first, ...more] = this.#pools;
    if (first && !more.length && first.members.length <= FEW) {
      yield* this.#leaves(first.hits, 2, this.#node);
      return;
    }
    for (const one of this.#pools) {
      const { pool, members, hits } = one;
      const beside = this.#of([one]);
      const act = () => this.view.light(members, pool);
      const leaves = () => this.#leaves(hits, 3, this.#node);
      if (beside) yield* this.#branch({ key: `pool:${pool}`, level: 2, label: pool, beside, act }, leaves);
    }
  }

  *#inWorkloads() {
    for (const one of this.#workloads) {
      const { group, members, hits, label, title, colour } = one;
      const beside = this.#filter ? this.#of([one]) : this.#placed(members);
      const act = () => this.#lightGroup(members, label);
      const leaves = () => this.#leaves(hits, 3, this.#pod);
      const row = { key: `group:${group}`, level: 2, label, title, colour, act };
      if (beside) yield* this.#branch({ ...row, beside }, leaves);
    }
  }

  /** What the stage does not draw. */
  *#rest() {
    const { summary } = this.view.playback;
    const counted = Object.entries(summary).filter(([kind, n]) => !DRAWN.has(kind) && n);
    const others = this.#others ?? counted.map(([kind, n]): ObjectList["kinds"][number] => [kind, n, []]);
    const all = others.reduce((sum, [, n]) => sum + n, 0);
    const row = { key: "others", level: 1, label: "Other objects", beside: count(all) };
    if (all) yield* this.#branch(row, () => this.#inRest(others));
  }

  *#inRest(others: ObjectList["kinds"]) {
    const { edit } = this;
    for (const [kind, n, names] of others) {
      const row: Row = { key: `kind:${kind}`, level: 2, label: kind, beside: count(n) };
      if (!edit || !names.length) yield row;
      else yield* this.#branch(row, () => this.#leaves(names, 3, (name) => this.#object(edit, kind, name)));
    }
  }

  #node = (node: number, level: number): Row => {
    const { view } = this;
    const { nodes, cluster } = view.playback;
    return {
      key: `node:${node}`,
      level,
      label: nodes.names[node] ?? "",
      beside: view.exists(node) ? plural(cluster.count[node] ?? 0, "pod") : "not there",
      selected: view.node === node,
      act: () => {
        view.selectNode(view.node === node ? -1 : node);
        view.actions.region("stage");
      },
      hover: (is) => view.hover(is ? node : -1),
    };
  };

  /** One that is not yet there, or gone, as it has finished or was deleted, is drawn where it is looked for. */
  #pod = (pod: number, level: number): Row | null => {
    const { view } = this;
    const { nodes, pods, cluster } = view.playback;
    const at = cluster.placement[pod] ?? ABSENT;
    if (at === ABSENT && !this.#filter) return null;
    const name = nodes.names[at] ?? "";
    const fails = view.playback.isTerminating(pod);
    const where = at === ABSENT ? "" : name ? ellipsis(name, NODE) : "pending";
    return {
      key: `pod:${pod}`,
      level,
      label: short(pods.keys[pod] ?? ""),
      beside: fails ? "Terminating" : where,
      whole: name,
      fails,
      selected: view.pod === pod,
      act: () => {
        view.selectPod(view.pod === pod ? -1 : pod);
        view.actions.region("stage");
      },
    };
  };

  /** An object that is opened to be edited. */
  #object(edit: Edit, kind: string, name: string): Row {
    const target = kind === name ? kind : `${kind} ${name}`;
    return {
      key: `object:${target}`,
      level: 3,
      label: short(name),
      title: `${EDIT[edit.options.mine ? "draft" : "copy"]}: ${target}`,
      beside: "edit",
      act: () => this.view.actions.edit({ target }),
    };
  }

  /** Ask what else there is at the step on screen, if somebody looks at it. */
  async #list() {
    const { playback } = this.view;
    if (!this.#shown || !this.#opened.has("others") || playback.index < 0) return;
    try {
      const { kinds } = await playback.socket.call("objects.list", {
        source: playback.source,
        step: String(playback.cycle),
      });
      this.#others = kinds;
      this.#paint();
    } catch {
      /* asked again at the next step; the numbers stay those of the input */
    }
  }

  #lightGroup(members: number[], label: string) {
    const { placement } = this.view.playback.cluster;
    const nodes = members.map((pod) => placement[pod] ?? ABSENT).filter((node) => node >= 0);
    this.view.light(new Set(nodes), label);
  }

  /**
   * How many of some pods have a node, of those that are there at the step on screen; else how many leave. "" if there
   * is none.
   */
  #placed(members: number[]) {
    const { playback } = this.view;
    let [placed, present, leaving] = [0, 0, 0];
    for (const pod of members) {
      const at = playback.cluster.placement[pod] ?? ABSENT;
      if (playback.isTerminating(pod)) leaving += 1;
      else if (at !== ABSENT) {
        present += 1;
        if (at >= 0) placed += 1;
      }
    }
    if (present) return `${count(placed)} / ${count(present)}`;
    return leaving ? `${count(leaving)} Terminating` : "";
  }
}
