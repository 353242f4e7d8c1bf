import { Config } from "./schema.ts";
import { settingsOfSchema } from "./schema-settings.ts";
import type { Setting } from "./setting.ts";

/** Every setting, in the schema's order. */
export const SETTINGS: readonly Setting[] = settingsOfSchema();

/** The configuration without any settings. */
export const DEFAULTS: Config = Config.parse({});
