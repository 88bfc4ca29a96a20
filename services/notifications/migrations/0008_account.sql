-- The e-mails of an account in the order of their ids, page by page. The index takes the place of the one on the account alone.
CREATE INDEX notifications_account_id ON notifications (account_id, id);
DROP INDEX notifications_account;
