// https://moonshotai.github.io/kimi-code/en/customization/hooks and the program 2.1.0, read 2026-11-26

import { join, resolve } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { addHooks, readableHooks, removeHooks, type WantedTomlHook } from "../shared/settings/toml-hooks.ts";
import { adapter } from "./adapter.ts";

export default oneFile({
  // It reads no settings of a project
  scopes: ["user"],
  path: (_, target) => join(folderOf(target), "config.toml"),
  add: (text, { command }) => addHooks(text ?? "", hooksFor(command)),
  remove: removeHooks,
  registered,
  check,
  detect: detectBy("kimi", (target) => [join(folderOf(target), "config.toml")]),
});

// --- internal ---

function folderOf({ home, project, env }: InstallTarget): string {
  const moved = env["KIMI_CODE_HOME"];
  return moved === undefined || moved === "" ? join(home, ".kimi-code") : resolve(project, moved);
}

/**
 * One unknown name switches all hooks off, so only names of the documentation are used.
 *
 * Not registered: TurnStarted, TaskStarted, UserPromptQueued and SessionHeartbeat, which are in no documentation; SubagentStart,
 * PostCompact, Notification and the permission events, which have no more facts than the session's files.
 *
 * What a hook prints on a prompt reaches the model, so ours have no reply.
 */
const hooksFor = (command: HookCommand): readonly WantedTomlHook[] =>
  adapter.hooks.map(({ event, drain }) => ({
    event,
    command: command({ source: adapter.source, drain }),
    timeout: TIMEOUT_S,
  }));

// The hook takes 3 ms. The default of 30 s is too long if a hook hangs
const TIMEOUT_S = 5;

function registered(text: string): readonly string[] {
  return readableHooks(text).flatMap(({ texts: { event }, isOurs }) => (isOurs && event !== undefined ? [event] : []));
}

const KEYS: ReadonlySet<string> = new Set(["event", "matcher", "command", "timeout"]);

/** One hook with another key, or an event that the program does not know, switches all hooks off. */
async function check(files: readonly SettingsText[]): Promise<readonly Finding[]> {
  return files.flatMap(({ path, text }): Finding[] => {
    const hooks = readableHooks(text);
    const key = hooks.flatMap(({ keys }) => keys).find((one) => !KEYS.has(one));
    const event = hooks
      .map(({ texts }) => texts["event"])
      .find((one) => one !== undefined && !adapter.known.events.includes(one));
    return [
      ...(key === undefined
        ? []
        : [
            {
              level: "broken" as const,
              text: `Kimi Code ignores all hooks in ${path}: one has the unknown key ${JSON.stringify(key)}`,
            },
          ]),
      ...(event === undefined
        ? []
        : [
            {
              level: "remark" as const,
              text: `Kimi Code 2.1.0 ignores all hooks in ${path} because of the event ${JSON.stringify(event)}`,
            },
          ]),
    ];
  });
}
