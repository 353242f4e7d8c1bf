// src/intake/wrapper.sh, and wrappers of other hands
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames("pre post", "cli args cwd phase exit_code call shell", { eventOf: eventIn("phase") });
