import { RECORDED_VARIABLES } from "#agents/intake.const.ts";

/** The variables of an environment that the intake records. */
export const recordedEnv = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(RECORDED_VARIABLES.map((name) => [name, env[name]]));
