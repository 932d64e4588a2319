// The priorities of the Policy tab, with their weights.

import type { Policy } from "../../lib/protocol.js";
import { Adder, ByWord, Choice, Folded, Part, REFERENCE } from "./controls.tsx";
import type { PolicyForm } from "./form.ts";
import { Argued } from "./predicates.tsx";
import { Weight } from "./weight.tsx";

const PROVIDER = ["", "Use a provider’s…"] as const;

export function PrioritiesPart({ form, profile }: { form: PolicyForm; profile: Policy }) {
  const { catalogue } = form;
  const rows = new Map(catalogue.priorities.map((row) => [row.name, row]));
  const used = new Set(profile.priorities.map(([name]) => name));
  const off = catalogue.priorities.filter(({ name }) => !used.has(name));
  const row = (name: string, weight: number) => (
    <li key={name} class={weight ? "" : "off"}>
      <div class="what">
        <a class="name" href={`${REFERENCE}#${name}`} title={rows.get(name)?.text ?? ""}>
          <ByWord name={name} />
        </a>
        <small class="dim">{rows.get(name)?.kind}</small>
        <Argued form={form} profile={profile} given={{ list: "priorities", name, weight }} />
      </div>
      <Weight
        control={`weight:${name}`}
        name={name}
        weight={weight}
        editable={form.editable}
        wrong={(text) => form.say(text, true)}
        act={(to) => form.change("priority", name, to, `${name} ${to === "0" ? "off" : `weight ${to}`}`)}
      />
    </li>
  );
  return (
    <Part
      id="priorities"
      title="Priorities"
      hint={used.size ? "by weight; 0 disables a priority" : "none: every node counts 1"}
    >
      {form.framework ? null : (
        <div class="policy-setting">
          <span class="dim">Predicates and priorities of</span>
          <Choice
            control="provider"
            aria-label="Use a provider’s"
            options={[PROVIDER, ...catalogue.providers.map((name) => [name, name] as const)]}
            value=""
            off={!form.editable}
            act={(name) => name && form.change("provider", "", name, `the ${name}`)}
          />
        </div>
      )}
      <ul class="policy-rows weights">{profile.priorities.map(([name, weight]) => row(name, weight))}</ul>
      <Adder form={form} list="priorities" />
      <Folded open={form.open} name="unused:priorities" summary={`Not in use: ${off.length}`}>
        <ul class="policy-rows weights">{off.map(({ name }) => row(name, 0))}</ul>
      </Folded>
    </Part>
  );
}
