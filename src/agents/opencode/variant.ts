import type { Variant } from "../shared/opencode/variant.ts";

export const VARIANT: Variant = {
  source: "opencode",
  title: "OpenCode",
  databaseVariable: "OPENCODE_DB",
  isOriginal: true,
};
