import { readerOf } from "../shared/opencode/transcript.ts";
import { VARIANT } from "./variant.ts";

export default readerOf(VARIANT);
