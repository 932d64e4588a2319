// How the stage of a stop is shown: a page of this server in the frame, or in a file what takes its place.

export const stages = {
  /** Show an address of the frame, whose history is not the page's: Back leads to the stop before. */
  show(frame: HTMLIFrameElement, address: string) {
    frame.contentWindow?.location.replace(address);
  },
};
