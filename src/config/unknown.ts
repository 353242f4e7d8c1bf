import type { LoadedConfig } from "./resolve.ts";

/** Nobody can read what the user set here, and the default does not stand in for it: nothing may be deleted by it. */
export const isUnknown = ({ sources }: Pick<LoadedConfig, "sources">, key: string): boolean =>
  sources.get(key)?.kind === "unknown";
