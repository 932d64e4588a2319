// Sending a form without leaving the page, so that a refusal loses nothing.

/**
 * Send `form`; resolves with `{url}` where the server led on to, or `{errors}` that it found.
 * `progress` hears the share that is uploaded, 0 to 1. Rejects with an Error in words.
 */
export function send(form, progress = () => {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) progress(event.loaded / event.total); });
    request.addEventListener("error", () => reject(new Error("The server did not answer. Nothing is lost: try again.")));
    request.addEventListener("load", () => {
      const page = request.response;
      const errors = page?.querySelector("#import-errors");
      if (errors) resolve({ errors: JSON.parse(errors.textContent) });
      else if (request.status < 300 && request.responseURL !== form.action) resolve({ url: request.responseURL });
      else reject(new Error(page?.querySelector("[data-advice]")?.textContent || `The server answered ${request.status}. Nothing is lost: try again.`));
    });
    request.send(new FormData(form));
  });
}

/** Problems of files have no line in the box: say their place in words. */
export function placed(problems) {
  return problems.map((problem) => {
    if (!problem.file) return problem;
    const where = [problem.file, problem.line && `line ${problem.line}`].filter(Boolean).join(", ");
    return { ...problem, line: null, message: `${where}: ${problem.message}` };
  });
}
