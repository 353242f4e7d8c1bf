import { writeOpenSessions, writeTwoWeeks } from "../../demo/made-up/two-weeks.mjs";
import { callHook, drain, runProgram } from "./collected.mjs";

/**
 * The demo's two made-up weeks, imported as in the demo; what became of the commits has been checked.
 *
 * @param {string} home
 * @param {string} dist the built program
 */
export function collectTwoWeeks(home, dist, nowMs = Date.now()) {
  writeTwoWeeks(home, nowMs);
  for (const command of ["import", "outcomes"]) runProgram(home, dist, [command]);
}

/** Two sessions that are open: one in the middle of a tool call, and one that waits for its user. */
export function startSessions(home, dist, nowMs = Date.now()) {
  for (const call of writeOpenSessions(home, nowMs)) callHook(home, dist, "claude-code", call);
  drain(home, dist, []);
}
