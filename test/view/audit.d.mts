/** Findings, one line each. */
export function auditNames(): string[];
export function auditContrast(): { looked: number; found: string[] };
