// A form that only carries something to another site is sent at once; without this its button is pressed.

import { $ } from "../lib/dom.ts";

($("[data-sends]") as HTMLFormElement).submit();
