// src/collect/intake/wrapper.sh and similar wrappers
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames("pre post", "cli args cwd phase exit_code call shell", { eventOf: eventIn("phase") });
