// The start page.

import { $ } from "../lib/dom.js";
import { mini } from "./mini.js";
import { buildOne } from "./build.js";
import { paste } from "./paste.js";
import { trace } from "./trace.js";

const tables = trace($("[data-trace-form]"));
paste($("[data-paste-form]"), tables);
buildOne($("[data-build-one]"));
const host = $("[data-mini]");
if (host) mini(host).catch(() => host.classList.add("is-still"));
