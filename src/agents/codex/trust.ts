import { createHash } from "node:crypto";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { isOurCommand } from "../shared/settings/settings.ts";

/** One hook in `hooks.json`. Codex identifies it by its position: event, group, number in the group. */
export interface Handler {
  readonly event: string;
  readonly group: number;
  readonly index: number;
  readonly matcher?: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly isOurs: boolean;
}

/** All hooks of a `hooks.json`, in order; none if it cannot be read. */
export function handlersOf(text: string | undefined): readonly Handler[] {
  const hooks = asObject(asObject(parse(text))?.["hooks"]) ?? {};
  return Object.entries(hooks).flatMap(([event, groups]) =>
    asArray(groups).flatMap((value, group) => {
      const matcher = asString(asObject(value)?.["matcher"]);
      return asArray(asObject(value)?.["hooks"]).map((hook, index): Handler => {
        const entry = asObject(hook) ?? {};
        const isOurs = isOurCommand(asString(entry["command"]) ?? "");
        return { event, group, index, entry, isOurs, ...(matcher !== undefined && { matcher }) };
      });
    }),
  );
}

/** The key of a hook's trust in `config.toml`. */
export const stateKey = (hooksPath: string, { event, group, index }: Handler): string =>
  `${hooksPath}:${eventLabel(event)}:${group}:${index}`;

/**
 * The hash that Codex compares before it runs a hook: SHA-256 of the hook's normal form, as JSON with sorted members. It
 * does not contain the file or the position. Verified against `hooks/list` of 0.131.0, 0.140.0, 0.150.0, 0.160.0 and 0.169.0.
 */
export function trustHash({ event, matcher, entry }: Handler): string {
  const statusMessage = asString(entry["statusMessage"]);
  const identity = {
    event_name: eventLabel(event),
    hooks: [
      {
        async: entry["async"] === true,
        command: entry["command"],
        ...(statusMessage !== undefined && { statusMessage }),
        timeout: timeoutOf(event, entry["timeout"]),
        type: "command",
      },
    ],
    ...(matcher !== undefined && { matcher }),
  };
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}

// --- internal ---

const eventLabel = (event: string): string => event.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();

const DEFAULT_TIMEOUT_S = 600;

function timeoutOf(event: string, value: unknown): number {
  const isShort = event === "SessionEnd" || event === "Interrupt";
  const timeoutS = typeof value === "number" ? value : isShort ? 1 : DEFAULT_TIMEOUT_S;
  return Math.max(1, isShort ? Math.min(timeoutS, 3) : timeoutS);
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
