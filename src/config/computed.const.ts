import { checkedSettings } from "./checked.ts";
import { Config } from "./schema.ts";
import type { Setting } from "./setting.ts";

/** Every setting in the order of the schema. */
export const SETTINGS: readonly Setting[] = checkedSettings().map(
  ({ schema: _, entryName: _name, ...setting }) => setting,
);

/** The configuration of a user who set nothing. */
export const DEFAULTS: Config = Config.parse({});
