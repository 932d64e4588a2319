// Share, "Link": to exactly what is on screen, as an address, as Markdown and as a QR code.

import { CopyRow } from "../../kit/copyrow.tsx";
import { qrCode } from "../../kit/qr.tsx";
import { Named, type Shared } from "./common.tsx";

const BRACKETS = /[\\[\]]/g;

export async function link(shared: Shared) {
  const path = await shared.path();
  const address = location.origin + shared.link(path);
  const step = shared.playback.wanted;
  const words = `${shared.title || "A cluster"}${step > 0 ? `, step ${step}` : ""}`;
  return (
    <>
      <p class="dim">
        Anyone who opens this link sees the same cluster at the same step, with the same tab, selection and filters. It
        never changes.
      </p>
      <CopyRow label="Link to this view" text={address} focus />
      <div class="share-split">
        <div class="share-rows">
          <Named name="For a pull request">
            <CopyRow label="Markdown" text={`[${words.replace(BRACKETS, "\\$&")}](${address})`} look="quiet" />
          </Named>
          {path.startsWith("/s/") ? (
            <Named name="For a review">
              <p>
                <a class="btn small" href={`${path}review/`}>
                  Review
                </a>{" "}
                <span class="dim">Comments, verdict and report</span>
              </p>
            </Named>
          ) : null}
          {shared.token() ? <TakeDown token={shared.token()} /> : null}
        </div>
        <div class="share-code">
          {qrCode(address, "QR code of the link to this view") ?? (
            <p class="dim">The address of this view is too long for a QR code.</p>
          )}
        </div>
      </div>
    </>
  );
}

const TakeDown = ({ token }: { token: string }) => (
  <details class="token">
    <summary>Take this link down later</summary>
    <p class="dim">
      With this delete token the link can be taken down through the API. It is shown only now: keep it if you may need
      it.
    </p>
    <CopyRow label="Delete token" text={token} look="quiet" />
  </details>
);
