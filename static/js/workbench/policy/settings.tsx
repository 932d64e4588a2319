// The settings of the simulation in the Policy tab, and among them those of the equivalence cache.

import type { Policy } from "../../lib/protocol.js";
import { CACHE_SETTINGS, type CacheSetting } from "./cache_settings.ts";
import { Choice, NumberField, Part, Setting, Switch } from "./controls.tsx";
import type { PolicyForm } from "./form.ts";

const SETTINGS: [key: "predicateOrder" | "quirks", label: string, choices: [value: string, text: string][]][] = [
  [
    "predicateOrder",
    "Static order of predicates",
    [
      ["v1.11", "v1.11 (21)"],
      ["proposal", "proposal (16)"],
    ],
  ],
  [
    "quirks",
    "Quirks of v1.11",
    [
      ["v1.11", "as in v1.11"],
      ["fixed", "fixed"],
    ],
  ],
];
const REFERENCE = "/reference/cache/";
const HARD = "hardPodAffinitySymmetricWeight";

type Shown = { form: PolicyForm; profile: Policy };

export const SettingsPart = ({ form, profile }: Shown) => (
  <section class="policy-part" aria-label="Settings">
    {SETTINGS.map(([key, label, choices]) => (
      <Setting key={key} name={label}>
        <Choice
          control={key}
          options={choices}
          value={profile[key]}
          off={!form.settable}
          act={(value, text) => form.change("setting", key, value, `${label}: ${text}`)}
        />
      </Setting>
    ))}
    <Setting name="Check all predicates on every node">
      <Switch
        control="alwaysCheckAllPredicates"
        on={profile.alwaysCheckAllPredicates}
        off={!form.editable}
        act={(on) =>
          form.change("flag", "alwaysCheckAllPredicates", String(on), `check all predicates: ${on ? "on" : "off"}`)
        }
      />
    </Setting>
    <Setting
      name="Weight of required affinity"
      title={`${HARD}: the weight of a required affinity term of another pod`}
    >
      <NumberField
        form={form}
        control="hard"
        value={profile[HARD]}
        min={1}
        max={100}
        act={(value) => form.change("number", HARD, value, `${HARD} ${value}`)}
      />
    </Setting>
  </section>
);

/** The equivalence cache: each setting with what its choice does, or why it does nothing. */
export function CachePart({ form, profile }: Shown) {
  const about = (
    <a class="fine" href={REFERENCE}>
      what it is
    </a>
  );
  return (
    <Part id="cache" title="Equivalence cache" hint={about} target>
      {CACHE_SETTINGS.map((setting) => (
        <OfCache key={setting.key} form={form} profile={profile} setting={setting} />
      ))}
    </Part>
  );
}

function OfCache({ form, profile, setting }: Shown & { setting: CacheSetting }) {
  const { key, label, choices, idle } = setting;
  const value = String(profile[key]);
  const without = idle(profile);
  const about = `policy-${key}-does`;
  const textOf = (of: string) => choices.find(([name]) => name === of)?.[1] ?? "";
  const act = (to: string) => form.change("setting", key, to, `${label}: ${textOf(to)}`);
  const shared = { control: key, off: !form.settable || without !== "", "aria-describedby": about };
  return (
    <>
      <Setting name={label}>
        {choices[0]?.[0] === "true" ? (
          <Switch {...shared} on={value === "true"} act={(on) => act(String(on))} />
        ) : (
          <Choice {...shared} options={choices} value={value} act={act} />
        )}
      </Setting>
      <p class="policy-does dim" id={about}>
        {without || choices.find(([name]) => name === value)?.[2]}
      </p>
    </>
  );
}
