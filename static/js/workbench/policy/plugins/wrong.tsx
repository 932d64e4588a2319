// What the parts of the plugins' panel share, and what was wrong with the last change, at its control.

import type { PluginForm, ProfileForm } from "../../../lib/protocol.js";
import type { PolicyForm } from "../form.ts";

/** What the parts draw from and act by. */
export type Panel = {
  form: PolicyForm;
  plugins: PluginForm;
  profile: ProfileForm;
  at: number;
  /** What was wrong with the last change, and the control that it is of. */
  wrong: { control: string; text: string };
  /** Makes a change of the control named first, and shows what is wrong with it there. */
  act: (control: string, what: string, key: string, value: string, words: string) => Promise<void>;
  refuse: (control: string, text: string) => void;
};

export const Wrong = ({ panel: { wrong }, control }: { panel: Panel; control: string }) =>
  wrong.control === control ? (
    <p class="stale-text field-error" role="alert">
      {wrong.text}
    </p>
  ) : null;
