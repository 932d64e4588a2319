// Common changes of an object: each rewrites its YAML, so that one sees what it does before it is applied.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Select } from "../../kit/select.tsx";
import { announce } from "../../lib/dom.ts";
import type { Editor } from "../../editor/editor.ts";
import { releaseOf } from "../../lib/releases.ts";
import type { View } from "../view/view.ts";

const TIMED = new Set(["fails", "recovers"]); // changes that only controllers know

type Suggest = (view: View, node: number | undefined) => string[];

// What the form of common changes offers: label, name of the first field ("": none), name of the second one, what is
// suggested for the first.
const FORMS: Record<string, [title: string, first: string, second: string, suggest?: Suggest]> = {
  label: ["Set a label", "label", "value", () => ["topology.kubernetes.io/zone", "app", "disk"]],
  unlabel: ["Remove a label", "label", ""],
  taint: [
    "Add a taint",
    "key=value:effect",
    "",
    () => ["dedicated=batch:NoSchedule", "maintenance:NoExecute", "slow:PreferNoSchedule"],
  ],
  untaint: ["Remove a taint", "key=value:effect", "", (view, node = -1) => view.playback.nodes.taints[node] ?? []],
  allocatable: [
    "Set allocatable",
    "resource",
    "quantity",
    (view) => ["cpu", "memory", "pods", ...Object.keys(view.playback.nodes.extended ?? {})],
  ],
  condition: [
    "Set a condition",
    "type",
    "True or False",
    () => ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"],
  ],
  fails: ["Fail this node at", "", "seconds of virtual time"],
  recovers: ["Recover at", "", "seconds of virtual time"],
  replicas: ["Scale", "", "replicas"],
};

type CommonProps = {
  view: View;
  /** The changes that the object knows. */
  revisions: string[];
  editor: Editor;
  node: number | undefined;
  /** Whether the YAML says that it is cordoned. */
  cordoned: boolean;
  onChanged: () => void;
  onRefused: (error: unknown) => void;
};

export function CommonChanges({ view, revisions, editor, node, cordoned, onChanged, onRefused }: CommonProps) {
  const { hasControllers } = releaseOf(view.playback.release);
  const offered = revisions.filter((name) => FORMS[name] && (hasControllers || !TIMED.has(name)));
  const [what, choose] = useState(offered[0] ?? "");
  const [typed, type] = useState({ key: "", value: "" });
  const [, first, second, suggest] = FORMS[what] ?? ["", "", ""];
  const cordons = revisions.includes("cordon");

  const revise = async (change: string, { key, value } = { key: "", value: "" }) => {
    try {
      const before = editor.value.split("\n");
      const asked = { object: editor.value, what: change, key, value };
      const { object } = await view.playback.socket.call("object.revise", asked);
      const at = object.split("\n").findIndex((line, i) => line !== before[i]);
      editor.value = object;
      if (at >= 0) editor.show(at + 1);
      onChanged();
      announce("The YAML is changed. Apply it to put it into the scenario.");
    } catch (error) {
      onRefused(error);
    }
  };
  const field = (name: "key" | "value", label: string, list?: string) => (
    <input
      key={name}
      class="field mono"
      list={list}
      autocomplete="off"
      spellcheck={false}
      placeholder={label}
      aria-label={label}
      value={typed[name]}
      onInput={({ currentTarget: { value } }) => type((before) => ({ ...before, [name]: value }))}
    />
  );
  return (
    <form
      class="edit-common"
      onSubmit={(event) => {
        event.preventDefault();
        void revise(what, typed);
      }}
    >
      {cordons ? (
        <Button data-quick act={() => revise(cordoned ? "uncordon" : "cordon")}>
          {cordoned ? "Uncordon" : "Cordon"}
        </Button>
      ) : null}
      <Select
        aria-label="Common change"
        data-quick={cordons ? undefined : true}
        options={offered.map((name) => [name, FORMS[name]?.[0] ?? ""])}
        value={what}
        onChange={(name) => {
          choose(name);
          type({ key: "", value: "" });
        }}
      />
      {first ? field("key", first, "edit-keys") : null}
      {second ? field("value", second) : null}
      <datalist id="edit-keys">
        {suggest?.(view, node).map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <button class="btn">Put into the YAML</button>
    </form>
  );
}
