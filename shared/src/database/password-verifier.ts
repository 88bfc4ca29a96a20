// The verifier in which PostgreSQL stores passwords: SCRAM-SHA-256 (RFC 5802, RFC 7677).
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** PostgreSQL's own number. */
const iterations = 4096;

/**
 * Returns the verifier that PostgreSQL stores for a password. It is accepted instead of the password, so that neither a
 * statement nor the log of a failed one contains the password. A password that is not printable ASCII is returned
 * unchanged, because PostgreSQL normalizes it (RFC 4013) first.
 */
export function passwordVerifier(password: string): string {
  if (!/^[ -~]+$/.test(password)) return password;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
