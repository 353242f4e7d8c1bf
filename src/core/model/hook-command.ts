/**
 * Returns the command line that an agent runs. `event`: for payloads that do not name it. `reply`: if stdout must not be
 * empty. `drain`: also start a drain; `if-waiting`: only if files are queued; `soon`: in some seconds, one for all events until then,
 * for agents whose events report no end. `system`: for settings with one line per system; without it, a project's line runs on all.
 * `shell`: the agent documents that it runs hooks in sh on Linux and macOS.
 */
export type HookCommand = (options: {
  readonly source: string;
  readonly event?: string;
  readonly reply?: string;
  readonly drain: "yes" | "if-waiting" | "soon" | "no";
  readonly system?: "posix" | "windows";
  readonly shell?: "sh";
}) => string;
