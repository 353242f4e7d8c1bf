/** Days without a report after which a machine counts as silent: longer than a long weekend. */
export const SILENT_DAYS = 4;
