import { RECORDED_VARIABLES } from "../../src/agents/intake.const.ts";

/** The variables that the intake would record of an environment. */
export const recordedEnv = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(RECORDED_VARIABLES.map((name) => [name, env[name]]));
