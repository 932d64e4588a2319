// Edit at this step: an object as YAML as it is there, common changes by one button, and the moment at which the change
// lands.

import { toast } from "../../lib/dom.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import type { EditWish, OperationWish } from "../view/actions.ts";
import type { Edit } from "./edit.ts";
import type { View } from "../view/view.ts";
import { editPanel } from "./panel.tsx";
import { GROUP, templateOf } from "./templates.ts";

export class Editors {
  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    view.actions.edit.on((wish) => this.open(wish));
    view.actions.operation.on((wish) => this.openOperation(wish));
  }

  /** `Node n1` or `Pod default/web-1` of a wish: a node's or a pod's index, or the target itself. */
  #target({ node = -1, pod = -1, target }: EditWish) {
    const { playback } = this.view;
    if (target) return target;
    if (pod >= 0) return `Pod ${playback.pods.keys[pod]}`;
    return node >= 0 ? `Node ${playback.nodes.names[node]}` : "";
  }

  /** Edit what is wished for, or what is selected; `{create: kind}` begins with a template. */
  async open(wish: EditWish) {
    const { view, edit } = this;
    const target = wish.create ? "" : this.#target(wish) || this.#target(view);
    if (!wish.create && !target) {
      toast("Select a node or a pod first, or choose an object in Build.", { name: "help" });
      return;
    }
    if (!edit.options.mine) {
      await edit.options.fork(wish.create ? { create: wish.create } : { target });
      return;
    }
    if (edit.options.dirty()) {
      toast("The YAML has changes that are not applied. Apply or discard them first.", { name: "warn", ms: 6000 });
      edit.options.onText();
      return;
    }
    view.actions.hold();
    if (wish.create?.startsWith("+")) {
      view.actions.add(wish.create.slice(1));
      return;
    }
    if (wish.create === GROUP) {
      view.actions.group();
      return;
    }
    if (wish.create) {
      editPanel(edit, "Create an object", { yaml: templateOf(wish.create) });
      return;
    }
    try {
      const { playback } = view;
      const based = await edit.options.text();
      const { yaml, revisions, step, start, index } = await playback.socket.call("object.get", {
        source: playback.source,
        target,
        step: String(playback.wantedCycle),
      });
      editPanel(edit, `Edit ${target}`, { target, yaml, revisions, step, start: start && index === 0, based });
    } catch (error) {
      if (!superseded(error)) toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  }

  /** Edit what an operation of the history does. */
  async openOperation({ id, words }: OperationWish) {
    const { edit } = this;
    const { playback } = this.view;
    try {
      const based = await edit.options.text();
      const { yaml } = await playback.socket.call("operations.get", { source: playback.source, id });
      editPanel(edit, `Edit the event: ${words}`, { yaml, id, based });
    } catch (error) {
      toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  }
}
