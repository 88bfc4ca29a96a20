-- Whether the customer's e-mail address is verified, learnt from the events of accounts. NULL until the next event about
-- the account.
ALTER TABLE customers ADD COLUMN email_verified boolean;
