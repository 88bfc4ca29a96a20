// The few thousand most common passwords, from the ranked list of the password meter zxcvbn-ts.

import { Problem } from '@shop/shared/problem';
import { dictionary } from '@zxcvbn-ts/language-common';

const ranks = 10_000;
const minLength = 8;

// About 3,500 passwords, because shorter ones are rejected for their length. The list is in lower case.
const common = new Set(dictionary['passwords-common'].slice(0, ranks).filter((word) => word.length >= minLength));

/** @throws Problem 422 for one of the most common passwords, in upper or lower case */
export function refuseCommonPassword(password: string): void {
  if (!common.has(password.toLowerCase())) return;
  throw new Problem('password-too-common', 'This password is among the most common ones. Choose another.', {
    errors: [{ pointer: '/password', detail: 'is among the most common passwords' }],
  });
}
