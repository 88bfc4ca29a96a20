-- A token for an e-mail is no change of the account, and clients do not see its event.
CREATE TRIGGER outbox_follow_subject BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.type LIKE 'account.%')
EXECUTE FUNCTION outbox_follow_subject();
