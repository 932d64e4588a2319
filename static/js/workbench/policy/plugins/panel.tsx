// What kube-scheduler v1.37 runs, as controls: profiles, its plugins as they are declared, their order, feature gates.

import { useState } from "preact/hooks";
import type { PluginForm, PluginRow } from "../../../lib/protocol.js";
import { plural } from "../../../lib/quantity.ts";
import { Part } from "../controls.tsx";
import type { PolicyForm } from "../form.ts";
import { ProfileBar } from "../profile_bar.tsx";
import { GatesPart } from "./gates.tsx";
import { NodesToScore } from "./nodes.tsx";
import { OrderPart } from "./order.tsx";
import { PluginItem } from "./row.tsx";
import { Wrong, type Panel } from "./wrong.tsx";

const GROUPS: [title: string, hint: string, holds: (row: PluginRow) => boolean][] = [
  ["Score plugins", "weight 0 disables a plugin", ({ weight }) => weight > 0],
  ["Filter plugins", "which nodes fit", ({ weight, points }) => !weight && points.includes("filter")],
  ["Other plugins", "queue, preemption, binding", ({ weight, points }) => !weight && !points.includes("filter")],
];

export function Plugins({ form, plugins }: { form: PolicyForm; plugins: PluginForm }) {
  const [chosen, select] = useState(0);
  const [wrong, setWrong] = useState({ control: "", text: "" });
  const { profiles } = plugins;
  const at = Math.min(chosen, profiles.length - 1);
  const profile = profiles[at];
  if (!profile) return null;
  const refuse = (control: string, text: string) => setWrong({ control, text });
  const act: Panel["act"] = async (control, ...change) => {
    refuse("", "");
    const text = await form.make(...change);
    if (text) refuse(control, text);
  };
  const panel: Panel = { form, plugins, profile, at, wrong, act, refuse };
  return (
    <>
      <Part id="profiles" title="Profiles" hint={plural(profiles.length, "profile")}>
        <ProfileBar
          profiles={profiles}
          at={at}
          editable={form.editable}
          change={(...change) => act("profile", ...change)}
          select={select}
        />
        <Wrong panel={panel} control="profile" />
        <NodesToScore panel={panel} />
      </Part>
      {GROUPS.map(([title, hint, holds], i) => (
        <Part key={title} id={`plugins-${i}`} class="plugins" title={title} hint={hint}>
          <ul class="plugin-rows">
            {form.catalogue.v1_37.plugins.filter(holds).map((row) => (
              <PluginItem key={row.name} panel={panel} row={row} />
            ))}
          </ul>
        </Part>
      ))}
      <OrderPart panel={panel} />
      <GatesPart panel={panel} />
    </>
  );
}
