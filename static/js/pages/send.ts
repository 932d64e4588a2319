// Sending a form without leaving the page, so that a refusal loses nothing.

import type { Problem, Report } from "../lib/protocol.js";

const ASK_EVERY = 400;

/**
 * Send `form`; resolves with `{url}` where the server redirected to, or `{errors}` that it found. `progress` receives
 * `{stage, done, of}` while it is uploaded and read; `signal`, an AbortSignal, stops both. Rejects with an Error in
 * words, with null if it was stopped.
 */
export function send(
  form: HTMLFormElement,
  { progress = () => {}, signal = null }: { progress?: (report: Report) => void; signal?: AbortSignal | null } = {},
): Promise<{ url?: string; errors?: Problem[] }> {
  return new Promise((resolve, reject) => {
    const ticket = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const data = new FormData(form);
    data.set("ticket", ticket);
    const request = new XMLHttpRequest();
    let over = false;
    const end = <T>(settle: (value: T) => void, value: T) => {
      over = true;
      settle(value);
    };
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress({ stage: "sending", done: event.loaded, of: event.total });
    });
    request.upload.addEventListener("load", () => {
      ask(ticket, progress, () => over);
    });
    request.addEventListener("error", () =>
      end(reject, new Error("No response from the server. Nothing is lost: try again.")),
    );
    request.addEventListener("load", () => {
      const page = request.response;
      const errors = page?.querySelector("#import-errors");
      if (errors) end(resolve, { errors: JSON.parse(errors.textContent) });
      else if (request.status < 300 && request.responseURL !== form.action) end(resolve, { url: request.responseURL });
      else
        end(
          reject,
          new Error(
            page?.querySelector("[data-advice]")?.textContent
              || `The server answered ${request.status}. Nothing is lost: try again.`,
          ),
        );
    });
    signal?.addEventListener(
      "abort",
      () => {
        if (over) return;
        end(reject, null);
        request.abort();
        fetch(`/import/${ticket}/`, {
          method: "DELETE",
          headers: { "X-CSRFToken": String(data.get("csrfmiddlewaretoken")) },
          keepalive: true,
        }).catch(() => {
          /* then it reads to the end, for nobody */
        });
      },
      { once: true },
    );
    request.send(data);
  });
}

/** Ask how far the server has read, until it is over. */
async function ask(ticket: string, progress: (report: Report) => void, over: () => boolean) {
  while (!over()) {
    await new Promise((resolve) => {
      setTimeout(resolve, ASK_EVERY);
    });
    if (over()) return;
    try {
      const report = await (await fetch(`/import/${ticket}/`, { headers: { Accept: "application/json" } })).json();
      if (!over() && report.stage) progress(report);
    } catch {
      return; /* the answer itself still comes */
    }
  }
}
