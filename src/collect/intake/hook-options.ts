import { parseArgs } from "node:util";

const DRAIN_OPTIONS = ["yes", "if-waiting", "soon", "no"] as const;
export type DrainOption = (typeof DRAIN_OPTIONS)[number];

/** The options on the hook's command line. */
interface HookOptions {
  readonly source?: string;
  readonly event?: string;
  /** Empty: print nothing, even if the agent's card has a reply. */
  readonly reply?: string;
  /** Whether to start a drain afterwards; absent: the event's name decides. */
  readonly drain?: DrainOption;
  readonly payload: PayloadPlace;
}

/** Where the payload is: on stdin, in USER_PROMPT, or on the command line. */
export type PayloadPlace =
  | { readonly in: "stdin" }
  | { readonly in: "variable" }
  | { readonly in: "argument"; readonly text: string };

/** Parses the hook's arguments; unknown ones are ignored. See `runHook`. Never throws. */
export function optionsOf(argv: readonly string[]): HookOptions {
  const inArgument = argv.includes("--payload-argument");
  // cmd.exe passes the rest of the registered line as arguments, see `windowsLine`
  const end = argv.findIndex((word) => word.startsWith(";"));
  const { values, positionals } = parseArgs({
    args: inArgument ? argv.slice(0, -1) : end < 0 ? [...argv] : argv.slice(0, end),
    strict: false,
    allowPositionals: true,
    options: {
      source: { type: "string" },
      event: { type: "string" },
      reply: { type: "string" },
      drain: { type: "string" },
      "payload-env": { type: "boolean" },
      "payload-argument": { type: "boolean" },
      phase: { type: "string" },
      cli: { type: "string" },
      "exit-code": { type: "string" },
    },
  });
  const { drain, phase, cli } = values;
  const option = DRAIN_OPTIONS.find((one) => one === drain);
  const known = option === undefined ? {} : { drain: option };
  if ((phase === "pre" || phase === "post") && typeof cli === "string") {
    const exitCode = phase === "post" && /^\d{1,9}$/.test(String(values["exit-code"])) && Number(values["exit-code"]);
    const call = { cli, args: [], phase, ...(exitCode !== false && { exit_code: exitCode }) };
    const source = String(values.source ?? positionals[0] ?? "");
    return { source, event: phase, ...known, payload: { in: "argument", text: JSON.stringify(call) } };
  }
  const text = (name: "source" | "event" | "reply", position: number) => {
    const value = values[name] ?? positionals[position];
    const isSilence = name === "reply" && values.reply === "";
    return typeof value === "string" && (value !== "" || isSilence) ? { [name]: value } : {};
  };
  const payload: PayloadPlace = inArgument
    ? { in: "argument", text: argv.at(-1) ?? "" }
    : { in: values["payload-env"] === true ? "variable" : "stdin" };
  return { ...text("source", 0), ...text("event", 1), ...text("reply", 2), ...known, payload };
}
