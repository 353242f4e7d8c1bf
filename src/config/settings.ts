import { SETTINGS } from "./computed.const.ts";
import type { Setting } from "./setting.ts";

export { invalidNameReason, invalidReason, isNumeric } from "./check.ts";
export { SETTINGS };

/** Dotted names of the objects that group settings: `otlp`, `otlp.traces` … */
export const SECTIONS: readonly string[] = [
  ...new Set(SETTINGS.flatMap(({ path }) => path.slice(0, -1).map((_, i) => path.slice(0, i + 1).join(".")))),
];

/** What a value can be given for: a setting, or one entry of a map. */
export interface Target {
  readonly setting: Setting;
  /** Set for one entry of a map. */
  readonly entry?: string;
}

/**
 * @param key dotted; after a map's key comes the entry's name, dots included (`resource.attributes.deployment.environment.name`)
 * @returns `undefined` if there is no such setting
 */
export function targetOf(key: string): Target | undefined {
  for (const setting of SETTINGS) {
    if (setting.key === key) return { setting };
    if (setting.kind === "map" && key.startsWith(`${setting.key}.`)) {
      return { setting, entry: key.slice(setting.key.length + 1) };
    }
  }
  return undefined;
}
