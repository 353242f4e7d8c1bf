/** The problems of this run, and the log. */
interface Reporter {
  readonly report: { readonly problems: string[] };
  readonly log: (line: string) => void;
}

/** Adds a problem to this run's report and to the log. @param line must not contain content of a payload */
export function reportProblem({ report, log }: Reporter, line: string): void {
  report.problems.push(line);
  log(line);
}

/** `reportProblem`, unless this run has already reported the same line. */
export function reportProblemOnce(reporter: Reporter, line: string): void {
  if (!reporter.report.problems.includes(line)) reportProblem(reporter, line);
}
