// The settings of the process, from its environment.

export interface Settings {
  readonly stripeSecretKey: string;
  readonly stripeWebhookSecret: string;
  readonly stripeApiBase: URL;
  readonly shopUrl: string;
  readonly shopClientId: string;
  readonly shopClientSecret: string;
  readonly port: number;
  readonly payBackSeconds: number;
  readonly reconcileSeconds: number;
  readonly lookBackDays: number;
}

/** @throws Error that names every fault */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const faults: string[] = [];
  const text = (name: string, fallback?: string): string => {
    const value = environment[name] || fallback;
    if (value === undefined) faults.push(`${name} is missing`);
    return value ?? '';
  };
  const url = (name: string, fallback?: string): URL => {
    const value = text(name, fallback);
    if (/^https?:/.test(value) && URL.canParse(value)) return new URL(value);
    if (value !== '') faults.push(`${name} must be an http or https address, not ${value}`);
    return new URL('http://localhost');
  };
  const whole = (name: string, fallback: number, most: number): number => {
    const value = Number(text(name, String(fallback)));
    if (!Number.isInteger(value) || value < 1 || value > most)
      faults.push(`${name} must be a whole number, 1 to ${most}`);
    return value;
  };
  const settings = {
    stripeSecretKey: text('STRIPE_SECRET_KEY'),
    stripeWebhookSecret: text('STRIPE_WEBHOOK_SECRET'),
    stripeApiBase: url('STRIPE_API_BASE', 'https://api.stripe.com'),
    shopUrl: url('SHOP_URL', 'http://localhost:8080').href,
    shopClientId: text('SHOP_CLIENT_ID'),
    shopClientSecret: text('SHOP_CLIENT_SECRET'),
    port: whole('PORT', 4242, 65_535),
    payBackSeconds: whole('PAY_BACK_SECONDS', 60, 86_400),
    reconcileSeconds: whole('RECONCILE_SECONDS', 3_600, 86_400),
    lookBackDays: whole('LOOK_BACK_DAYS', 14, 365),
  };
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return settings;
}
