// Which profile the controls are about: chosen, renamed, added and removed.

import { Button } from "../../kit/button.tsx";
import { Segmented } from "../../kit/segmented.tsx";

type ProfileBarProps = {
  profiles: { name: string }[];
  at: number;
  editable: boolean;
  change: (what: string, key: string, value: string, words: string) => Promise<void>;
  /** Shows another profile; one that is added is shown at once. */
  select: (at: number) => void;
};

export function ProfileBar({ profiles, at, editable, change, select }: ProfileBarProps) {
  const name = profiles[at]?.name ?? "";
  const free = () => {
    for (let n = profiles.length + 1; ; n += 1)
      if (!profiles.some((one) => one.name === `scheduler-${n}`)) return `scheduler-${n}`;
  };
  const add = async () => {
    await change("profile", "+", free(), "one more profile");
    select(profiles.length);
  };
  return (
    <div class="profile-bar">
      {profiles.length > 1 ? (
        <Segmented
          label="Profile"
          options={profiles.map((one, i) => [String(i), one.name])}
          value={String(at)}
          onChange={(to) => select(Number(to))}
        />
      ) : null}
      <label class="profile-name">
        <span class="dim">schedulerName</span>
        <input
          class="field mono"
          value={name}
          aria-label="schedulerName of this profile"
          data-control="profile-name"
          maxlength={63}
          spellcheck={false}
          disabled={!editable}
          onChange={({ currentTarget: field }) => {
            const to = field.value.trim();
            if (to && to !== name) change("profile", String(at), to, `profile ${to}`);
            else field.value = name;
          }}
        />
      </label>
      {editable ? (
        <Button look="small" icon="plus" data-control="profile-add" act={add}>
          Profile
        </Button>
      ) : null}
      {editable && profiles.length > 1 ? (
        <Button
          look="quiet small"
          data-control="profile-drop"
          act={() => change("profile", String(at), "", `without profile ${name}`)}
        >
          Remove
        </Button>
      ) : null}
    </div>
  );
}
