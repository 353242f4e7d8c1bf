import type { SessionName } from "./document.ts";

/** Invalid query parameters; the message says which. */
export class BadRequest extends Error {
  readonly code = "E_USAGE";
}

/** Typed access to query parameters. All of these throw BadRequest. */
export interface QueryParams {
  /** The ones that are present and not empty. */
  texts<K extends string>(...names: readonly K[]): { readonly [P in K]?: string };
  times<K extends string>(...names: readonly K[]): { readonly [P in K]?: number };
  /** True only for `1`. */
  flag(name: string): boolean;
  oneOf<T extends string>(name: string, allowed: readonly T[], otherwise: T): T;
  number(name: string, otherwise: number, least: number, most: number): number;
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
  const needed = (name: string): string => {
    const value = text(name);
    if (value === undefined) throw new BadRequest(`${name} is missing`);
    return value;
  };
  const number = (name: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const read = Number(value);
    if (!Number.isSafeInteger(read)) throw new BadRequest(`${name} is not a whole number`);
    return read;
  };
  const given = <K extends string, T>(names: readonly K[], read: (name: K) => T | undefined) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = read(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as { readonly [P in K]?: T };
  return {
    texts: (...names) => given(names, text),
    times: (...names) => given(names, number),
    flag: (name) => query[name] === "1",
    oneOf(name, allowed, otherwise) {
      const value = text(name);
      if (value === undefined) return otherwise;
      const found = allowed.find((one) => one === value);
      if (found === undefined) throw new BadRequest(`${name} is not one of ${allowed.join(", ")}`);
      return found;
    },
    number: (name, otherwise, least, most) => Math.min(most, Math.max(least, number(name) ?? otherwise)),
    session: () => ({ source: needed("source"), sessionId: needed("id") }),
    spanId() {
      const id = needed("span");
      if (!/^[0-9a-f]{16}$/.test(id)) throw new BadRequest("span is not an id of 16 digits");
      return id;
    },
  };
}

// --- internal ---

/** Longer than any id or name that agents use. */
const MAX_LENGTH = 4096;
