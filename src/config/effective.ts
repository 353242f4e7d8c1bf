import { suggest } from "#kit/suggest.ts";
import { describeSource, keyOf } from "./layer.ts";
import type { LoadedConfig } from "./load.ts";
import { isLocked } from "./locks.ts";
import { HIDDEN, shownValue } from "./redact.ts";
import type { Setting } from "./setting.ts";
import { type Target, targetOf } from "./settings.ts";

/** One setting in effect. */
export interface EffectiveSetting {
  readonly key: string;
  readonly setting: Setting;
  /** With secrets masked; absent if the setting has no value or an unknown one. */
  readonly value?: string | number | boolean;
  /** Where it comes from, in words. */
  readonly source: string;
  /** Whether only the administrator's file decides. */
  readonly isLocked: boolean;
}

/** Every setting; for maps, every entry. */
export function effectiveSettings(loaded: LoadedConfig): readonly EffectiveSetting[] {
  return [...loaded.sources].flatMap(([key, source]) => {
    const target = targetOf(key);
    if (target === undefined) return [];
    const { setting, entry } = target;
    const held = valueAt(loaded.config, setting.path);
    const value = setting.kind === "map" ? valueAt(held, entry === undefined ? [""] : [entry]) : held;
    const locked = isLocked(loaded.locked, key);
    const row = { key, setting, source: `${describeSource(source)}${locked ? " (locked)" : ""}`, isLocked: locked };
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    if (setting.isForward === true && entry !== undefined) return [{ ...row, value: HIDDEN }];
    return [isPlain && source.kind !== "unknown" ? { ...row, value: shownValue(setting, value) } : row];
  });
}

/** The value with its unit; for an unset setting of a signal, the setting that is used instead. */
export function effectiveText({ setting, value }: EffectiveSetting): string {
  if (value !== undefined) return `${value}${setting.unit === undefined ? "" : ` ${setting.unit}`}`;
  const [section, , name] = setting.path;
  if (section !== "otlp" || name === undefined || setting.kind === "map") return "-";
  return name === "endpoint" ? "from otlp.endpoint" : `as otlp.${name}`;
}

/** Notes about a value that was just set but is not in effect. */
export function overrides(target: Target, loaded: LoadedConfig): readonly string[] {
  const key = keyOf(target);
  return [...loaded.sources].flatMap(([name, source]) => {
    if (name !== key && !name.startsWith(`${key}.`)) return [];
    if (source.kind === "withheld") return [`${name} is off: ${loaded.errors[0] ?? `see ${suggest("config")}`}`];
    return source.kind === "environment" ? [`environment variable ${source.variable} overrides ${name} here`] : [];
  });
}

// --- internal ---

function valueAt(from: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return from;
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, name)) return undefined;
  return valueAt(Object.entries(from).find(([key]) => key === name)?.[1], rest);
}
