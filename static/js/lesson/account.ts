// The account's page: a browser that was just signed in hands over its progress, and one that was signed out forgets
// the account's. What an account had that was just deleted here is this browser's.

import { learner } from "./progress.ts";
import { inherit, sync } from "./sync.ts";

const LAST = "podstep.account"; // the account that this tab's page was of
const last = sessionStorage.getItem(LAST);
if (learner) sessionStorage.setItem(LAST, learner.account);
else {
  if (last && document.querySelector("[data-deleted]")) inherit(last);
  sessionStorage.removeItem(LAST);
}
void sync();
