-- Of an e-mail's attempts those that ended without word from the mail server, although it had the whole message: it may have arrived.
ALTER TABLE notifications ADD COLUMN unsure integer NOT NULL DEFAULT 0;
