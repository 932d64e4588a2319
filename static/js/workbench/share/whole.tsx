// Share, "Self-contained": a link that holds the scenario itself, and a file of it.

import { MOST, pack } from "../../lib/packed.ts";
import { count, plural } from "../../lib/quantity.ts";
import { CopyRow } from "../../kit/copyrow.tsx";
import { Named, type Shared } from "./common.tsx";

const SIGNS = /[^\w.-]+/g;

const fileOf = (title: string) =>
  title
    .replace(SIGNS, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase() || "scenario";

export async function whole(shared: Shared) {
  if (!(await shared.settle())) throw new Error("What is being edited has errors; correct them first.");
  const without = shared.without();
  const url = shared.bundleUrl.startsWith("/p/")
    ? `${shared.bundleUrl}?without=${without.join("+")}`
    : shared.bundleUrl;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const text = await answer.text();
  const { title, playback } = shared;
  const held = { text, title, query: shared.query(), release: playback.release };
  const address = `${location.origin}/${await pack(held)}`;
  const file = `${fileOf(title)}.yaml`;
  return (
    <>
      {address.length <= MOST ? (
        <>
          <p class="dim">
            {"The link contains the whole scenario, so nothing is stored here and nothing expires. It opens as a new "
              + `draft. ${plural(address.length, "character")}.`}
          </p>
          <CopyRow label="Self-contained link" text={address} focus />
        </>
      ) : (
        <p class="dim">
          {`This scenario is too large: its link would have ${count(address.length)} characters, more than the `
            + `${count(MOST)} that chats and mail programs preserve.`}
        </p>
      )}
      <Named name="As a file">
        <p>
          <a class="btn" href={url} download={file}>{`Download ${file}`}</a>
        </p>
      </Named>
    </>
  );
}
