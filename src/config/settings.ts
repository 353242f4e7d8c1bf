import { SETTINGS } from "./computed.const.ts";

export { invalidNameReason, invalidReason } from "./check.lazy.ts";

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

/** The prefix of our own variables. */
export const PREFIX = "OPENHOOK_OTEL_";

/** What one setting, or one entry of a map, may contain. */
export type SettingValue = string | number | boolean;

/** One setting. A map (headers, attributes) is one setting whose entries are addressed as `<key>.<entry name>`. */
export interface Setting {
  /** Dotted, e.g. `otlp.timeoutMs`. */
  readonly key: string;
  readonly path: readonly string[];
  readonly kind: "text" | "number" | "boolean" | "choice" | "map";
  readonly choices: readonly string[];
  readonly description: string;
  /** `undefined` if a missing value has no replacement; `{}` for maps. */
  readonly default: unknown;
  readonly unit?: string;
  /** Values are never shown. */
  readonly secret: boolean;
  /** Only files of the user and the administrator set it: a variable can come from a repository. */
  readonly filesOnly: boolean;
  /** Our own variable for it, e.g. `OPENHOOK_OTEL_OTLP_TIMEOUT_MS`; ignored if `filesOnly`. */
  readonly variable: string;
  /** In words, for error messages. */
  readonly allowed: string;
}
