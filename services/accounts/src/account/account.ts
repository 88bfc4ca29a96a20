// An account: its row, its representation in responses, and its data in events.
import type { EventPayloads } from '@shop/shared/events';
import { type OperationRequest, type Result, requireMatch, toEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type ModelStatic,
  Op,
  type Sequelize,
  type WhereOptions,
} from 'sequelize';
import type { components } from '../generated.ts';
import {
  type EventAttribute,
  eventColumns,
  type ProfileRow,
  profileAttributes,
  toEventMembers,
  toProfile,
  toProfileRow,
} from './account-columns.ts';

type AccountView = components['schemas']['Account'];

/** The members that the customer or staff writes, without the password. */
export type Profile = Omit<AccountView, 'id' | 'email_verified' | 'pending_email' | 'erase_at'>;

/** The row of an account. The attributes of the profile follow from its table. */
export interface Account extends Model<InferAttributes<Account>, InferCreationAttributes<Account>>, ProfileRow {
  id: string;
  /** The address as the client wrote it. Releases until 1.1 stored surrounding blanks, too. */
  email: string;
  emailKey: string;
  /** The normalized address, which is compared. Null in rows that processes of the previous release have written. */
  mailboxKey: CreationOptional<string | null>;
  emailVerified: boolean;
  /** The new address of a change that is not verified yet. */
  pendingEmail: CreationOptional<string | null>;
  /** The time at which the account is erased. Log-ins are rejected from then on. */
  eraseAt: CreationOptional<Date | null>;
  passwordHash: string;
  scopes: CreationOptional<string[]>;
  /** Counts the changes of password and e-mail address. */
  credentialsVersion: CreationOptional<number>;
  credentialsChangedAt: CreationOptional<Date | null>;
  /** The time since which log-ins are rejected; null unless the account is blocked. */
  blockedAt: CreationOptional<Date | null>;
  /** Changes with every PATCH that changes something; the entity tag. */
  version: number;
  createdAt: CreationOptional<Date>;
  updatedAt: CreationOptional<Date>;
}

/** Sequelize adds the attributes when the model is defined. */
export const Account = class Account extends Model {} as ModelStatic<Account>;

export function defineAccount(sequelize: Sequelize): void {
  Account.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true },
      email: { type: DataTypes.TEXT, allowNull: false },
      emailKey: { type: DataTypes.TEXT, allowNull: false },
      mailboxKey: DataTypes.TEXT,
      emailVerified: { type: DataTypes.BOOLEAN, allowNull: false },
      pendingEmail: DataTypes.TEXT,
      eraseAt: DataTypes.DATE(3),
      ...profileAttributes,
      passwordHash: { type: DataTypes.TEXT, allowNull: false },
      scopes: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false, defaultValue: [] },
      credentialsVersion: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      credentialsChangedAt: DataTypes.DATE(3),
      blockedAt: DataTypes.DATE(3),
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3),
    },
    { sequelize, tableName: 'accounts', underscored: true },
  );
}

/** Returns a condition for queries: the erasure of the account is not due yet. */
export function notErased(): WhereOptions<Account> {
  return { eraseAt: { [Op.or]: [null, { [Op.gt]: new Date() }] } };
}

export function profileColumns(profile: Profile) {
  return { email: profile.email, ...toProfileRow(profile) };
}

/** Returns the members that the customer sees, and that the customer or staff writes. */
export function toAccountProfile(account: Account): Profile {
  return { email: account.email.trim(), ...toProfile(account) };
}

export function toLocale({ locale }: Pick<Account, 'locale'>): { locale?: string } {
  return locale === null ? {} : { locale };
}

/** Returns the account as responses show it, without password, scopes and times. */
export function toAccount(account: Account): AccountView {
  const pending = account.pendingEmail === null ? {} : { pending_email: account.pendingEmail.trim() };
  const erasure = account.eraseAt === null ? {} : { erase_at: account.eraseAt.toISOString() };
  return {
    id: account.id,
    ...toAccountProfile(account),
    email_verified: account.emailVerified,
    ...pending,
    ...erasure,
  };
}

/**
 * Returns the entity tag of an account: its version, followed by its id as 39 digits. `/v1/accounts/me` is another
 * resource for each caller, so two accounts of the same version must not have the same tag.
 */
function tagOf({ id, version }: Account): string {
  const digits = BigInt(`0x${id.replaceAll('-', '')}`)
    .toString()
    .padStart(39, '0');
  return toEtag(`${version}${digits}`);
}

/**
 * Compares `If-Match` with the tag of the account, and with its version alone, which releases until 1.1 sent as the
 * tag.
 * @throws Problem 412 for another version
 */
export function requireAccountMatch({ headers }: Pick<OperationRequest, 'headers'>, account: Account): void {
  requireMatch(headers, tagOf(account), toEtag(account.version));
}

/** Returns the response with an account. No cache may store it. */
export function accountResult(
  status: number,
  account: Account,
  headers: Readonly<Record<string, string>> = {},
): Result<AccountView> {
  return {
    status,
    headers: { 'Cache-Control': 'no-store', ...headers },
    etag: tagOf(account),
    body: toAccount(account),
  };
}

export type AccountDetails = Pick<Account, 'id' | 'email' | 'emailVerified' | EventAttribute>;

/** The SELECT list of `AccountDetails`. */
export const detailColumns = `id, email, email_verified AS "emailVerified", ${eventColumns}`;

/** Returns the data for other services. They send e-mails to this address, so surrounding blanks are removed. */
export function toDetails(account: AccountDetails): EventPayloads['account.registered.v1'] {
  const { id: accountId, email, emailVerified } = account;
  return { accountId, email: email.trim(), emailVerified, ...toEventMembers(account) };
}

/** @param pointer the member of the body that contains or stands for the address */
export function emailTaken(cause?: unknown, pointer = '/email'): Problem {
  return new Problem('email-already-registered', 'An account with this e-mail address exists. Log in instead.', {
    errors: [{ pointer, detail: 'is already registered' }],
    ...(cause === undefined ? {} : { cause }),
  });
}
