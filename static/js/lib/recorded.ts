/** Whether this page is a recording: a file with its answers, and no server (recorded/). */
export const isRecording = () => document.body.classList.contains("recorded");
