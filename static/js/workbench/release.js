// Which kube-scheduler answers, at the top of the workbench: shown of every scenario, and chosen for one's own draft.

import { $, h, fill } from "../lib/dom.js";
import { releaseOf, releases } from "../lib/releases.js";
/** @import { View } from "./view.js" */

export class Release {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.place = $("[data-release]");
    view.playback.on("opened", () => this.update());
  }

  update() {
    const { view } = this;
    const { release } = view.playback;
    if (!this.place || !release) return;
    const mine = view.settings?.mine;
    const hint = releaseOf(release).about;
    fill(
      this.place,
      mine
        ? h(
            "select",
            {
              class: "field release-choice",
              "aria-label": "kube-scheduler",
              title: `${hint}. Another one simulates the draft again`,
              onchange: (event) => this.#choose(event.target),
            },
            releases().map(({ name, about }) =>
              h("option", {
                value: name,
                text: `kube-scheduler ${name}`,
                title: about,
                selected: name === release || undefined,
              }),
            ),
          )
        : h("span", { class: "pill", title: hint, text: `kube-scheduler ${this.#releases().join(", ")}` }),
    );
    this.place.hidden = false;
  }

  /** The release, and those that other schedulers of the list run beside it. */
  #releases() {
    const { release, schedulers } = this.view.playback;
    const beside = (schedulers?.listed ?? []).map(({ runs }) => runs).filter((runs) => /^v\d/.test(runs));
    return [...new Set([release, ...beside])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  }

  /** @param {HTMLSelectElement} select */
  async #choose(select) {
    const { settings, playback } = this.view;
    const chosen = select.value;
    if (settings.dirty()) {
      select.value = playback.release;
      settings.blocked();
      return;
    }
    await settings.change([["setting", "scheduler", chosen]], `kube-scheduler ${chosen} answers`);
    select.value = playback.release;
  }
}
