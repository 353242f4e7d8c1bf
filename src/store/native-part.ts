/**
 * The message for a native part of libsql that is missing or made for another system: npm can be configured to skip optional
 * dependencies, and a copied or mounted folder contains those of its original system.
 *
 * @returns `undefined` for any other error
 */
export function nativePartMissing(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? error.code : undefined;
  const what = code === "MODULE_NOT_FOUND" ? missingIn(error.message) : undefined;
  if (what !== undefined) return `${what} is missing${REMEDY}`;
  // libsql is the only package with a native part
  if (code === "ERR_DLOPEN_FAILED")
    return `the native part of libsql cannot be loaded (${firstLine(error.message)})${REMEDY}`;
  return error.message.startsWith("Neon: unsupported")
    ? `libsql, which keeps the store, has no part for this system (${firstLine(error.message)}); events that hooks record stay in the inbox`
    : undefined;
}

/** Loads the native part. @throws what `nativePartMissing` recognises if it is missing */
export const loadNativePart = (): Promise<unknown> => import("./database.ts");

// --- internal ---

const REMEDY =
  ": install openhook-otel again on this system and for this Node, with optional dependencies (npm's --include=optional); until then events that hooks record stay in the inbox";

const missingIn = (message: string): string | undefined =>
  /^Cannot find module '((?:@libsql\/|@neon-rs\/load|libsql|detect-libc)[\w-]*)'/.exec(message)?.[1];

const firstLine = (text: string): string => text.split("\n")[0] ?? "";
