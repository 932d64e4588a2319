// What the Policy tab shows, under its head: what kube-scheduler v1.37 runs, or what a Policy holds or the profiles of
// the scheduling framework.

import { render } from "preact";
import type { Policy, PolicyDocument } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";
import type { PolicyForm } from "./form.ts";
import { DeschedulerPart } from "./descheduler.tsx";
import { Head, type Landing } from "./head.tsx";
import type { PolicyOptions } from "./options.ts";
import { Plugins } from "./plugins/panel.tsx";
import { PredicatesPart } from "./predicates.tsx";
import { PrioritiesPart } from "./priorities.tsx";
import { Profiles } from "./profiles.tsx";
import { SchedulersPart } from "./schedulers.tsx";
import { CachePart, SettingsPart } from "./settings.tsx";

const NONE = { design: "", views: false, listed: [] };

type PartsProps = {
  form: PolicyForm;
  profile: Policy;
  answer: PolicyDocument;
  playback: Playback;
  place: Landing;
  options: PolicyOptions;
};

export function drawParts(host: HTMLElement, { form, profile, answer, playback, place, options }: PartsProps) {
  const { schedulers, descheduler, release, timed } = playback;
  const landing = Boolean(place.moment);
  const shown = { form, profile };
  const plugins = answer.form;
  const warnings = plugins ? (answer.profile?.warnings ?? []) : profile.warnings;
  render(
    <>
      <Head warnings={warnings} place={place} options={options} />
      {plugins ? <Plugins form={form} plugins={plugins} /> : null}
      {form.framework && !plugins ? <Profiles form={form} framework={form.framework} /> : null}
      {plugins ? null : <SettingsPart {...shown} />}
      {plugins ? null : <CachePart {...shown} />}
      <SchedulersPart form={form} schedulers={schedulers ?? NONE} landing={landing} alone={plugins ? release : ""} />
      {plugins || timed ? <DeschedulerPart form={form} descheduler={descheduler} landing={landing} /> : null}
      {plugins ? null : <PredicatesPart {...shown} />}
      {plugins ? null : <PrioritiesPart {...shown} />}
    </>,
    host,
  );
}

export const drawFailure = (host: HTMLElement, text: string) => render(<p class="note error">{text}</p>, host);
