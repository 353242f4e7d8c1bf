// https://kilo.ai/docs/automate/extending/plugins; everything else is in ../shared/opencode/adapter.ts
import { adapterOf } from "../shared/opencode/adapter.ts";
import { VARIANT } from "./variant.ts";

export const { recognises, toEvents, toEntries } = adapterOf(VARIANT);
