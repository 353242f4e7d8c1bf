import type { Totals } from "#core/telemetry/totals.ts";
import type { Database } from "#store/database.ts";
import { segmentsOf } from "#store/segments.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { type Habits, habitsOf } from "./explain-habits.ts";
import { type MoneySpent, moneySpent, placedCalls } from "./explain-money.ts";
import { type TimeSpent, timeSpent } from "./explain-time.ts";
import { type SessionResults, sessionResults } from "./session-results.ts";
import { turnsOfCalls } from "./session-spans.ts";
import type { SessionView } from "./session-view.ts";

/** Where the time and money of one session went. */
export interface Explanation {
  readonly view: SessionView;
  /** Absent without any activity. */
  readonly time: TimeSpent | undefined;
  readonly money: MoneySpent;
  readonly habits: Habits;
  readonly results: SessionResults;
}

/** Explains one session. Only reads the store. */
export function explain(db: Database, view: SessionView, { agents }: Pick<SessionSource, "agents">): Explanation {
  const calls = placedCalls(view, turnsOfCalls(db, view));
  // A packed session has only an unsettled part
  const segments = view.isPacked ? [] : segmentsOf(db, view.stored.id);
  const settled = segments.reduce((sum, { totals }) => sum + (JSON.parse(totals) as Totals).compactions, 0);
  const compactions = settled + unsettledSession({ db, agents }, view.stored).compactions.length;
  return {
    view,
    time: timeSpent(view),
    money: moneySpent(view, calls),
    habits: habitsOf(db, view, calls, compactions),
    results: sessionResults(db, view),
  };
}
