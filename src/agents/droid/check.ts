import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { JsoncError, parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { registeredEvents } from "../shared/settings/settings.ts";

/**
 * Finds settings that switch registered hooks off, which Droid does not report.
 *
 * https://docs.factory.ai/enterprise/hierarchical-settings-and-org-control, read 2026-11-27, and the program 0.225.2. An
 * organisation's settings that Droid downloads are not in a file.
 *
 * @param managed the administrator's file
 */
export async function check(
  files: readonly SettingsText[],
  target: InstallTarget,
  managed: string = managedPath(platform()),
): Promise<readonly Finding[]> {
  const text = (await readSettingsText(managed)) ?? "";
  const ofAdministrator = settingsIn(text);
  const isManaged = registeredEvents(text).length > 0;
  const found: Finding[] = [];
  if (ofAdministrator?.["allowManagedHooksOnly"] === true && !isManaged) {
    const advice = `ask the administrator of ${dirname(managed)} to remove it, or to run enable --managed`;
    found.push(broken(`users' hooks are switched off by "allowManagedHooksOnly" in ${managed}; ${advice}`));
  }
  const paths = [managed, join(target.home, ".factory", "settings.json"), ...files.map(({ path }) => path)];
  for (const path of new Set(paths)) {
    const hooks = asObject(settingsIn((await readSettingsText(path)) ?? "")?.["hooks"]);
    if (hooks?.["hooksDisabled"] === true) {
      found.push(broken(`hooks are switched off: "hooks.hooksDisabled" is true in ${path}; remove it`));
    }
  }
  for (const { path, text } of files) {
    const other = join(dirname(path), "hooks.json");
    const replaced = eventsOf(settingsIn((await readSettingsText(other)) ?? ""));
    const silent = registeredEvents(text ?? "").filter((event) => replaced.has(event));
    if (silent.length > 0) {
      const what = `${other} has hooks of ${silent.join(", ")}, which replace those in ${path}, so ours do not run`;
      found.push(broken(`${what}; move its hooks into ${path}`));
    }
  }
  return found;
}

/** The administrator's settings. The path is fixed in Droid's program: no variable changes it. */
export function managedPath(system: NodeJS.Platform): string {
  if (system === "darwin") return "/Library/Application Support/Factory/settings.json";
  return system === "win32" ? "C:\\Program Files\\Factory\\settings.json" : "/etc/factory/settings.json";
}

// --- internal ---

/** Events with hooks in a `hooks.json`. Seen with 0.225.2: they replace those of the same events in the settings beside it. */
function eventsOf(file: Readonly<Record<string, unknown>> | undefined): ReadonlySet<string> {
  const hooks = asObject(file?.["hooks"]) ?? file ?? {};
  return new Set(Object.keys(hooks).filter((event) => asArray(hooks[event]).length > 0));
}

const broken = (text: string): Finding => ({ level: "broken", text });

function settingsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(plainOf(parseDocument(text.replace(/^\uFEFF/, ""))));
  } catch (error) {
    if (error instanceof JsoncError) return undefined;
    throw error;
  }
}
