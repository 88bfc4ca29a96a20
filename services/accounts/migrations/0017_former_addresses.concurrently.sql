-- Finds the account to which a former address still belongs. Few accounts have such a token.
DROP INDEX CONCURRENTLY IF EXISTS email_tokens_former;
CREATE INDEX CONCURRENTLY email_tokens_former ON email_tokens (email_key) WHERE purpose = 'email-change-undo';
