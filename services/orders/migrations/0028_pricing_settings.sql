-- What staff configure for the prices of orders: shipping methods, tax rates and discounts.

-- One row, or none before the first setting: `restore` requires tables without rows. Each change of a setting first increases the
-- version in its transaction, so the changes run one after the other.
CREATE TABLE pricing_settings_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version  bigint NOT NULL
);

CREATE TABLE pricing_settings (
  id          uuid PRIMARY KEY,
  kind        text NOT NULL CHECK (kind IN ('shipping-method', 'tax-rate', 'discount')),
  -- The version of all settings since the last change of this one.
  version     bigint NOT NULL,
  -- The members that clients write, with amounts in major units. Not jsonb, so that the members keep their order.
  body        json NOT NULL,
  -- Of a discount with a code: the code in the form in which codes are compared.
  code        text COLLATE "C" CHECK (code IS NULL OR kind = 'discount'),
  archived_at timestamptz(3),
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX pricing_settings_code ON pricing_settings (code) WHERE archived_at IS NULL;

-- Every change. Rows are never changed and never deleted.
CREATE TABLE pricing_settings_history (
  version    bigint PRIMARY KEY,
  setting_id uuid NOT NULL REFERENCES pricing_settings (id),
  -- NULL when the setting was archived.
  body       json,
  -- The account or machine of the access token; NULL for the command line.
  actor_id   uuid,
  request_id text NOT NULL,
  at         timestamptz(3) NOT NULL DEFAULT now()
);

CREATE INDEX pricing_settings_history_setting ON pricing_settings_history (setting_id, version);

-- The number of orders that use a discount with a bound, in all, and of each account when the bound is one for each account.
CREATE TABLE discount_uses (
  discount_id uuid NOT NULL,
  -- 00000000-0000-0000-0000-000000000000 counts the orders of all accounts.
  account_id  uuid NOT NULL,
  used        bigint NOT NULL CHECK (used >= 0),
  PRIMARY KEY (discount_id, account_id)
);
