-- The e-mails of an account, in the order of their ids. E-mails that are added wait while the index is built, and no other statement does.
CREATE INDEX notifications_account_id ON notifications (account_id, id);
