import { writeOpenSessions, writeTwoWeeks } from "../../demo/made-up/two-weeks.mjs";
import { callHook, drain, runProgram } from "./collected.mjs";

/**
 * The demo's two made-up weeks, with a hook at the end of each session; what became of the commits has been checked.
 *
 * @param {string} home
 * @param {string} dist the built program
 */
export function collectTwoWeeks(home, dist, nowMs = Date.now()) {
  writeTwoWeeks(home, nowMs, ({ hook, endMs }) => {
    callHook(home, dist, "claude-code", {
      event: "SessionEnd",
      stdin_raw: hook,
      received_at: new Date(endMs).toISOString(),
    });
    drain(home, dist);
  });
  runProgram(home, dist, ["outcomes"]);
}

/** Two sessions that are open: one in the middle of a tool call, and one that waits for its user. */
export function startSessions(home, dist, nowMs = Date.now()) {
  for (const call of writeOpenSessions(home, nowMs)) callHook(home, dist, "claude-code", call);
  drain(home, dist, []);
}
