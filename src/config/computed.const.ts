import { checkedSettings } from "./checked.ts";
import { Config } from "./schema.ts";
import type { Setting } from "./setting.ts";

/** Every setting, in the schema's order. */
export const SETTINGS: readonly Setting[] = checkedSettings().map(
  ({ schema: _, entryName: _name, ...setting }) => setting,
);

/** The configuration without any settings. */
export const DEFAULTS: Config = Config.parse({});
