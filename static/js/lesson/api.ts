// The calls of lessons, docs/learning.md.

import type { Card } from "./progress.ts";
import { gettext } from "./words.ts";

/** The verdict on an answer, in the engine's words; `why` is its end that is in the language of the lesson. */
export interface Verdict {
  right: boolean;
  sentence: string;
  why: string;
  misconception: string;
  answer: unknown;
  edits: number | null;
  par: number | null;
  receipt?: string;
  card?: Card;
}

async function post<A>(address: string, body: unknown): Promise<A> {
  let response: Response;
  try {
    response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error(gettext("The server cannot be reached. Your answer is kept; try again."));
  }
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer as A;
  throw new Error(
    answer?.errors?.[0]?.message ?? gettext("The server answered {status}.", { status: response.status }),
  );
}

const language = () => `?lang=${document.documentElement.lang}`;

export const answer = (lesson: string, stop: string, body: object) =>
  post<Verdict>(`/api/lessons/${lesson}/${stop}/answer${language()}`, body);

export const hint = (lesson: string, stop: string, number: number, seed: number | null) =>
  post<{ text: string }>(`/api/lessons/${lesson}/${stop}/hint${language()}`, { number, ...(seed ? { seed } : {}) });

/** Store an edited cluster as a shared scenario, so that the stage can show it; resolve with its id. */
export const share = async (bundle: string, title: string) =>
  (await post<{ id: string }>("/api/scenarios", { bundle, title })).id;

export const code = (lesson: string, receipts: string[], name: string) =>
  post<{ code: string; url: string }>(`/api/lessons/${lesson}/code`, { receipts, name });
