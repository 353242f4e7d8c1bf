import type { SessionName } from "./data/document.ts";

/** Invalid query parameters; the message names them. */
export class BadRequest extends Error {
  readonly code = "E_USAGE";
}

/** Typed access to query parameters. All but `flag` throw BadRequest for an invalid value. */
export interface QueryParams {
  /** The parameters that are present and not empty. */
  texts<K extends string>(...names: readonly K[]): { readonly [P in K]?: string };
  times<K extends string>(...names: readonly K[]): { readonly [P in K]?: number };
  /** True only for `1`. */
  flag(name: string): boolean;
  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T;
  /** Values separated by commas; none if it is absent. */
  listOf<T extends string>(name: string, allowed: readonly T[]): readonly T[];
  /** Clamped to the range. */
  number(name: string, fallback: number, min: number, max: number): number;
  session(): SessionName;
  spanId(): string;
}

export function queryParams(query: Readonly<Record<string, string>>): QueryParams {
  const text = (name: string): string | undefined => {
    const value = query[name];
    if (value === undefined || value === "") return undefined;
    if (value.length > MAX_LENGTH) throw new BadRequest(`${name} is longer than ${MAX_LENGTH} characters`);
    return value;
  };
  const required = (name: string): string => {
    const value = text(name);
    if (value === undefined) throw new BadRequest(`${name} is missing`);
    return value;
  };
  const number = (name: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const parsed = Number(value);
    if (!Number.isSafeInteger(parsed)) throw new BadRequest(`${name} is not a whole number`);
    return parsed;
  };
  const present = <K extends string, T>(names: readonly K[], read: (name: K) => T | undefined) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = read(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as { readonly [P in K]?: T };
  const member = <T extends string>(name: string, value: string, allowed: readonly T[]): T => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new BadRequest(`${name} is not one of ${allowed.join(", ")}`);
    return found;
  };
  return {
    texts: (...names) => present(names, text),
    times: (...names) => present(names, number),
    flag: (name) => query[name] === "1",
    oneOf(name, allowed, fallback) {
      const value = text(name);
      return value === undefined ? fallback : member(name, value, allowed);
    },
    listOf: (name, allowed) => [...new Set((text(name)?.split(",") ?? []).map((one) => member(name, one, allowed)))],
    number: (name, fallback, min, max) => Math.min(max, Math.max(min, number(name) ?? fallback)),
    session: () => ({ source: required("source"), sessionId: required("id") }),
    spanId() {
      const id = required("span");
      if (!/^[0-9a-f]{16}$/.test(id)) throw new BadRequest("span is not an id of 16 hexadecimal digits");
      return id;
    },
  };
}

// --- internal ---

/** Agents use shorter ids and names. */
const MAX_LENGTH = 4096;
