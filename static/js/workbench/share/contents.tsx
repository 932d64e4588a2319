// What a link to a draft would tell, asked before there is one, with what can be left out of it.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import type { Contents as Found } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { useAnswer } from "../view/asking.tsx";
import type { Playback } from "../playback/playback.ts";
import { Refused } from "./common.tsx";

/** What can be left out, by the server's word: how much there is of it, and what that is called. */
const PARTS: [part: string, count: (found: Found) => number, words: (found: Found) => string][] = [
  [
    "env",
    ({ env, commands }) => env + commands,
    ({ env, commands }) =>
      [env && plural(env, "env value"), commands && plural(commands, "command line")].filter(Boolean).join(" and "),
  ],
  [
    "annotations",
    ({ annotations }) => annotations,
    ({ annotations }) => `${plural(annotations, "annotation")} that scheduling does not read`,
  ],
  [
    "data",
    ({ data }) => data,
    ({ data }) => `the data of ${plural(data, "ConfigMap or Secret", "ConfigMaps and Secrets")}`,
  ],
  [
    "names",
    ({ names, images }) => names + images,
    ({ names, images }) => `${plural(names, "name")} and ${plural(images, "image")}: numbers stand for them`,
  ],
];
const NAMES = "names";

type ContentsProps = {
  playback: Playback;
  /** Whether names may be left out: not of what keeps decisions by name. */
  named: boolean;
  without: string[];
  choose: (without: string[]) => void;
  /** What makes the link; none where the panel has a button of its own. */
  make?: (() => void) | undefined;
};

/** The parts that are there; those that scheduling does not read are left out unless somebody wants them. */
export function Contents({ playback, named, without, choose, make }: ContentsProps) {
  const { draft = "" } = playback.source;
  const [chosen, touch] = useState(false);
  const answer = useAnswer(draft, async () => {
    const found = await playback.socket.call("draft.contents", { draft });
    if (!chosen) choose(PARTS.filter(([part, count]) => part !== NAMES && count(found)).map(([part]) => part));
    return found;
  });
  if (answer?.error) return <Refused what="The contents of the link could not be determined" why={answer.error} />;
  if (!answer?.value)
    return (
      <p class="dim" role="status">
        Reading what it would contain …
      </p>
    );
  const found = answer.value;
  const there = PARTS.filter(([part, count]) => count(found) && (named || part !== NAMES));
  const set = (part: string, out: boolean) => {
    touch(true);
    choose(out ? [...without, part] : without.filter((one) => one !== part));
  };
  return (
    <fieldset class="share-contents">
      <legend>This contains</legend>
      <ul>
        {there.map(([part, , words]) => (
          <li key={part}>
            <label class="share-check">
              <input
                type="checkbox"
                checked={without.includes(part)}
                onChange={(event) => set(part, event.currentTarget.checked)}
              />
              <span>
                Leave out <b>{words(found)}</b>
              </span>
            </label>
          </li>
        ))}
        {found.secrets ? <li class="dim">Secrets are never shared.</li> : null}
      </ul>
      <p class="dim">
        {there.length ? "Nothing that is left out changes a decision. " : "Nothing that scheduling does not read. "}
        Nothing is stored for others before the link is made.
      </p>
      {make ? (
        <Button look="primary" icon="share" act={make}>
          Create the link
        </Button>
      ) : null}
    </fieldset>
  );
}
