-- How staff can reach customers, learnt from the events of accounts. `sequence` is the version of the account.
CREATE TABLE customers (
  account_id   uuid PRIMARY KEY,
  name         text NOT NULL,
  email        text NOT NULL,
  phone_number text,
  sequence     bigint NOT NULL
);
