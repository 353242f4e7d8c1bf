import type { Variant } from "../shared/opencode/variant.ts";

export const VARIANT: Variant = { source: "kilo", title: "Kilo Code", databaseVariable: "KILO_DB" };
