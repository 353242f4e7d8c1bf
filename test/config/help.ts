import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Flags, type LoadedConfig, loadConfig } from "#config/load.ts";

/** A directory for settings files; `remove` it afterwards. */
export function makePlace() {
  const directory = mkdtempSync(join(tmpdir(), "openhook-otel-config-"));
  const configPath = join(directory, "config.json");
  return {
    configPath,
    directory,
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }),
    /** Loads with this file (absent: none), environment and flags. */
    load: (file: unknown, env: Record<string, string> = {}, flags: Flags = {}): Promise<LoadedConfig> => {
      rmSync(configPath, { force: true });
      if (file !== undefined)
        writeFileSync(configPath, typeof file === "string" ? file : JSON.stringify(file, null, 2));
      return loadConfig({ env, places: { configPath } }, flags);
    },
  };
}

/** `["a", "b"]`, 1 → `{ a: { b: 1 } }` */
export const nest = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

/** The value at a path of own properties. */
export function at(from: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (section, name) => (typeof section === "object" && section !== null ? Reflect.get(section, name) : undefined),
    from,
  );
}

/** Sets a value at a path and creates missing objects on the way. @returns false if a value on the way is no object */
export function put(into: Record<string, unknown>, path: readonly string[], value: unknown): boolean {
  let section = into;
  for (const name of path.slice(0, -1)) {
    const next = section[name] ?? {};
    if (typeof next !== "object") return false;
    section[name] = next;
    section = next as Record<string, unknown>;
  }
  section[path.at(-1) ?? ""] = value;
  return true;
}
