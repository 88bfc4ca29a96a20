// One result of the doctor.

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** The recommended action; absent when the check passed. */
  readonly remedy?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail };
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'warning', detail, remedy };
}

export function failed(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'failed', detail, remedy };
}
